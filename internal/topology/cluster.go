package topology

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// Cluster is the servers of one handle.
//
// Concurrency: safe for use by any number of goroutines.
type Cluster struct {
	cfg   Config
	nodes []*node

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup // goroutines that Close waits for; added to under mu
	closed atomic.Bool    // set under mu

	born     time.Time
	snapshot atomic.Pointer[router.Snapshot]
	touched  atomic.Int64 // when a statement last ran, in nanoseconds since born
	idle     atomic.Bool  // the probes have slowed down
	sampled  atomic.Int64 // when Observe last added a sample, as touched

	discovered chan struct{} // closed by endDiscovery
	discovery  sync.Once

	mu      sync.Mutex
	started bool            // guarded by mu
	found   found           // what the nodes add up to; guarded by mu
	history []router.Sample // immutable slice; guarded by mu
	round   *round          // the rediscovery under way; guarded by mu
	news    chan struct{}   // closed and replaced when a node's standing changes; guarded by mu
	rested  time.Time       // when the last round ended; guarded by mu
	untold  []note          // guarded by mu
	telling bool            // a goroutine tells; guarded by mu
}

// New returns a Cluster that has connected to nothing yet.
func New(cfg Config) *Cluster {
	cfg.Pool = cfg.Pool.withDefaults()
	c := &Cluster{cfg: cfg, born: time.Now(), discovered: make(chan struct{}), news: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.found.primary = -1
	for i, n := range cfg.Nodes {
		c.nodes = append(c.nodes, newNode(c, i, n))
	}
	if c.single() {
		c.found.primary = 0 // of a sort: everything runs there
		c.endDiscovery()
	}
	c.mu.Lock()
	c.publish()
	c.mu.Unlock()
	return c
}

// endDiscovery lets Discover go.
func (c *Cluster) endDiscovery() { c.discovery.Do(func() { close(c.discovered) }) }

// single reports whether there is one server only: everything runs on it,
// whatever it is, and it is not probed.
func (c *Cluster) single() bool { return len(c.nodes) == 1 }

// Start starts the probes, and the upkeep of the pools. It may be called again.
//
// Cost: none that is waited for.
func (c *Cluster) Start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started || c.closed.Load() {
		return
	}
	c.started = true
	time.AfterFunc(c.cfg.probeTimeout(), c.endDiscovery)
	for _, n := range c.nodes {
		if !c.single() {
			c.work.Go(n.probe)
		}
		c.work.Go(n.keepHouse)
	}
}

// Close ends every goroutine and connection. Connections in use are cut off
// under their users, who are not waited for. It may be called again.
func (c *Cluster) Close() error {
	c.mu.Lock()
	again := c.closed.Swap(true)
	c.mu.Unlock()
	if again {
		return nil
	}
	c.cancel()
	for _, n := range c.nodes {
		n.close()
	}
	c.work.Wait()
	return nil
}

// Snapshot returns the newest snapshot.
//
// Cost: one atomic read.
func (c *Cluster) Snapshot() *router.Snapshot { return c.snapshot.Load() }

// clock returns the time since the Cluster was made, in nanoseconds.
func (c *Cluster) clock() int64 { return int64(time.Since(c.born)) }

// Touch notes that a statement runs: the probes keep their interval while they
// do, and slow down when they do not.
//
// Cost: reading the clock and two atomic reads.
func (c *Cluster) Touch() {
	// Statements of many processors would fight for the line if each wrote it.
	if now := c.clock(); now-c.touched.Load() > int64(c.cfg.Probe)/2 {
		c.touched.Store(now)
	}
	if c.idle.Load() && c.idle.Swap(false) {
		for _, n := range c.nodes {
			n.kick()
		}
	}
}

// unused returns for how long no statement has run.
func (c *Cluster) unused() time.Duration { return time.Duration(c.clock() - c.touched.Load()) }

// Observe notes that the primary has been seen at a position.
//
// Cost: reading the clock and an atomic read; a lock at most every 2 ms.
func (c *Cluster) Observe(p lsn.Position) {
	if c.single() {
		return
	}
	now, last := c.clock(), c.sampled.Load()
	if now-last < int64(sampleSpacing) || !c.sampled.CompareAndSwap(last, now) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case p.System != c.found.system || p.Timeline < c.found.timeline:
	case p.Timeline > c.found.timeline: // a promotion that no probe has seen yet
		for _, n := range c.nodes {
			n.kick()
		}
	default:
		c.history = sample(c.history, time.Now(), p.LSN)
		c.publish()
	}
}
