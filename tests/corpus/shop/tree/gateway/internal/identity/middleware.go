package identity

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
)

type contextKey struct{}

// FromContext is the user of a request, nil for visitors.
func FromContext(ctx context.Context) *User {
	u, _ := ctx.Value(contextKey{}).(*User)
	return u
}

// WithUser is for tests of what lies behind the middleware.
func WithUser(ctx context.Context, u *User) context.Context {
	return context.WithValue(ctx, contextKey{}, u)
}

// Middleware looks the session up. When the accounts service does not answer, people can
// still look at plants: the request goes on as a visitor's.
func Middleware(c *Client, log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			token := SessionToken(r)
			if token == "" {
				next.ServeHTTP(w, r)
				return
			}
			u, err := c.Lookup(r.Context(), token)
			switch {
			case errors.Is(err, ErrNoSession):
				ClearCookie(w)
			case err != nil:
				log.Warn("identity", "error", err)
			default:
				r = r.WithContext(WithUser(r.Context(), u))
			}
			next.ServeHTTP(w, r)
			if r.URL.Path == "/auth/logout" {
				c.Forget(token)
			}
		})
	}
}
