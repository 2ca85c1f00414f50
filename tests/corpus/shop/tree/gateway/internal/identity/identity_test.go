package identity

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

var good = strings.Repeat("t", 43)

func service(t *testing.T, calls *int) *Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*calls++
		if SessionToken(r) != good {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Write([]byte(`{"id":7,"name":"Ada","role":"customer"}`))
	}))
	t.Cleanup(s.Close)
	return NewClient(s.URL, time.Second)
}

func TestLookupIsRemembered(t *testing.T) {
	calls := 0
	c := service(t, &calls)
	for i := 0; i < 3; i++ {
		u, err := c.Lookup(context.Background(), good)
		if err != nil || u.ID != 7 {
			t.Fatalf("got %v, %v", u, err)
		}
	}
	if calls != 1 {
		t.Errorf("asked %d times", calls)
	}
	c.Forget(good)
	c.Lookup(context.Background(), good)
	if calls != 2 {
		t.Errorf("asked %d times after Forget", calls)
	}
}

func TestUnknownSession(t *testing.T) {
	calls := 0
	_, err := service(t, &calls).Lookup(context.Background(), strings.Repeat("x", 43))
	if !errors.Is(err, ErrNoSession) {
		t.Errorf("got %v", err)
	}
}

func TestCookieShape(t *testing.T) {
	for _, bad := range []string{"", "short", strings.Repeat("x", 65), strings.Repeat("!", 43)} {
		r := httptest.NewRequest("GET", "/", nil)
		r.AddCookie(&http.Cookie{Name: CookieName, Value: bad})
		if got := SessionToken(r); got != "" {
			t.Errorf("%q: got %q", bad, got)
		}
	}
}
