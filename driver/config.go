package driver

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgryw/pgryw/router"
)

// Config is everything that a Connector is built from. Each option of a DSN,
// pgryw.<key>, is the field of the same name; the zero value of every field but
// Postgres is its default. The functions are called by several goroutines at
// once.
type Config struct {
	// Postgres is the connection string, without pgryw.* options, as pgx takes
	// it: a URL, or keywords and values. Its hosts are the nodes. Default: "".
	// Zero means that everything comes from the PG* environment variables.
	Postgres string

	// Route says which reads may leave the primary. Default: auto. Zero means
	// auto.
	Route router.Route
	// Mode says what a replica must have replayed to serve a read. Default:
	// strict. Zero means strict.
	Mode router.Mode
	// MaxStaleness is how old the data of a replica may be: the bound of mode
	// bounded, and one more condition in mode strict. Default: 0. Zero means no
	// bound.
	MaxStaleness time.Duration
	// Scope says whose writes fence a read that has no session. Default: db.
	// Zero means db.
	Scope router.Scope
	// Wait is how long a fenced read may wait for a replica before it goes to
	// the primary. Default: 0. Zero means not at all.
	Wait time.Duration
	// MaxFallback is how many reads at once may fall back to the primary; past
	// it they wait for a replica or fail. Default: 0. Zero means any number.
	MaxFallback int
	// Monotonic keeps the reads of a session from going back in time, also
	// between replicas and after a read on the primary. Default: off. Zero
	// means off.
	Monotonic bool
	// ReadOnlyTx says where BeginTx with ReadOnly set may run. Default: replica.
	// Zero means replica.
	ReadOnlyTx router.ReadOnlyTx
	// Volatile says where a SELECT runs that calls a function not known to be
	// stable or immutable. Default: primary. Zero means primary.
	Volatile router.Volatile
	// CaptureTimeout is how long a finished write may be held for its capture.
	// Default: 1s. Zero means the default.
	CaptureTimeout time.Duration
	// Probe is the interval of a node's probe while the handle is used.
	// Default: 250ms. Zero means the default.
	Probe time.Duration
	// Resolve is how often host names are resolved again. Default: 30s. Zero
	// means the default.
	Resolve time.Duration

	// PoolMaxConns is the most physical connections that a node may have; the
	// logical ones, bounded by SetMaxOpenConns, bound them too. Default: 0. Zero
	// means any number.
	PoolMaxConns int32
	// PoolMinConns is how many physical connections a node is kept at, at least.
	// Default: 0. Zero means none.
	PoolMinConns int32
	// PoolMinIdleConns is how many idle connections a node is kept at, at least.
	// Default: 0. Zero means none.
	PoolMinIdleConns int32
	// PoolMaxConnLifetime is the age at which a connection is closed. Default:
	// 1h. Zero means the default.
	PoolMaxConnLifetime time.Duration
	// PoolMaxConnLifetimeJitter is the most that is added at random to
	// PoolMaxConnLifetime. Default: 0. Zero means none.
	PoolMaxConnLifetimeJitter time.Duration
	// PoolMaxConnIdleTime is for how long a connection may idle before it is
	// closed. Default: 30m. Zero means the default.
	PoolMaxConnIdleTime time.Duration
	// PoolHealthCheckPeriod is how often the connections of a node are checked
	// against these limits. Default: 1m. Zero means the default.
	PoolHealthCheckPeriod time.Duration
	// PoolPingTimeout is how long the ping of an idle connection may take.
	// Default: 0. Zero means as long as its caller waits.
	PoolPingTimeout time.Duration

	// BeforeConnect is called before each physical connection, to any node, with
	// the connection's own copy of its settings, which it may change. Its error
	// fails the connection. Default: nil. Zero means no call.
	BeforeConnect func(context.Context, *pgx.ConnConfig) error
	// AfterConnect is called on each physical connection, to any node, before
	// its first use. Its error closes the connection and fails it. Default: nil.
	// Zero means no call.
	AfterConnect func(context.Context, *pgx.Conn) error
	// Tracer is pgx's tracer of the physical connections. Default: nil. Zero
	// means none.
	Tracer pgx.QueryTracer
	// Logger is told what an operator should know. Default: slog.Default(). Zero
	// means the default.
	Logger *slog.Logger
	// OnRoute is called with each routing decision, by the goroutine that waits
	// for it. Default: nil. Zero means no call.
	OnRoute func(context.Context, router.Decision)
}

// validate reports what keeps the Config from being used.
//
// Errors: one sentence that names the option, and shows no value and no part of
// Postgres.
func (c *Config) validate() error {
	if _, err := parsePostgres(c.Postgres); err != nil {
		return err
	}
	if _, ours := split(c.Postgres); len(ours) > 0 {
		return errors.New("pgryw: Config.Postgres must not hold pgryw.* options: set the fields, or use ParseDSN")
	}
	for _, o := range options {
		if err := o.check(c); err != nil {
			return err
		}
	}
	return nil
}

// withDefaults returns a copy in which each option and the Logger have their
// defaults in place of zero.
func (c *Config) withDefaults() *Config {
	full := *c
	for _, o := range options {
		if o.isZero(c) {
			o.set(&full, o.initial)
		}
	}
	if full.Logger == nil {
		full.Logger = slog.Default()
	}
	return &full
}

// policy returns what the options say about routing.
func (c *Config) policy() router.Policy {
	return router.Policy{
		Route:        c.Route,
		Mode:         c.Mode,
		Scope:        c.Scope,
		ReadOnlyTx:   c.ReadOnlyTx,
		Volatile:     c.Volatile,
		MaxStaleness: c.MaxStaleness,
		Wait:         c.Wait,
		Monotonic:    c.Monotonic,
	}
}
