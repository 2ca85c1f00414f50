// Command gateway is the only part of the shop that the internet talks to. It terminates
// TLS, limits rates, checks who is asking, and passes requests on to the services.
package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"fernhill.example/gateway/internal/config"
	"fernhill.example/gateway/internal/identity"
	"fernhill.example/gateway/internal/limit"
	"fernhill.example/gateway/internal/proxy"
	"fernhill.example/gateway/internal/static"
)

func main() {
	path := flag.String("config", "config/gateway.toml", "file with routes and limits")
	flag.Parse()
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))

	c, err := config.Load(*path)
	if err != nil {
		log.Error("configuration", "file", *path, "error", err)
		os.Exit(78)
	}
	if err := serve(c, log); err != nil {
		log.Error("serve", "error", err)
		os.Exit(1)
	}
}

// serve runs until SIGINT or SIGTERM and then lets requests finish for c.Grace.
func serve(c *config.Config, log *slog.Logger) error {
	handler, err := build(c, log)
	if err != nil {
		return err
	}
	server := &http.Server{
		Addr:              c.Listen,
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	log.Info("stopping", "grace", c.Grace)
	wait, cancel := context.WithTimeout(context.Background(), c.Grace)
	defer cancel()
	if err := server.Shutdown(wait); err != nil {
		return err
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// build stacks the handlers: the outermost sees a request first.
func build(c *config.Config, log *slog.Logger) (http.Handler, error) {
	routes, err := proxy.New(c.Routes, log)
	if err != nil {
		return nil, err
	}
	accounts := identity.NewClient(c.AccountsURL, c.AccountsTimeout)
	mux := http.NewServeMux()
	mux.Handle("/static/", static.New(c.StaticDir))
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok\n")) })
	mux.Handle("/", identity.Middleware(accounts, log)(routes))
	return requestID(limit.Middleware(c.Limits, log)(securityHeaders(mux))), nil
}

func securityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Strict-Transport-Security", "max-age=31536000")
		h.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'")
		next.ServeHTTP(w, r)
	})
}
