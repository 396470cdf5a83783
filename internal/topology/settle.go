package topology

import "github.com/pgryw/pgryw/router"

// settle finds out anew what the nodes are, ends the eras of those that have
// become something else, and returns what is to be said of it. The caller holds
// c.mu.
func (c *Cluster) settle() []note {
	accounts := make([]account, len(c.nodes))
	for i, n := range c.nodes {
		accounts[i] = n.account
	}
	was := c.found
	c.found = was.next(accounts)
	var notes []note
	if c.found.timeline != was.timeline || c.found.system != was.system {
		c.history = nil // positions of another timeline say nothing of this one
	}
	changed := false
	for i, n := range c.nodes {
		now := c.found.standingOf(accounts, i)
		if now.role != n.role || n.last.server != n.era.Load().server {
			n.turn(now.role)
		}
		if now != n.standing {
			changed = true
			if still := now.trouble == n.trouble && now.trouble != router.ReasonNone; !still {
				notes = append(notes, noteStanding(n, now, c.found.timeline))
			}
			n.standing = now
			signal(n.short)
		}
	}
	if was.system != 0 && c.found.system != was.system {
		notes = append(notes, noteSystem(was.system, c.found.system))
	}
	if c.found.proven() && !(was.proven() && was.timeline == c.found.timeline) {
		notes = append(notes, noteSplit(c.found.timeline))
	}
	if changed {
		close(c.news)
		c.news = make(chan struct{})
	}
	return notes
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
		s.Nodes[i] = router.Node{Label: n.cfg.Label, Role: n.role, Trouble: n.trouble, Lag: n.lag.usual, Behind: n.lag.behind}
		if held := n.pair.Load(); held != nil && held.server == n.last.server {
			s.Nodes[i].Pair = held.Pair
		}
	}
	c.snapshot.Store(s)
}

// greet takes in what a single node's server says of itself when a connection
// is made; nobody probes it.
func (c *Cluster) greet(id identity, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[0]
	n.asked, n.err = true, err
	if err != nil {
		return
	}
	role := router.RolePrimary
	if id.recovering {
		role = router.RoleReplica
	}
	now := standing{role, router.ReasonNone}
	if now != n.standing || c.found.system != id.server.system {
		n.standing = now
		n.last.server = id.server
		c.found.system = id.server.system
		c.publish()
	}
}
