package topology

import "github.com/pgryw/pgryw/router"

// found is what the nodes' reports add up to.
type found struct {
	system   uint64 // of the first primary found; zero before
	primary  int    // index, or -1
	timeline uint32 // the primary's
	server   server // the primary's
	split    bool   // two nodes are primary on one timeline
}

// settle decides from the nodes' last reports which one is the primary and what
// the others are. The caller holds c.mu.
//
// A primary that cannot be reached stays the primary until another node has
// become one: a server that does not answer is not thereby demoted.
func (c *Cluster) settle() {
	was := c.found
	c.found = c.elect()
	for i, n := range c.nodes {
		role, trouble := c.roleOf(i, n)
		c.announce(n, role, trouble)
		if role != n.role || i == c.found.primary && c.found.server != was.server {
			n.generation.Add(1)
			n.pool.Reset()
		}
		n.role, n.trouble = role, trouble
	}
	if c.found.split && !was.split {
		c.cfg.Logger.Error("pgryw: two servers are primary on one timeline; no replica serves until one of them is gone",
			"timeline", c.found.timeline)
	}
	if c.found.timeline != was.timeline {
		c.history = nil // positions of another timeline say nothing of this one
	}
}

// elect chooses among the nodes that were last seen writable the one on the
// highest timeline; of several, the one that is the primary already, or else
// the first.
func (c *Cluster) elect() found {
	f := found{system: c.found.system, primary: -1}
	for i, n := range c.nodes {
		r := n.last
		if r.position.System == 0 || r.recovering || c.aliasOf(i) >= 0 {
			continue
		}
		if f.system == 0 {
			f.system = r.server.system
		}
		if r.server.system != f.system {
			continue
		}
		switch tie := f.primary >= 0 && r.position.Timeline == f.timeline; {
		case f.primary < 0 || r.position.Timeline > f.timeline:
			f.primary, f.timeline, f.server, f.split = i, r.position.Timeline, r.server, false
		case tie:
			other := c.nodes[f.primary]
			f.split = f.split || n.reached && other.reached
			if i == c.found.primary && n.reached || !other.reached {
				f.primary, f.server = i, r.server
			}
		}
	}
	return f
}

// aliasOf returns the index of an earlier node that is the same server, or -1.
func (c *Cluster) aliasOf(i int) int {
	mine := c.nodes[i]
	for j, n := range c.nodes[:i] {
		if mine.reached && n.reached && mine.last.server.sameRun(n.last.server) {
			return j
		}
	}
	return -1
}

// roleOf says what a node is, and why it is not to be used, if so.
func (c *Cluster) roleOf(i int, n *node) (router.Role, router.Reason) {
	role := router.RoleUnknown
	switch {
	case n.last.position.System == 0:
	case n.last.recovering:
		role = router.RoleReplica
	case i == c.found.primary:
		role = router.RolePrimary
	}
	switch {
	case !n.asked:
		return role, router.ReasonUndiscovered
	case !n.reached:
		return role, router.ReasonUnreachable
	case c.found.system != 0 && n.last.server.system != c.found.system:
		return role, router.ReasonForeign
	case c.aliasOf(i) >= 0:
		return role, router.ReasonAlias
	case role == router.RoleUnknown:
		return role, router.ReasonDeposed
	case c.found.split && role == router.RoleReplica:
		return role, router.ReasonSplit
	}
	return role, router.ReasonNone
}

// announce logs a change of a node's state.
func (c *Cluster) announce(n *node, role router.Role, trouble router.Reason) {
	if role == n.role && trouble == n.trouble {
		return
	}
	switch trouble {
	case router.ReasonNone:
		c.cfg.Logger.Info("pgryw: server is in use", "server", n.cfg.Label, "role", role.String())
	case router.ReasonUnreachable:
		c.cfg.Logger.Warn("pgryw: server cannot be reached", "server", n.cfg.Label, "role", role.String(), "error", n.err)
	default:
		c.cfg.Logger.Warn("pgryw: server is not used", "server", n.cfg.Label, "role", role.String(), "reason", trouble.String())
	}
}

// publish makes what is known the newest snapshot. The caller holds c.mu.
func (c *Cluster) publish() {
	s := &router.Snapshot{
		Single:   c.single(),
		System:   c.found.system,
		Timeline: c.found.timeline,
		Primary:  c.found.primary,
		Nodes:    make([]router.Node, len(c.nodes)),
		History:  c.history,
	}
	for i, n := range c.nodes {
		s.Nodes[i] = router.Node{Label: n.cfg.Label, Role: n.role, Trouble: n.trouble, Lag: n.lag}
		if held := n.pair.Load(); held != nil && held.server == n.last.server {
			s.Nodes[i].Pair = held.Pair
		}
	}
	c.snapshot.Store(s)
}
