package router

import (
	"time"

	"github.com/pgryw/pgryw/lsn"
)

// Request is one statement that wants a server.
type Request struct {
	Statement Statement
	// Hint is the context's hint.
	Hint Hint
	// Need is the fence that the statement must see if it is a read.
	Need lsn.State
	// Pins is what keeps the checkout on its primary connection.
	Pins Pin
	// Remembered is set if a statement of the same text has turned out to write.
	Remembered bool
	// Turn spreads reads over replicas that are equally good: any number that
	// differs from call to call.
	Turn uint64
	// Now is the instant of the decision.
	Now time.Time
}

// NodePrimary is the Decision.Node of a statement for the primary, whichever
// server that turns out to be.
const NodePrimary = -1

// Decision is where a statement runs, and why.
type Decision struct {
	// Node is the index of a replica in the snapshot, or NodePrimary.
	Node int
	// Label is the label of that replica, or of the primary if one is known.
	Label  string
	Reason Reason
	Class  Class
	Cause  Cause
	// Wait is how long the read may wait for the replica WaitFor to replay its
	// fence before it goes to the primary; zero is not at all.
	Wait    time.Duration
	WaitFor int
}

// Replica reports whether the decision sends its statement to a replica.
func (d Decision) Replica() bool { return d.Node != NodePrimary }

// ToPrimary returns the decision changed in favour of the primary.
func (d Decision) ToPrimary(s *Snapshot, why Reason) Decision {
	d.Node, d.Label, d.Reason, d.Wait = NodePrimary, s.primaryLabel(), why, 0
	return d
}

// ToReplica returns the decision changed in favour of a replica.
func (d Decision) ToReplica(s *Snapshot, node int, why Reason) Decision {
	d.Node, d.Label, d.Reason, d.Wait = node, s.Nodes[node].Label, why, 0
	return d
}

func (s *Snapshot) primaryLabel() string {
	if s.Primary < 0 {
		return ""
	}
	return s.Nodes[s.Primary].Label
}

// Decide chooses the server of one statement outside a transaction. A replica
// is chosen only if it is known, or by its usual lag expected, to have
// replayed the fence; whoever carries the decision out must guard the read
// unless the replica is known fresh on the very connection.
//
// Cost: no allocation, no lock. Concurrency: pure.
func Decide(s *Snapshot, p *Policy, r *Request) Decision {
	d := Decision{Node: NodePrimary, Class: r.Statement.Class, Cause: r.Statement.Why}
	if why := mustStay(s, p, r); why != ReasonNone {
		return d.ToPrimary(s, why)
	}
	return d.choose(s, p, r)
}

// mustStay returns why a statement has to run on the primary whatever the
// replicas have replayed, or ReasonNone.
func mustStay(s *Snapshot, p *Policy, r *Request) Reason {
	switch {
	case s.Single:
		return ReasonSingleNode
	case r.Pins&PinTx != 0:
		return ReasonTransaction
	case r.Pins != 0:
		return ReasonPinned
	}
	asksReplica := r.Hint == HintReplica || r.Statement.Hint == HintReplica
	switch r.Statement.Class {
	case ClassRead:
	case ClassVolatile:
		if p.Volatile != VolatileReplica && !asksReplica {
			return ReasonVolatile
		}
	case ClassLocal:
		return ReasonLocal
	case ClassSession:
		return ReasonSession
	case ClassControl:
		return ReasonControl
	default:
		return ReasonWrite
	}
	return mayLeave(p, r.Hint == HintPrimary || r.Statement.Hint == HintPrimary, asksReplica, r.Remembered)
}

// mayLeave returns why a read may not leave the primary, or ReasonNone.
func mayLeave(p *Policy, asksPrimary, asksReplica, remembered bool) Reason {
	switch {
	case p.Route == RouteOff:
		return ReasonRouteOff
	case asksPrimary:
		return ReasonHint
	case p.Route != RouteAuto && !asksReplica:
		return ReasonNotHinted
	case remembered:
		return ReasonRemembered
	}
	return ReasonNone
}

// TxRequest is one BeginTx that wants a server.
type TxRequest struct {
	ReadOnly     bool
	Serializable bool
	Hint         Hint
	Need         lsn.State
	Pins         Pin
	Turn         uint64
	Now          time.Time
}

// DecideTx chooses the server of a whole transaction. Only a read-only one may
// run on a replica, and not a serializable one, which a standby refuses.
//
// Cost: no allocation, no lock. Concurrency: pure.
func DecideTx(s *Snapshot, p *Policy, r *TxRequest) Decision {
	d := Decision{Node: NodePrimary, Class: ClassControl}
	var why Reason
	switch {
	case s.Single:
		why = ReasonSingleNode
	case r.Pins != 0:
		why = ReasonPinned
	case !r.ReadOnly:
		why = ReasonReadWriteTx
	case r.Serializable:
		why = ReasonSerializable
	case p.ReadOnlyTx != ReadOnlyTxReplica:
		why = ReasonReadOnlyTx
	default:
		why = mayLeave(p, r.Hint == HintPrimary, r.Hint == HintReplica, false)
	}
	if why != ReasonNone {
		return d.ToPrimary(s, why)
	}
	return d.choose(s, p, &Request{Need: r.Need, Turn: r.Turn, Now: r.Now})
}

// choose picks a replica for a read that may leave the primary.
func (d Decision) choose(s *Snapshot, p *Policy, r *Request) Decision {
	if why := unsettled(s, r.Need); why != ReasonNone {
		return d.ToPrimary(s, why)
	}
	good, candidates, usable := ReasonNone, 0, 0
	for i := range s.Nodes {
		fit := s.fit(&s.Nodes[i], r)
		switch {
		case fit == ReasonNoReplica:
			continue
		case fit == ReasonBehind:
		case good == ReasonNone || better(fit, good):
			good, candidates = fit, 1
		case fit == good:
			candidates++
		}
		usable++
	}
	switch {
	case usable == 0:
		return d.ToPrimary(s, ReasonNoReplica)
	case candidates == 0:
		d = d.ToPrimary(s, ReasonBehind)
		if node, left := s.nearest(r, p.Wait); node >= 0 && left <= p.Wait {
			d.Wait, d.WaitFor = p.Wait, node
		}
		return d
	}
	turn := int(r.Turn % uint64(candidates))
	for i := range s.Nodes {
		if s.fit(&s.Nodes[i], r) != good {
			continue
		}
		if turn == 0 {
			d.Node, d.Label, d.Reason = i, s.Nodes[i].Label, good
			return d
		}
		turn--
	}
	return d.ToPrimary(s, ReasonNoReplica)
}

// unsettled returns why no replica can be compared with the fence, or
// ReasonNone.
func unsettled(s *Snapshot, need lsn.State) Reason {
	switch {
	case need.Uncertain():
		return ReasonUncertain
	case s.Primary < 0 || s.System == 0:
		return ReasonNoPrimary
	case need.Position.IsZero():
		return ReasonNone
	case need.Position.System != s.System:
		return ReasonSystem
	case need.Position.Timeline != s.Timeline:
		return ReasonTimeline
	}
	return ReasonNone
}

// fit returns how good a node is for a read: ReasonUnfenced, ReasonFresh,
// ReasonExpected; ReasonBehind if it is not; ReasonNoReplica if it cannot serve
// any read.
func (s *Snapshot) fit(n *Node, r *Request) Reason {
	need := r.Need.Position
	switch {
	case n.Role != RoleReplica || n.Trouble != ReasonNone:
		return ReasonNoReplica
	case need.IsZero():
		return ReasonUnfenced
	case n.Pair.Position.Reaches(need):
		return ReasonFresh
	case n.Pair.Position.System != need.System || n.Pair.Position.Timeline != need.Timeline:
		return ReasonBehind
	case n.Lag >= 0 && !n.stalled() && s.age(need.LSN, r.Now) > n.Lag:
		return ReasonExpected
	}
	return ReasonBehind
}

// nearest returns the replica that by its usual lag will be the first to have
// replayed the fence, and how long that will take; -1 if none is known to. One
// that has stood still for longer than the budget is none.
func (s *Snapshot) nearest(r *Request, budget time.Duration) (node int, left time.Duration) {
	node = -1
	need := r.Need.Position
	age := s.age(need.LSN, r.Now)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		at := n.Pair.Position
		if s.fit(n, r) != ReasonBehind || n.Lag < 0 || at.System != need.System || at.Timeline != need.Timeline {
			continue
		}
		if n.stalled() && n.Behind > budget {
			continue
		}
		if l := max(n.Lag-age, 0); node < 0 || l < left {
			node, left = i, l
		}
	}
	return node, left
}

// better reports whether a fits a read better than b.
func better(a, b Reason) bool { return a == ReasonFresh && b == ReasonExpected }
