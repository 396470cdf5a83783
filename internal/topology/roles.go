package topology

import (
	"maps"
	"slices"
	"time"

	"github.com/pgryw/pgryw/router"
)

// account is what one node's probes have brought back.
type account struct {
	asked   bool   // a probe has ended, one way or the other
	reached bool   // the last one had an answer
	last    report // the last answer
	// since is when the server had first answered that it is what last says: on
	// the same timeline, in recovery or not.
	since time.Time
}

// hear takes in an answer.
func (a *account) hear(r report) {
	was := &a.last
	if was.server != r.server || was.recovering != r.recovering || was.position.Timeline != r.position.Timeline {
		a.since = r.answered
	}
	a.reached, a.last = true, r
}

// overlaps reports whether two servers are proven to have been what they say at
// one time: each was asked after the other had first said so. What is known of a
// server that has been restarted may be older than that.
func (a *account) overlaps(b *account) bool {
	return a.reached && b.reached && !a.last.asked.Before(b.since) && !b.last.asked.Before(a.since)
}

// standing is what a node is, and why it is not to be used, if so.
type standing struct {
	role    router.Role
	trouble router.Reason
}

var undiscovered = standing{trouble: router.ReasonUndiscovered}

// writable reports whether the node was last seen out of recovery.
func (a *account) writable() bool { return a.last.server.system != 0 && !a.last.recovering }

// found is what the nodes' accounts add up to. It is immutable.
type found struct {
	system   uint64 // of the first primary found; zero before
	primary  int    // index, or -1
	timeline uint32 // the primary's
	server   server // the primary's
	split    bool   // another server is, or was, primary on the primary's timeline
	// reigns are the primaries that there have been, by timeline.
	reigns map[uint32]reign
}

// reign is who was primary on a timeline.
type reign struct {
	server server // as it was last seen
	nodes  []int  // its addresses
	split  bool   // there was another
}

// next returns what the nodes' accounts add up to, given what they did before.
//
// The primary is the node on the highest timeline among those that were last
// seen writable. A primary that cannot be reached stays the primary until
// another node has become one: a server that does not answer is not thereby
// demoted.
func (f found) next(nodes []account) found {
	next := found{system: f.systemOf(nodes), primary: -1}
	if next.system == f.system {
		next.reigns = f.reigns
	}
	var rivals, suspects bool
	for i := range nodes {
		n := &nodes[i]
		if !n.writable() || n.last.server.system != next.system || aliasOf(nodes, i) >= 0 {
			continue
		}
		timeline := n.last.position.Timeline
		switch {
		case next.primary < 0 || timeline > next.timeline:
			next.primary, next.timeline, rivals, suspects = i, timeline, false, false
		case timeline == next.timeline:
			rivals = rivals || n.overlaps(&nodes[next.primary])
			if f.prefers(nodes, i, next.primary) {
				next.primary = i
			}
		}
		if timeline == next.timeline {
			suspects = suspects || next.reigns[timeline].stranger(i, n)
		}
	}
	if next.primary >= 0 {
		next.server = nodes[next.primary].last.server
		next.crown(nodes, rivals)
		next.split = next.proven() || suspects
	}
	return next
}

// stranger reports whether node i is, as far as is known, not the server whose
// reign it is.
func (r reign) stranger(i int, n *account) bool {
	return len(r.nodes) > 0 && !slices.Contains(r.nodes, i) && !r.server.sameRun(n.last.server)
}

// proven reports whether two servers have been primary on the primary's
// timeline.
func (f *found) proven() bool { return f.reigns[f.timeline].split }

// prefers reports whether i is rather the primary than j, which is on the same
// timeline: the one that can be reached, or else the one that is known already.
func (f found) prefers(nodes []account, i, j int) bool {
	if nodes[i].reached != nodes[j].reached {
		return nodes[i].reached
	}
	return i == f.primary
}

// crown records the primary's reign, and finds out whether it is undisputed. A
// node that becomes primary on a timeline on which another server was primary
// has another history under the same name; nobody can tell which of the two a
// replica has followed, not even after one of them is gone.
func (f *found) crown(nodes []account, rivals bool) {
	was, known := f.reigns[f.timeline]
	now := reign{server: f.server, nodes: was.nodes}
	now.split = was.split || rivals || was.stranger(f.primary, &nodes[f.primary])
	if !now.split {
		for i := range nodes {
			mine := i == f.primary || nodes[i].last.server.sameRun(f.server)
			if mine && !slices.Contains(now.nodes, i) {
				now.nodes = append(slices.Clone(now.nodes), i)
			}
		}
	}
	if !known || now.server != was.server || now.split != was.split || len(now.nodes) != len(was.nodes) {
		f.reigns = maps.Clone(f.reigns)
		if f.reigns == nil {
			f.reigns = make(map[uint32]reign)
		}
		f.reigns[f.timeline] = now
	}
}

// systemOf returns the cluster's system identifier: that of the first primary
// found, until all nodes have another, as after pg_upgrade.
func (f found) systemOf(nodes []account) uint64 {
	var candidate uint64
	for i := range nodes {
		n := &nodes[i]
		if f.system != 0 && (!n.reached || n.last.server.system == f.system) {
			return f.system
		}
		if candidate == 0 && n.reached && n.writable() {
			candidate = n.last.server.system
		}
	}
	if candidate == 0 {
		return f.system
	}
	return candidate
}

// aliasOf returns the index of an earlier node that is the same server, or -1.
func aliasOf(nodes []account, i int) int {
	for j := range nodes[:i] {
		if nodes[i].reached && nodes[j].reached && nodes[i].last.server.sameRun(nodes[j].last.server) {
			return j
		}
	}
	return -1
}

// standingOf says what node i is.
func (f found) standingOf(nodes []account, i int) standing {
	n := &nodes[i]
	role := router.RoleUnknown
	switch {
	case n.last.server.system == 0:
	case n.last.recovering:
		role = router.RoleReplica
	case i == f.primary:
		role = router.RolePrimary
	}
	switch {
	case !n.asked:
		return undiscovered
	case !n.reached:
		return standing{role, router.ReasonUnreachable}
	case f.system != 0 && n.last.server.system != f.system:
		return standing{role, router.ReasonForeign}
	case aliasOf(nodes, i) >= 0:
		return standing{role, router.ReasonAlias}
	case role == router.RoleUnknown:
		return standing{role, router.ReasonDeposed}
	case f.split && role == router.RoleReplica:
		return standing{role, router.ReasonSplit}
	}
	return standing{role, router.ReasonNone}
}
