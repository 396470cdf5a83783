package conn

import (
	"testing"

	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// at is a position of the servers of newHandle.
func at(timeline uint32, l lsn.LSN) lsn.Position { return lsn.Position{Timeline: timeline, LSN: l} }

func newSession(t *testing.T) *lsn.Session {
	t.Helper()
	return lsn.SessionFrom(lsn.NewSession(t.Context()))
}

// TestAWriteFencesWhomItShould has one connection write at 50, located or not,
// and asks what a read needs then.
func TestAWriteFencesWhomItShould(t *testing.T) {
	const db, conn = router.ScopeDB, router.ScopeConn
	for _, tt := range []struct {
		scope   router.Scope
		writer  string // session; empty is none
		on      string // the reader's connection
		reader  string // session
		fenced  bool
		because string
	}{
		{db, "", "same", "", true, "a connection sees its writes"},
		{db, "", "bound before", "", false, "a checkout is not disturbed by later writes"},
		{db, "", "bound behind", "", true, "a checkout begins with all writes"},
		{db, "", "bound before", "B", true, "unsigned writes disturb every session"},
		{db, "A", "bound behind", "", true, "signed writes are writes of the handle"},
		{db, "A", "bound before", "A", true, "a session sees its writes from anywhere"},
		{db, "A", "bound behind", "B", false, "sessions do not disturb each other"},
		{db, "A", "same", "B", true, "a connection sees its writes, whoever reads"},
		{conn, "", "same", "", true, "a connection sees its writes"},
		{conn, "", "bound behind", "", false, "and no other's"},
		{conn, "", "bound before", "B", true, "unsigned writes disturb every session"},
		{conn, "A", "bound behind", "A", true, "a session sees its writes from anywhere"},
	} {
		for _, located := range []bool{true, false} {
			h := newHandle(t, router.Policy{Scope: tt.scope}, "a", "b")
			h.brackets.valid.Store(true)
			sessions := map[string]*lsn.Session{"A": newSession(t), "B": newSession(t)}
			conns := map[string]*Conn{"same": h.Connect(), "bound before": h.Connect(), "bound behind": h.Connect()}
			conns["bound before"].bind()
			conns["same"].bind()
			by := authorOf(sessions[tt.writer])
			if located {
				conns["same"].raise(at(1, 50), lsn.LastNumber(), &by)
			} else {
				conns["same"].doubt(0, &by)
			}
			conns["bound behind"].bind()
			need := conns[tt.on].need(sessions[tt.reader])
			switch {
			case !tt.fenced && !need.IsZero(),
				tt.fenced && located && need != (lsn.State{Position: at(1, 50)}),
				tt.fenced && !located && !need.Uncertain():
				t.Errorf("%s: scope %v, located %t: got %v", tt.because, tt.scope, located, need)
			}
		}
	}
}

// TestACheckoutEndsWhereTheNextBegins unbinds at either bracket: only a
// connection that is its own scope keeps what it wrote.
func TestACheckoutEndsWhereTheNextBegins(t *testing.T) {
	for scope, want := range map[router.Scope]lsn.State{
		router.ScopeDB:   {},
		router.ScopeConn: {Position: at(1, 50)},
	} {
		h := newHandle(t, router.Policy{Scope: scope}, "a", "b")
		by := authorOf(newSession(t))
		for name, bracket := range map[string]func(*Conn){
			"ResetSession": func(c *Conn) { _ = c.ResetSession(t.Context()) },
			"IsValid":      func(c *Conn) { c.IsValid() },
		} {
			c := h.Connect()
			c.bind()
			c.raise(at(1, 50), lsn.LastNumber(), &by)
			bracket(c)
			if c.bound || c.own != want || !c.base.IsZero() {
				t.Errorf("%s, scope %v: got own %v, base %v, bound %t; want own %v", name, scope, c.own, c.base, c.bound, want)
			}
			c.bind()
			if c.own != want || c.base.Position != at(1, 50) {
				t.Errorf("%s, scope %v, bound again: got own %v, base %v", name, scope, c.own, c.base)
			}
		}
	}
}

// TestWithoutBracketsAReadNeedsAllWrites reads on a connection whose checkout
// may have ended without a sign.
func TestWithoutBracketsAReadNeedsAllWrites(t *testing.T) {
	h := newHandle(t, router.Policy{}, "a", "b")
	c, other := h.Connect(), h.Connect()
	c.bind()
	by := authorOf(nil)
	other.raise(at(1, 50), lsn.LastNumber(), &by)
	if need := c.need(nil); need.Position != at(1, 50) {
		t.Errorf("before a bracket was seen: got %v, want 50", need)
	}
	other.IsValid()
	if need := c.need(nil); !need.IsZero() {
		t.Errorf("once one was: got %v, want nothing", need)
	}
	if need := h.Open().need(nil); need.Position != at(1, 50) {
		t.Errorf("a connection of Driver.Open: got %v, want 50: what is seen on others says nothing of it", need)
	}
}

// TestACaptureLiftsDoubtsThatItCovers mends a doubt by a capture whose flight
// began behind it, and not by one that began before.
func TestACaptureLiftsDoubtsThatItCovers(t *testing.T) {
	h := newHandle(t, router.Policy{}, "a", "b")
	c, session := h.Connect(), newSession(t)
	c.bind()
	early := lsn.LastNumber()
	by := authorOf(session)
	c.doubt(0, &by)
	c.repair(at(1, 50), early, session)
	if !c.need(session).Uncertain() || !h.all.Load().Uncertain() {
		t.Error("a capture that was under way lifted the doubt")
	}
	c.repair(at(1, 60), lsn.LastNumber(), session)
	for name, got := range map[string]lsn.State{
		"own": c.own, "base": c.base, "all": h.all.Load(), "session": session.Fence(0).Load(),
	} {
		if got != (lsn.State{Position: at(1, 60)}) {
			t.Errorf("%s: got %v, want 60 for certain", name, got)
		}
	}
	if got := h.unattributed.Load(); !got.IsZero() {
		t.Errorf("unattributed: got %v, want nothing: it was not in doubt", got)
	}
}

// TestAMendLeavesSettledFencesAlone raises only what is in doubt, or of an older
// timeline.
func TestAMendLeavesSettledFencesAlone(t *testing.T) {
	h := newHandle(t, router.Policy{}, "a", "b")
	c, session := h.Connect(), newSession(t)
	c.bind()
	h.all.Raise(at(2, 10), 0)
	h.unattributed.Raise(at(1, 90), 0)
	session.Fence(0).Raise(at(2, 20), 0)
	c.repair(at(2, 60), lsn.LastNumber(), session)
	for name, got := range map[string][2]lsn.Position{
		"all":          {h.all.Load().Position, at(2, 10)},
		"unattributed": {h.unattributed.Load().Position, at(2, 60)},
		"session":      {session.Fence(0).Load().Position, at(2, 20)},
		"own":          {c.own.Position, {}},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: got %v, want %v", name, got[0], got[1])
		}
	}
}

// TestADoubtIsOnThePrimarysTimeline has a raw connection, and a statement, leave
// a doubt, which no capture on an older timeline may lift.
func TestADoubtIsOnThePrimarysTimeline(t *testing.T) {
	h := newHandle(t, router.Policy{}, "a", "b")
	c := h.Connect()
	c.bind()
	floor, by := at(2, 0), authorOf(nil)
	n := lsn.NextNumber()
	c.doubtOwn(floor, n)
	h.doubt(floor, n, true)
	c.raise(at(1, 900), lsn.LastNumber(), &by)
	for name, got := range map[string]lsn.State{"own": c.own, "base": c.base, "all": h.all.Load(), "unattributed": h.unattributed.Load()} {
		if !got.Uncertain() || got.Position.Timeline != 2 {
			t.Errorf("%s: got %v, want that a capture on timeline 1 changes nothing", name, got)
		}
	}
}
