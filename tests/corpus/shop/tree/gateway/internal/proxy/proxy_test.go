package proxy

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"fernhill.example/gateway/internal/config"
)

func echo(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.URL.Path+" "+r.Header.Get("X-User-Id")+" "+r.Header.Get("X-Client-Ip"))
	}))
	t.Cleanup(s.Close)
	return s
}

func proxyTo(t *testing.T, routes ...config.Route) *Proxy {
	t.Helper()
	p, err := New(routes, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func route(t *testing.T, prefix, target string) config.Route {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	return config.Route{Prefix: prefix, Target: u, Timeout: time.Second}
}

func TestLongestPrefixWins(t *testing.T) {
	s := echo(t)
	a, b := route(t, "/api", s.URL+"/short"), route(t, "/api/users", s.URL+"/long")
	p := proxyTo(t, a, b)
	for path, want := range map[string]string{"/api/users/1": "/long/api/users/1", "/api/usersx": "/short/api/usersx"} {
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if got := w.Body.String(); got[:len(want)] != want {
			t.Errorf("%s: got %q, want prefix %q", path, got, want)
		}
	}
}

func TestForgedIdentityIsDropped(t *testing.T) {
	s := echo(t)
	p := proxyTo(t, route(t, "/", s.URL))
	r := httptest.NewRequest("GET", "/x", nil)
	r.Header.Set("X-User-Id", "1")
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	if got, want := w.Body.String(), "/x  192.0.2.1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLoginIsRequiredWhereTheRouteSaysSo(t *testing.T) {
	s := echo(t)
	r := route(t, "/account", s.URL)
	r.NeedsLogin = true
	w := httptest.NewRecorder()
	proxyTo(t, r).ServeHTTP(w, httptest.NewRequest("GET", "/account", nil))
	if w.Code != http.StatusUnauthorized {
		t.Errorf("got %d", w.Code)
	}
}

func TestUnknownPath(t *testing.T) {
	w := httptest.NewRecorder()
	proxyTo(t, route(t, "/a", "http://127.0.0.1:1")).ServeHTTP(w, httptest.NewRequest("GET", "/b", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("got %d", w.Code)
	}
}
