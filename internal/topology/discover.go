package topology

import (
	"context"
	"sync"
	"time"

	"github.com/pgryw/pgryw/router"
)

// Discover blocks until every node has answered its first probe or failed it, or
// as long after Start as the answer to a probe may take, and stops when ctx ends.
// Start must have been called.
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

// Rediscover asks every node at once who it is.
//
// Blocks until each has answered or failed, and stops when ctx ends. Callers at
// the same time share one round.
// Errors: ctx's, and ErrClosed.
func (c *Cluster) Rediscover(ctx context.Context) error {
	return c.rediscover(ctx, func(*router.Snapshot) bool { return false })
}

// round is one rediscovery, which any number of callers wait for.
type round struct{ done chan struct{} }

// rediscover is Rediscover that does not wait for the nodes that hang once
// enough is known. enough is asked again whenever a node's standing changes.
func (c *Cluster) rediscover(ctx context.Context, enough func(*router.Snapshot) bool) error {
	for {
		r, news := c.joinRound()
		if r == nil {
			return ErrClosed
		}
		if enough(c.Snapshot()) {
			return nil
		}
		select {
		case <-r.done:
			return nil
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// joinRound returns the round under way, or a new one, and what tells of the
// next change. Nil after Close.
func (c *Cluster) joinRound() (*round, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.round == nil && !c.closed.Load() {
		r := &round{done: make(chan struct{})}
		c.round = r
		c.work.Go(func() { c.runRound(r) })
	}
	return c.round, c.news
}

// runRound runs one, but not right behind the last.
func (c *Cluster) runRound(r *round) {
	c.mu.Lock()
	rest := time.NewTimer(minProbeGap - time.Since(c.rested))
	c.mu.Unlock()
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-c.ctx.Done():
	}
	var asked sync.WaitGroup
	for _, n := range c.nodes {
		asked.Go(n.askNow)
	}
	asked.Wait()
	c.mu.Lock()
	c.round, c.rested = nil, time.Now()
	c.mu.Unlock()
	close(r.done)
}
