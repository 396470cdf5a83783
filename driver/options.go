package driver

import (
	"errors"
	"strings"
	"time"

	"github.com/pgryw/pgryw/router"
)

// options are the keys that ParseDSN takes, in the order in which FormatDSN
// writes them: key, default, field.
var options = []option{
	word("route", "auto", func(c *Config) *router.Route { return &c.Route }),
	planned(word("mode", "strict", func(c *Config) *router.Mode { return &c.Mode })),
	planned(duration("max_staleness", "0", func(c *Config) *time.Duration { return &c.MaxStaleness })),
	word("scope", "db", func(c *Config) *router.Scope { return &c.Scope }),
	duration("wait", "0", func(c *Config) *time.Duration { return &c.Wait }),
	count("max_fallback", "0", func(c *Config) *int { return &c.MaxFallback }),
	planned(onOff("monotonic", "off", func(c *Config) *bool { return &c.Monotonic })),
	word("readonly_tx", "replica", func(c *Config) *router.ReadOnlyTx { return &c.ReadOnlyTx }),
	word("volatile", "primary", func(c *Config) *router.Volatile { return &c.Volatile }),
	duration("capture_timeout", "1s", func(c *Config) *time.Duration { return &c.CaptureTimeout }),
	duration("probe", "250ms", func(c *Config) *time.Duration { return &c.Probe }),
	planned(duration("resolve", "30s", func(c *Config) *time.Duration { return &c.Resolve })),
	count("pool_max_conns", "0", func(c *Config) *int32 { return &c.PoolMaxConns }),
	count("pool_min_conns", "0", func(c *Config) *int32 { return &c.PoolMinConns }),
	count("pool_min_idle_conns", "0", func(c *Config) *int32 { return &c.PoolMinIdleConns }),
	duration("pool_max_conn_lifetime", "1h", func(c *Config) *time.Duration { return &c.PoolMaxConnLifetime }),
	duration("pool_max_conn_lifetime_jitter", "0", func(c *Config) *time.Duration { return &c.PoolMaxConnLifetimeJitter }),
	duration("pool_max_conn_idle_time", "30m", func(c *Config) *time.Duration { return &c.PoolMaxConnIdleTime }),
	duration("pool_health_check_period", "1m", func(c *Config) *time.Duration { return &c.PoolHealthCheckPeriod }),
	duration("pool_ping_timeout", "0", func(c *Config) *time.Duration { return &c.PoolPingTimeout }),
}

// planned marks an option whose effect is not built yet: nothing but its
// default may be set.
func planned(o option) option {
	o.planned = true
	return o
}

// prefix begins the key of every option in a DSN.
const prefix = "pgryw."

// isOurs reports whether the key is meant to be an option's. Case is ignored,
// so that a misspelt option is refused instead of sent to the server.
func isOurs(key string) bool {
	return len(key) >= len(prefix) && strings.EqualFold(key[:len(prefix)], prefix)
}

// setOption sets the field of the option that s names.
//
// Errors: there is no such option, or it has no such value; the sentence lists
// the valid ones.
func (c *Config) setOption(s setting) error {
	for _, o := range options {
		if s.key == o.key {
			return o.parse(c, s.value)
		}
	}
	return unknownOption(s.key)
}

// unknownOption lists the valid keys. It repeats the key only if that looks
// like one: a broken connection string may leave anything in its place.
func unknownOption(key string) error {
	keys := make([]string, len(options))
	for i, o := range options {
		keys[i] = o.key
	}
	named := ""
	if len(key) <= 40 && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_.") == "" {
		named = " " + key
	}
	return errors.New("pgryw: unknown option" + named + "; the options are " + strings.Join(keys, ", "))
}
