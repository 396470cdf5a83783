package topology

import (
	"time"

	"github.com/pgryw/pgryw/router"
)

// heldPair is the newest pair of a node, and whose it is. It is immutable once
// it is held.
type heldPair struct {
	router.Pair
	server   server
	answered time.Time
	// since is when the server was first known to follow the pair's timeline.
	since time.Time
}

// supersedes reports whether p is to be held in place of old. Answers may
// overtake each other, so a lower position counts only if its question was sent
// after the old answer had come: then the server has gone back, as in a crash
// restart.
func (p *heldPair) supersedes(old *heldPair) bool {
	switch {
	case old == nil:
		return true
	case p.server != old.server || p.Position.Timeline != old.Position.Timeline:
		return p.Asked.After(old.answered)
	case p.Position.LSN == old.Position.LSN:
		return p.Asked.After(old.Asked)
	case p.Position.LSN > old.Position.LSN:
		return true
	}
	return p.Asked.After(old.answered)
}

// beyond reports whether p says more than old, not only later. Either may be
// nil.
func (p *heldPair) beyond(old *heldPair) bool {
	return p != nil && (old == nil || p.Position != old.Position)
}

// follow puts p on the timeline that its server is known to have followed
// before p was asked for. While its receiver is down, a server tells an older
// one, that of its control file; but it never leaves the history that it has
// once followed.
func (p *heldPair) follow(old *heldPair) {
	p.since = p.answered
	if old == nil || p.server != old.server {
		return
	}
	switch {
	case p.Position.Timeline == old.Position.Timeline:
		p.since = old.since
	case p.Position.Timeline < old.Position.Timeline && p.Asked.After(old.since):
		p.Position.Timeline, p.since = old.Position.Timeline, old.since
	}
}

// hold takes in a pair, if it is news, and returns it as it is to be
// understood. The caller holds Cluster.mu.
func (n *node) hold(p *heldPair) router.Pair {
	if !n.reached || p.server != n.last.server {
		return p.Pair // of a server that a probe has yet to see
	}
	old := n.pair.Load()
	p.follow(old)
	if !p.supersedes(old) {
		return p.Pair
	}
	n.pair.Store(p)
	n.waiters.wake(p.Position)
	if n.c.comparable(p) {
		was := p.Position.LSN
		if old != nil && n.c.comparable(old) {
			was = old.Position.LSN
		}
		n.lag.note(n.c.history, was, p.Position.LSN, p.Asked)
	}
	return p.Pair
}

// comparable reports whether a pair can be compared with the primary's history.
// The caller holds c.mu.
func (c *Cluster) comparable(p *heldPair) bool {
	return p.Position.System == c.found.system && p.Position.Timeline == c.found.timeline
}

// firstLags reckons with replicas that answered before the primary did. The
// caller holds c.mu.
func (c *Cluster) firstLags() {
	for _, n := range c.nodes {
		if p := n.pair.Load(); n.lag.usual < 0 && p != nil && c.comparable(p) {
			n.lag.note(c.history, p.Position.LSN, p.Position.LSN, p.Asked)
		}
	}
}

// learn takes in a pair that a guard has brought back, and lets everybody know.
func (c *Cluster) learn(n *node, p *heldPair) router.Pair {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := n.pair.Load()
	pair := n.hold(p)
	if n.pair.Load() != before {
		c.publish()
	}
	return pair
}
