package limit

import (
	"net/http/httptest"
	"testing"
	"time"

	"fernhill.example/gateway/internal/config"
)

func TestBucketRefills(t *testing.T) {
	now := time.Unix(1000, 0)
	l := NewLimiter(config.Limit{PerSecond: 2, Burst: 3}, func() time.Time { return now })
	for i := 0; i < 3; i++ {
		if ok, _ := l.Take("a"); !ok {
			t.Fatalf("token %d was refused", i)
		}
	}
	ok, wait := l.Take("a")
	if ok || wait <= 0 || wait > time.Second {
		t.Fatalf("got %v, %v", ok, wait)
	}
	now = now.Add(time.Second)
	if ok, _ := l.Take("a"); !ok {
		t.Error("refused after a second")
	}
}

func TestKeysAreApart(t *testing.T) {
	l := NewLimiter(config.Limit{PerSecond: 1, Burst: 1}, time.Now)
	if ok, _ := l.Take("a"); !ok {
		t.Error("a")
	}
	if ok, _ := l.Take("b"); !ok {
		t.Error("b")
	}
}

func TestMostSpecificLimit(t *testing.T) {
	all := []*Limiter{
		NewLimiter(config.Limit{Prefix: "/", PerSecond: 1, Burst: 1}, time.Now),
		NewLimiter(config.Limit{Prefix: "/auth/login", PerSecond: 1, Burst: 1}, time.Now),
	}
	if got := choose(all, "/auth/login"); got != all[1] {
		t.Errorf("got %q", got.Prefix)
	}
	if got := choose(all, "/plants"); got != all[0] {
		t.Errorf("got %q", got.Prefix)
	}
}

func TestIPv6HomesShareABucket(t *testing.T) {
	l := NewLimiter(config.Limit{By: "client", PerSecond: 1, Burst: 1}, time.Now)
	a, b := httptest.NewRequest("GET", "/", nil), httptest.NewRequest("GET", "/", nil)
	a.RemoteAddr, b.RemoteAddr = "[2001:db8::1]:1", "[2001:db8::2]:1"
	if l.keyOf(a) != l.keyOf(b) {
		t.Errorf("%q and %q", l.keyOf(a), l.keyOf(b))
	}
}
