// Package proxy passes requests on to the services behind the gateway.
package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"sort"
	"strings"

	"fernhill.example/gateway/internal/config"
	"fernhill.example/gateway/internal/identity"
)

// Headers that only the gateway may set. What a client sends of them is dropped.
var internalHeaders = []string{"X-Client-Ip", "X-User-Id", "X-User-Role", "X-Forwarded-For", "Forwarded"}

type target struct {
	route config.Route
	proxy *httputil.ReverseProxy
}

// Proxy chooses by the longest prefix.
type Proxy struct {
	targets []target
	log     *slog.Logger
}

func New(routes []config.Route, log *slog.Logger) (*Proxy, error) {
	if len(routes) == 0 {
		return nil, errors.New("proxy: no routes")
	}
	p := &Proxy{log: log}
	for _, r := range routes {
		p.targets = append(p.targets, target{route: r, proxy: p.reverse(r)})
	}
	sort.SliceStable(p.targets, func(i, j int) bool {
		return len(p.targets[i].route.Prefix) > len(p.targets[j].route.Prefix)
	})
	return p, nil
}

func (p *Proxy) reverse(r config.Route) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.SetURL(r.Target)
			if r.StripPrefix {
				pr.Out.URL.Path = "/" + strings.TrimPrefix(strings.TrimPrefix(pr.In.URL.Path, r.Prefix), "/")
			}
			setIdentity(pr.In, pr.Out)
		},
		ErrorHandler: p.failed,
	}
}

// setIdentity tells the service who is asking, in headers that it can trust.
func setIdentity(in, out *http.Request) {
	for _, h := range internalHeaders {
		out.Header.Del(h)
	}
	if host, _, err := net.SplitHostPort(in.RemoteAddr); err == nil {
		out.Header.Set("X-Client-Ip", host)
	}
	if user := identity.FromContext(in.Context()); user != nil {
		out.Header.Set("X-User-Id", user.IDText())
		out.Header.Set("X-User-Role", user.Role)
	}
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t := p.find(r.URL.Path)
	if t == nil {
		http.NotFound(w, r)
		return
	}
	if t.route.NeedsLogin && identity.FromContext(r.Context()) == nil {
		http.Error(w, "please sign in", http.StatusUnauthorized)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), t.route.Timeout)
	defer cancel()
	t.proxy.ServeHTTP(w, r.WithContext(ctx))
}

func (p *Proxy) find(path string) *target {
	for i := range p.targets {
		prefix := p.targets[i].route.Prefix
		if path == prefix || strings.HasPrefix(path, strings.TrimSuffix(prefix, "/")+"/") {
			return &p.targets[i]
		}
	}
	return nil
}

func (p *Proxy) failed(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusBadGateway
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		status = http.StatusGatewayTimeout
	case errors.Is(err, context.Canceled):
		status = 499
	}
	p.log.Warn("upstream", "path", r.URL.Path, "status", status, "error", err)
	w.WriteHeader(status)
}
