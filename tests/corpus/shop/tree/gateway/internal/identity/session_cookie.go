// Package identity finds out who is asking. Sessions are made and kept by the accounts
// service; the gateway only reads the cookie, asks, and remembers the answer for a moment.
package identity

import (
	"net/http"
	"regexp"
)

// CookieName must be the COOKIE_NAME of accounts/sessions.py.
const CookieName = "fernhill_session"

var tokenShape = regexp.MustCompile(`^[A-Za-z0-9_-]{40,64}$`)

// SessionToken is the token of the request's session cookie, "" when there is none or it
// cannot be one. The check saves the accounts service from looking up garbage.
func SessionToken(r *http.Request) string {
	c, err := r.Cookie(CookieName)
	if err != nil || !tokenShape.MatchString(c.Value) {
		return ""
	}
	return c.Value
}

// ClearCookie tells the browser to forget a session that has ended.
func ClearCookie(w http.ResponseWriter) {
	http.SetCookie(w, &http.Cookie{
		Name:     CookieName,
		Path:     "/",
		MaxAge:   -1,
		HttpOnly: true,
		Secure:   true,
		SameSite: http.SameSiteLaxMode,
	})
}
