package topology

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
)

// Config says which servers there are, and how to treat them.
type Config struct {
	// Nodes are the servers, in the order of the DSN; at least one.
	Nodes []NodeConfig
	// Pool limits each node's physical pool.
	Pool PoolConfig
	// Probe is the interval of the probes while statements run.
	Probe time.Duration
	// Logger is told of each change of state, once.
	Logger *slog.Logger
	// BeforeConnect and AfterConnect are called for every connection, those of
	// the probes included. Nil is no call.
	BeforeConnect func(context.Context, *pgx.ConnConfig) error
	AfterConnect  func(context.Context, *pgx.Conn) error
}

// NodeConfig is one address. Fallbacks of Conn are other ways, such as without
// TLS, to the same address.
type NodeConfig struct {
	Label string
	Conn  *pgx.ConnConfig
}

// PoolConfig limits a physical pool. The names and meanings are pgxpool's, and
// zero stands for pgxpool's default, except that there is no cap on
// connections.
type PoolConfig struct {
	MaxConns              int32 // zero: no cap
	MinConns              int32
	MinIdleConns          int32
	MaxConnLifetime       time.Duration
	MaxConnLifetimeJitter time.Duration
	MaxConnIdleTime       time.Duration
	HealthCheckPeriod     time.Duration
	PingTimeout           time.Duration
}

// pgxpool's defaults.
//
// Source: https://github.com/jackc/pgx/blob/v5.13.0/pgxpool/pool.go
const (
	defaultMaxConnLifetime   = time.Hour
	defaultMaxConnIdleTime   = 30 * time.Minute
	defaultHealthCheckPeriod = time.Minute
	defaultConnectTimeout    = 2 * time.Minute
	// idleBeforePing is for how long a connection may idle before it is pinged
	// on its way out.
	idleBeforePing = time.Second
)

func (p PoolConfig) withDefaults() PoolConfig {
	set := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	set(&p.MaxConnLifetime, defaultMaxConnLifetime)
	set(&p.MaxConnIdleTime, defaultMaxConnIdleTime)
	set(&p.HealthCheckPeriod, defaultHealthCheckPeriod)
	return p
}

// The bounds of a probe: how long its answer may take, how long connecting, how
// far its interval grows while nobody uses the handle or the server cannot be
// reached, and how soon a server is asked again because a statement has failed.
const (
	minProbeTimeout  = time.Second
	maxProbeTimeout  = 5 * time.Second
	probeDialTimeout = 5 * time.Second
	maxProbeInterval = 5 * time.Second
	minProbeGap      = 20 * time.Millisecond
)

// probeTimeout is how long the answer to one probe may take. To connect may take
// longer: it is seven round trips or so, and what the hooks do.
func (c *Config) probeTimeout() time.Duration {
	return min(max(2*c.Probe, minProbeTimeout), maxProbeTimeout)
}
