package driver

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"io"
	"runtime"
	"sync"

	"github.com/pgryw/pgryw/conn"
	"github.com/pgryw/pgryw/internal/topology"
)

var (
	_ sqldriver.Connector = (*Connector)(nil)
	_ io.Closer           = (*Connector)(nil)
)

// ErrClosed is returned for a connection that is asked of a closed Connector.
var ErrClosed = errors.New("pgryw: the connector is closed")

// Connector is one handle's set of servers and its fences, for sql.OpenDB.
// Closing the *sql.DB closes it.
//
// Concurrency: safe for use by any number of goroutines.
type Connector struct {
	driver *Driver
	cfg    *Config // private copy; nil for a DSN that is empty, and not parsed yet

	mu     sync.Mutex
	opened *conn.Handle      // nil before the first connection; guarded by mu
	nodes  *topology.Cluster // with opened; guarded by mu
	closed bool              // guarded by mu
}

// NewConnector returns a Connector for cfg, of which it keeps a copy. Nothing
// is connected to yet.
//
// Errors: one sentence that says what is wrong and shows nothing of
// cfg.Postgres.
// Cost: none.
func NewConnector(cfg Config) (*Connector, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Connector{driver: &Driver{}, cfg: &cfg}, nil
}

// Connect implements driver.Connector. It returns a logical connection, which
// takes no server connection until a statement needs one. The first call starts
// the probes of the servers and waits until each has answered or failed once.
//
// Errors: those of the DSN, ErrClosed, and ctx's. Servers that cannot be
// reached are no error here.
// Cost: none; the first call that of connecting to every server at once.
func (c *Connector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	h, err := c.handle()
	if err != nil {
		return nil, err
	}
	if err := c.nodes.Discover(ctx); err != nil {
		return nil, err
	}
	return h.Connect(), nil
}

// Driver implements driver.Connector.
func (c *Connector) Driver() sqldriver.Driver { return &boundDriver{Driver: c.driver, connector: c} }

// boundDriver is the Driver as one handle sees it: how StatsOf finds the
// handle's Connector.
type boundDriver struct {
	*Driver
	connector *Connector
}

// Close implements io.Closer: it ends every goroutine and connection, those in
// use included, and does not wait for their users.
func (c *Connector) Close() error {
	c.mu.Lock()
	nodes := c.nodes
	c.closed = true
	c.mu.Unlock()
	if nodes == nil {
		return nil
	}
	return nodes.Close()
}

// handle returns what the Connector's connections share, and starts the probes
// when it is first called.
func (c *Connector) handle() (*conn.Handle, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return nil, ErrClosed
	case c.opened != nil:
		return c.opened, nil
	}
	cfg := c.cfg
	if cfg == nil {
		var err error
		if cfg, err = ParseDSN(""); err != nil {
			return nil, err
		}
	}
	cfg = cfg.withDefaults()
	hosts, err := cfg.hosts()
	if err != nil {
		return nil, err
	}
	nodes := make([]topology.NodeConfig, len(hosts))
	for i, h := range hosts {
		nodes[i] = topology.NodeConfig{Label: h.label, Conn: h.config}
	}
	c.nodes = topology.New(topology.Config{
		Nodes:         nodes,
		Pool:          cfg.pool(),
		Probe:         cfg.Probe,
		Logger:        cfg.Logger,
		BeforeConnect: cfg.BeforeConnect,
		AfterConnect:  cfg.AfterConnect,
	})
	c.opened = conn.NewHandle(conn.Config{
		Cluster:        c.nodes,
		Policy:         cfg.policy(),
		CaptureTimeout: cfg.CaptureTimeout,
		Logger:         cfg.Logger,
		OnRoute:        cfg.OnRoute,
		MaxFallback:    cfg.MaxFallback,
		Owner:          c,
	})
	// A wrapper that hides io.Closer leaves nobody to stop the probes but the
	// garbage collector. Handles, and so their connections, hold their owner.
	runtime.AddCleanup(c, func(nodes *topology.Cluster) { _ = nodes.Close() }, c.nodes)
	c.nodes.Start()
	return c.opened, nil
}

// pool returns the limits of each node's physical pool.
func (c *Config) pool() topology.PoolConfig {
	return topology.PoolConfig{
		MaxConns:              c.PoolMaxConns,
		MinConns:              c.PoolMinConns,
		MinIdleConns:          c.PoolMinIdleConns,
		MaxConnLifetime:       c.PoolMaxConnLifetime,
		MaxConnLifetimeJitter: c.PoolMaxConnLifetimeJitter,
		MaxConnIdleTime:       c.PoolMaxConnIdleTime,
		HealthCheckPeriod:     c.PoolHealthCheckPeriod,
		PingTimeout:           c.PoolPingTimeout,
	}
}
