// Package limit keeps one client from taking what all the others need.
//
// Token buckets: a bucket holds Burst tokens and gains PerSecond. The most specific limit
// whose prefix fits counts, and only that one.
package limit

import (
	"log/slog"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"fernhill.example/gateway/internal/config"
	"fernhill.example/gateway/internal/identity"
)

type bucket struct {
	tokens float64
	last   time.Time
}

// Limiter holds the buckets of one limit.
type Limiter struct {
	config.Limit
	now func() time.Time

	mu      sync.Mutex
	buckets map[string]*bucket
}

func NewLimiter(l config.Limit, now func() time.Time) *Limiter {
	return &Limiter{Limit: l, now: now, buckets: map[string]*bucket{}}
}

// Take removes a token. When there is none it says how long until there is.
func (l *Limiter) Take(key string) (bool, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.buckets[key]
	if b == nil {
		b = &bucket{tokens: float64(l.Burst), last: now}
		l.buckets[key] = b
	}
	b.tokens = math.Min(float64(l.Burst), b.tokens+now.Sub(b.last).Seconds()*l.PerSecond)
	b.last = now
	if b.tokens >= 1 {
		b.tokens--
		return true, 0
	}
	missing := (1 - b.tokens) / l.PerSecond
	return false, time.Duration(missing * float64(time.Second))
}

// Sweep forgets buckets that are full again.
func (l *Limiter) Sweep() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for key, b := range l.buckets {
		if b.tokens+l.now().Sub(b.last).Seconds()*l.PerSecond < float64(l.Burst) {
			delete(l.buckets, key)
			n++
		}
	}
	return n
}

func (l *Limiter) keyOf(r *http.Request) string {
	if l.By == "session" {
		if token := identity.SessionToken(r); token != "" {
			return "s:" + token
		}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil {
		// One home has a whole /64 of addresses.
		host = ip.Mask(net.CIDRMask(64, 128)).String()
	}
	return "c:" + host
}

// Middleware answers 429 for what is over its limit.
func Middleware(limits []config.Limit, log *slog.Logger) func(http.Handler) http.Handler {
	var all []*Limiter
	for _, l := range limits {
		all = append(all, NewLimiter(l, time.Now))
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			l := choose(all, r.URL.Path)
			if l == nil {
				next.ServeHTTP(w, r)
				return
			}
			if ok, wait := l.Take(l.keyOf(r)); !ok {
				w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())+1))
				http.Error(w, "too many requests", http.StatusTooManyRequests)
				log.Info("limited", "path", r.URL.Path, "prefix", l.Prefix)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func choose(all []*Limiter, path string) *Limiter {
	var best *Limiter
	for _, l := range all {
		if strings.HasPrefix(path, l.Prefix) && (best == nil || len(l.Prefix) > len(best.Prefix)) {
			best = l
		}
	}
	return best
}
