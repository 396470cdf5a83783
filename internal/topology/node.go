package topology

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/jackc/puddle/v2"

	"github.com/pgryw/pgryw/router"
)

// node is one address of the DSN.
type node struct {
	c     *Cluster
	index int
	cfg   NodeConfig

	pool   *puddle.Pool[*Conn]
	era    atomic.Pointer[era]
	pair   atomic.Pointer[heldPair] // written under Cluster.mu
	probes atomic.Uint64

	waiters waiters

	wake  chan struct{} // asks for a probe now
	short chan struct{} // asks for the pool to be filled up
	moved atomic.Bool   // the address leads to another server than the probe's

	asking sync.Mutex // held during a probe
	conn   *Conn      // the probe's; nil if there is none; guarded by asking
	failed bool       // the last probe had no answer; guarded by asking

	// What is known; guarded by Cluster.mu.
	account
	standing
	err error // why the last probe had no answer
	lag lag
	told
}

// told is what has been said of a node, so that it is said once.
type told struct{ blind, indirect bool }

func newNode(c *Cluster, index int, cfg NodeConfig) *node {
	n := &node{
		c: c, index: index, cfg: cfg, lag: unknownLag,
		wake: make(chan struct{}, 1), short: make(chan struct{}, 1),
	}
	n.standing = undiscovered
	n.pool = n.newPool()
	n.era.Store(c.newEra(router.RoleUnknown, server{}))
	return n
}

// era is a time during which a node is one thing. Connections made in an older
// one are not used again.
type era struct {
	ctx    context.Context // ends with the era, and with the Cluster
	end    context.CancelFunc
	role   router.Role
	server server // that answers the probe
}

func (c *Cluster) newEra(role router.Role, server server) *era {
	e := &era{role: role, server: server}
	e.ctx, e.end = context.WithCancel(c.ctx)
	return e
}

// turn begins a new era: the node has become something else, or is another
// server. What waits for the old one, such as a connection being made to a
// primary that was cut off from the net, stops waiting. The caller holds c.mu.
func (n *node) turn(role router.Role) {
	n.era.Swap(n.c.newEra(role, n.last.server)).end()
	n.pair.Store(nil)
	n.lag = unknownLag
	n.pool.Reset()
}

// kick asks for a probe now, unless one has been asked for already.
func (n *node) kick() { signal(n.wake) }

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// close ends the node's connections. The Cluster's context has ended, which
// cuts those in use.
func (n *node) close() {
	n.pool.Reset()
	n.asking.Lock()
	defer n.asking.Unlock()
	n.hangUpProbe()
}
