package topology

import (
	"time"

	"github.com/pgryw/pgryw/router"
)

// refillDelay is how long after the loss of a connection the pool is filled up.
// It gives the connection the time to be gone from the count.
const refillDelay = 500 * time.Millisecond

// keepHouse closes connections that are too old or idle for too long, and makes
// the ones that the pool is to have at least, until the Cluster is closed.
func (n *node) keepHouse() {
	period := n.c.cfg.Pool.HealthCheckPeriod
	timer := time.NewTimer(0)
	defer timer.Stop()
	soon := true
	for {
		select {
		case <-n.c.ctx.Done():
			return
		case <-n.short:
			if !soon {
				soon = true
				timer.Reset(min(refillDelay, period))
			}
		case <-timer.C:
			n.tidy()
			n.fill()
			soon = false
			timer.Reset(period)
		}
	}
}

// tidy goes through the idle connections.
func (n *node) tidy() {
	limits := n.c.cfg.Pool
	total := n.pool.Stat().TotalResources()
	for _, res := range n.pool.AcquireAllIdle() {
		idle := res.IdleDuration() > limits.MaxConnIdleTime && total > limits.MinConns
		if idle || !res.Value().fit() {
			total--
			res.Destroy()
		} else {
			res.ReleaseUnused()
		}
	}
}

// fill makes the connections that are wanting, of a node that is in use.
func (n *node) fill() {
	limits := n.c.cfg.Pool
	for n.used() {
		s := n.pool.Stat()
		short := s.TotalResources() < limits.MinConns || s.IdleResources() < limits.MinIdleConns
		if !short || s.TotalResources() >= s.MaxResources() {
			return
		}
		if err := n.pool.CreateResource(n.c.ctx); err != nil {
			return // the server is down, or we are: the next round tries again
		}
	}
}

// used reports whether statements may be sent to the node.
func (n *node) used() bool {
	s := n.c.Snapshot()
	return s.Single || s.Nodes[n.index].Trouble == router.ReasonNone
}
