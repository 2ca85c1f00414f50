package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// User is what the accounts service says of a session.
type User struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Role string `json:"role"`
}

func (u *User) IDText() string { return strconv.FormatInt(u.ID, 10) }

// ErrNoSession means that the cookie's session is unknown or over.
var ErrNoSession = errors.New("identity: no such session")

const (
	rememberFor = 15 * time.Second
	rememberMax = 10000
)

type remembered struct {
	user  *User
	until time.Time
}

// Client asks the accounts service. Answers are remembered for a few seconds, which is
// also how long a session that was ended may still work.
type Client struct {
	base string
	http *http.Client

	mu   sync.Mutex
	seen map[string]remembered
}

func NewClient(base string, timeout time.Duration) *Client {
	return &Client{base: strings.TrimSuffix(base, "/"), http: &http.Client{Timeout: timeout}, seen: map[string]remembered{}}
}

// Lookup returns the user of a session token.
func (c *Client) Lookup(ctx context.Context, token string) (*User, error) {
	if u := c.recall(token); u != nil {
		return u, nil
	}
	req, err := http.NewRequestWithContext(ctx, "GET", c.base+"/users/me", nil)
	if err != nil {
		return nil, err
	}
	req.AddCookie(&http.Cookie{Name: CookieName, Value: token})
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusNotFound:
		return nil, ErrNoSession
	default:
		return nil, fmt.Errorf("accounts: status %d", res.StatusCode)
	}
	u := &User{}
	if err := json.NewDecoder(http.MaxBytesReader(nil, res.Body, 64<<10)).Decode(u); err != nil {
		return nil, fmt.Errorf("accounts: %w", err)
	}
	c.remember(token, u)
	return u, nil
}

func (c *Client) recall(token string) *User {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, found := c.seen[token]
	if !found {
		return nil
	}
	if time.Now().After(r.until) {
		delete(c.seen, token)
		return nil
	}
	return r.user
}

func (c *Client) remember(token string, u *User) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seen) >= rememberMax {
		c.seen = map[string]remembered{}
	}
	c.seen[token] = remembered{u, time.Now().Add(rememberFor)}
}

// Forget drops what is remembered of a token: after signing out.
func (c *Client) Forget(token string) {
	c.mu.Lock()
	delete(c.seen, token)
	c.mu.Unlock()
}
