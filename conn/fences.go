package conn

import (
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// fences are the two fences of one checkout. base is what the handle had
// written when the checkout bound, and what its own connection wrote since; own
// is the latter alone.
type fences struct {
	bound bool
	base  lsn.State
	own   lsn.State
}

// bind starts the checkout's view, at the first call that runs something.
func (c *Conn) bind() {
	if c.bound {
		return
	}
	c.bound = true
	c.base = c.h.all.Load()
	if c.h.policy.Scope != router.ScopeConn {
		c.own = lsn.State{}
	}
}

// unbind ends it, at either bracket of the checkout. A connection that keeps
// its own fence from one checkout to the next is what scope conn is.
func (c *Conn) unbind() {
	c.bound = false
	c.base = lsn.State{}
	if c.h.policy.Scope != router.ScopeConn {
		c.own = lsn.State{}
	}
}

// need returns the fence of a read made now by session, which may be nil.
func (c *Conn) need(session *lsn.Session) lsn.State {
	switch {
	case session != nil:
		system := c.h.cluster.Snapshot().System
		return c.own.Max(session.Fence(system).Load()).Max(c.h.unattributed.Load())
	case c.h.policy.Scope == router.ScopeConn:
		return c.own
	case !c.brackets.seen():
		return c.base.Max(c.h.all.Load())
	}
	return c.base
}

// raise makes known that what the authors wrote lies at or before p. before is
// the newest number when the flight of the capture began.
func (c *Conn) raise(p lsn.Position, before lsn.Number, by *authors) {
	c.own = c.own.Raise(p, before)
	c.base = c.base.Raise(p, before)
	c.h.all.Raise(p, before)
	if by.unsigned {
		c.h.unattributed.Raise(p, before)
	}
	by.each(func(s *lsn.Session) { s.Fence(p.System).Raise(p, before) })
}

// doubt makes everything that the authors' write would have raised uncertain.
// Call it when the flight has ended or is given up, not before.
func (c *Conn) doubt(system uint64, by *authors) {
	n, floor := lsn.NextNumber(), c.h.floor(system)
	c.doubtOwn(floor, n)
	c.h.doubt(floor, n, by.unsigned)
	by.each(func(s *lsn.Session) { doubtFence(s.Fence(system), floor, n) })
}

// doubtOwn makes the connection's fences uncertain by what was numbered n.
func (c *Conn) doubtOwn(floor lsn.Position, n lsn.Number) {
	c.own = c.own.Raise(floor, 0).WithDoubt(n)
	c.base = c.base.Raise(floor, 0).WithDoubt(n)
}

// doubt makes the handle's fences uncertain by what was numbered n.
func (h *Handle) doubt(floor lsn.Position, n lsn.Number, unsigned bool) {
	h.counters.uncertain.Add(1)
	doubtFence(&h.all, floor, n)
	if unsigned {
		doubtFence(&h.unattributed, floor, n)
	}
}

// floor returns where a doubt lifts fences to, before it makes them uncertain:
// the primary's timeline. A capture on a former primary must not lift what was
// written on this one.
func (h *Handle) floor(system uint64) lsn.Position {
	return lsn.Position{System: system, Timeline: h.cluster.Snapshot().Timeline}
}

func doubtFence(f *lsn.Fence, floor lsn.Position, n lsn.Number) {
	f.Raise(floor, 0)
	f.Doubt(n)
}

// repair raises the fences that sent a read of session to the primary, after
// that read carried a capture at p: those in doubt, and those of an older
// timeline.
func (c *Conn) repair(p lsn.Position, before lsn.Number, session *lsn.Session) {
	stale := func(s lsn.State) bool {
		return s.Uncertain() || !s.Position.IsZero() && s.Position.Timeline < p.Timeline
	}
	if stale(c.own) {
		c.own = c.own.Raise(p, before)
	}
	if stale(c.base) {
		c.base = c.base.Raise(p, before)
	}
	shared := []*lsn.Fence{&c.h.all, &c.h.unattributed, nil}
	if session != nil {
		shared[2] = session.Fence(p.System)
	}
	for _, f := range shared {
		if f != nil && stale(f.Load()) {
			f.Raise(p, before)
		}
	}
}
