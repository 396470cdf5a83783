package topology

import (
	"context"
	"errors"
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
	work   sync.WaitGroup // goroutines that Close waits for
	start  sync.Once
	closed atomic.Bool

	snapshot atomic.Pointer[router.Snapshot]
	touched  atomic.Int64 // when a statement last ran, in nanoseconds since born
	idle     atomic.Bool  // the probes have slowed down
	sampled  atomic.Int64 // when Observe last added a sample, as touched
	born     time.Time

	discovered chan struct{} // closed when every node was asked once

	mu      sync.Mutex
	found   found           // what the nodes add up to; guarded by mu
	history []router.Sample // immutable slice; guarded by mu
	round   *round          // the rediscovery under way; guarded by mu
}

// New returns a Cluster that has connected to nothing yet.
func New(cfg Config) *Cluster {
	cfg.Pool = cfg.Pool.withDefaults()
	c := &Cluster{cfg: cfg, born: time.Now(), discovered: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.found.primary = -1
	for i, n := range cfg.Nodes {
		c.nodes = append(c.nodes, newNode(c, i, n))
	}
	c.mu.Lock()
	c.publish()
	c.mu.Unlock()
	return c
}

// single reports whether there is one server only: everything runs on it,
// whatever it is, and it is not probed.
func (c *Cluster) single() bool { return len(c.nodes) == 1 }

// Start starts the probes. It may be called again.
func (c *Cluster) Start() {
	c.start.Do(func() {
		if c.single() {
			close(c.discovered)
		} else {
			for _, n := range c.nodes {
				c.work.Go(n.probe)
			}
		}
		c.work.Go(c.keepHouse)
	})
}

// Close ends every goroutine and connection. Connections in use are cut off
// under their users, who are not waited for. It may be called again.
func (c *Cluster) Close() error {
	if c.closed.Swap(true) {
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

// adopt takes the system of a single node, which no probe asks for.
func (c *Cluster) adopt(system uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found.system != system {
		c.found.system = system
		c.publish()
	}
}

// Touch notes that a statement runs: the probes keep their interval while they
// do, and slow down when they do not.
//
// Cost: two atomic operations.
func (c *Cluster) Touch() {
	c.touched.Store(int64(time.Since(c.born)))
	if c.idle.Load() && c.idle.Swap(false) {
		for _, n := range c.nodes {
			n.kick()
		}
	}
}

// unused returns for how long no statement has run.
func (c *Cluster) unused() time.Duration {
	return time.Since(c.born) - time.Duration(c.touched.Load())
}

// Discover blocks until every node has answered its first probe or failed it,
// and stops when ctx ends. A probe is bounded, so this is too.
//
// Errors: ctx's, and ErrClosed.
func (c *Cluster) Discover(ctx context.Context) error {
	select {
	case <-c.discovered:
		return nil
	default:
	}
	select {
	case <-c.discovered:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.ctx.Done():
		return ErrClosed
	}
}

// round is one rediscovery, which any number of callers wait for.
type round struct{ done chan struct{} }

// Rediscover asks every node at once who it is.
//
// Blocks until each has answered or failed, and stops when ctx ends. Callers at
// the same time share one round.
// Errors: ctx's, and ErrClosed.
func (c *Cluster) Rediscover(ctx context.Context) error {
	c.mu.Lock()
	r := c.round
	if r == nil && !c.closed.Load() {
		r = &round{done: make(chan struct{})}
		c.round = r
		c.work.Go(func() { c.runRound(r) })
	}
	c.mu.Unlock()
	if r == nil {
		return ErrClosed
	}
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Cluster) runRound(r *round) {
	var asked sync.WaitGroup
	for _, n := range c.nodes {
		asked.Go(func() { _ = n.askOnce(c.ctx) }) // it is recorded
	}
	asked.Wait()
	c.mu.Lock()
	c.round = nil
	c.mu.Unlock()
	close(r.done)
}

// Primary borrows a connection to the primary. If none is known, or the one
// known cannot be reached or is none any more, every node is asked once who it
// is.
//
// Blocks until the pool has a connection, and stops when ctx ends.
// Errors: a *NoPrimaryError, pgx's own error of connecting, ctx's, ErrClosed.
// Cost: none if the pool has a connection; else that of a new one.
func (c *Cluster) Primary(ctx context.Context) (*Conn, error) {
	if c.single() {
		return c.nodes[0].acquire(ctx)
	}
	p, err := c.presentPrimary(ctx)
	if err == nil || ctx.Err() != nil || errors.Is(err, ErrClosed) {
		return p, err
	}
	if err := c.Rediscover(ctx); err != nil {
		return nil, err
	}
	return c.presentPrimary(ctx)
}

func (c *Cluster) presentPrimary(ctx context.Context) (*Conn, error) {
	i := c.Snapshot().Primary
	if i < 0 {
		return nil, c.noPrimary(nil)
	}
	p, err := c.nodes[i].acquire(ctx)
	if err != nil {
		return nil, err
	}
	if p.id.recovering || p.hotStandby() {
		p.Destroy()
		return nil, c.noPrimary(errNotPrimary)
	}
	return p, nil
}

// noPrimary says what each node is instead of a primary.
func (c *Cluster) noPrimary(why error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Load() {
		return ErrClosed
	}
	e := &NoPrimaryError{}
	for i, n := range c.nodes {
		state, err := n.role.String(), n.err
		if why != nil && i == c.found.primary {
			err = why
		}
		e.nodes = append(e.nodes, nodeError{label: n.cfg.Label, state: state, err: err})
	}
	return e
}

// Replica borrows a connection to a node. With queue unset it returns ErrBusy
// rather than wait for another borrower.
//
// Blocks as Primary. Errors and cost: as Primary, of that node alone.
func (c *Cluster) Replica(ctx context.Context, node int, queue bool) (*Conn, error) {
	n := c.nodes[node]
	if !queue && n.full() {
		return nil, ErrBusy
	}
	p, err := n.acquire(ctx)
	if err != nil && ctx.Err() == nil {
		n.kick()
	}
	return p, err
}

// Observe notes that the primary has been seen at a position.
//
// Cost: two atomic reads; a lock at most every 2 ms.
func (c *Cluster) Observe(p lsn.Position) {
	now := time.Now()
	at, last := int64(now.Sub(c.born)), c.sampled.Load()
	if at-last < int64(sampleSpacing) || !c.sampled.CompareAndSwap(last, at) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.System == c.found.system && p.Timeline == c.found.timeline {
		c.history = sample(c.history, now, p.LSN)
		c.publish()
	}
}
