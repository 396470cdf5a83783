package topology

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/puddle/v2"

	"github.com/pgryw/pgryw/router"
)

// node is one address of the DSN.
type node struct {
	c     *Cluster
	index int
	cfg   NodeConfig

	pool       *puddle.Pool[*Conn]
	generation atomic.Uint64 // connections made under an older one are not used again
	pair       atomic.Pointer[heldPair]
	probes     atomic.Uint64

	wake chan struct{} // asks for a probe now

	asking sync.Mutex // held during a probe
	conn   *pgx.Conn  // the probe's; guarded by asking

	live    liveConns
	waiters waiters

	// What is known; guarded by Cluster.mu.
	asked   bool   // a probe has ended, one way or the other
	reached bool   // the last one had an answer
	last    report // the last answer
	err     error  // why the last one had none
	role    router.Role
	trouble router.Reason
	lag     time.Duration // negative: unknown
}

func newNode(c *Cluster, index int, cfg NodeConfig) *node {
	n := &node{c: c, index: index, cfg: cfg, wake: make(chan struct{}, 1), trouble: router.ReasonUndiscovered, lag: -1}
	n.pool = n.newPool()
	return n
}

// kick asks for a probe now, unless one has been asked for already.
func (n *node) kick() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// learn holds a pair, if it is news, and publishes it.
func (n *node) learn(p *heldPair) {
	for {
		old := n.pair.Load()
		if !p.supersedes(old) {
			return
		}
		if n.pair.CompareAndSwap(old, p) {
			break
		}
	}
	n.waiters.wake(p.Position)
	n.c.mu.Lock()
	defer n.c.mu.Unlock()
	n.lag = smooth(n.lag, lagOf(n.c.history, p.Position.LSN, p.Asked))
	n.c.publish()
}

// close ends the node's connections, those in use included.
func (n *node) close() {
	n.pool.Reset()
	n.live.cut()
	n.asking.Lock()
	defer n.asking.Unlock()
	if n.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), minProbeTimeout)
		defer cancel()
		_ = n.conn.Close(ctx) // it is given up either way
	}
}
