// Package config reads gateway.toml: where to listen, where to send what, and how much.
package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"
)

// Route sends requests whose path begins with Prefix to Target.
type Route struct {
	Prefix      string
	Target      *url.URL
	StripPrefix bool
	NeedsLogin  bool
	Timeout     time.Duration
}

// Limit is a bucket of Burst requests that refills with PerSecond.
type Limit struct {
	Prefix    string  `json:"prefix"`
	PerSecond float64 `json:"per_second"`
	Burst     int     `json:"burst"`
	By        string  `json:"by"` // "client" or "session"
}

type Config struct {
	Listen          string
	AccountsURL     string
	AccountsTimeout time.Duration
	StaticDir       string
	Grace           time.Duration
	Routes          []Route
	Limits          []Limit
	// Overrides come from GATEWAY_OVERRIDES, a JSON object, for emergencies.
	Overrides map[string]string
}

// Load reads the file and then the environment.
func Load(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := &Config{Listen: ":8443", AccountsTimeout: 2 * time.Second, Grace: 20 * time.Second, StaticDir: "/srv/static"}
	if err := c.parse(string(text)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c.Overrides = map[string]string{}
	if raw := os.Getenv("GATEWAY_OVERRIDES"); raw != "" {
		json.Unmarshal([]byte(raw), &c.Overrides)
	}
	return c, c.validate()
}

// parse understands the part of TOML that the file uses: tables, arrays of tables, and
// plain values.
func (c *Config) parse(text string) error {
	section := ""
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
			switch section {
			case "routes":
				c.Routes = append(c.Routes, Route{Timeout: 10 * time.Second})
			case "limits":
				c.Limits = append(c.Limits, Limit{By: "client", Burst: 20, PerSecond: 10})
			case "gateway":
			default:
				return fmt.Errorf("line %d: unknown table %q", i+1, section)
			}
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if !found {
			return fmt.Errorf("line %d: expected key = value", i+1)
		}
		if err := c.set(section, strings.TrimSpace(key), strings.Trim(strings.TrimSpace(value), `"`)); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return nil
}

func (c *Config) set(section, key, value string) error {
	switch section + "." + key {
	case "gateway.listen":
		c.Listen = value
	case "gateway.accounts_url":
		c.AccountsURL = value
	case "gateway.accounts_timeout":
		return duration(&c.AccountsTimeout, value)
	case "gateway.static_dir":
		c.StaticDir = value
	case "gateway.grace":
		return duration(&c.Grace, value)
	case "routes.prefix":
		c.lastRoute().Prefix = value
	case "routes.target":
		u, err := url.Parse(value)
		if err != nil {
			return err
		}
		c.lastRoute().Target = u
	case "routes.strip_prefix":
		c.lastRoute().StripPrefix = value == "true"
	case "routes.needs_login":
		c.lastRoute().NeedsLogin = value == "true"
	case "routes.timeout":
		return duration(&c.lastRoute().Timeout, value)
	case "limits.prefix":
		c.lastLimit().Prefix = value
	case "limits.per_second":
		_, err := fmt.Sscanf(value, "%g", &c.lastLimit().PerSecond)
		return err
	case "limits.burst":
		_, err := fmt.Sscanf(value, "%d", &c.lastLimit().Burst)
		return err
	case "limits.by":
		c.lastLimit().By = value
	default:
		return fmt.Errorf("unknown key %s.%s", section, key)
	}
	return nil
}

func (c *Config) lastRoute() *Route { return &c.Routes[len(c.Routes)-1] }
func (c *Config) lastLimit() *Limit { return &c.Limits[len(c.Limits)-1] }

func duration(out *time.Duration, text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	*out = d
	return nil
}

func (c *Config) validate() error {
	if c.AccountsURL == "" {
		return errors.New("gateway.accounts_url is missing")
	}
	if len(c.Routes) == 0 {
		return errors.New("no [routes]")
	}
	for _, r := range c.Routes {
		if !strings.HasPrefix(r.Prefix, "/") || r.Target == nil {
			return fmt.Errorf("route %q needs a prefix that begins with / and a target", r.Prefix)
		}
	}
	for _, l := range c.Limits {
		if l.PerSecond <= 0 || l.Burst < 1 {
			return fmt.Errorf("limit %q lets nothing through", l.Prefix)
		}
		if l.By != "client" && l.By != "session" {
			return fmt.Errorf("limit %q: by is client or session", l.Prefix)
		}
	}
	return nil
}
