package topology

import (
	"slices"
	"testing"

	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// scene is what is known of some nodes, and what that adds up to.
type scene struct {
	nodes []account
	found found
	now   int // in milliseconds
}

func newScene(nodes int) *scene {
	return &scene{nodes: make([]account, nodes), found: found{primary: -1}}
}

// says has a node answer a probe.
func (s *scene) says(node int, server server, recovering bool, timeline uint32) {
	s.now += 10
	s.nodes[node].asked = true
	s.nodes[node].hear(report{
		server: server, recovering: recovering, asked: ms(s.now), answered: ms(s.now + 5),
		position: lsn.Position{System: server.system, Timeline: timeline, LSN: 1},
	})
	s.found = s.found.next(s.nodes)
}

// fails has a node not answer.
func (s *scene) fails(node int) {
	s.now += 10
	s.nodes[node].asked, s.nodes[node].reached = true, false
	s.found = s.found.next(s.nodes)
}

// is checks who is primary, on which timeline, and what the nodes are.
func (s *scene) is(t *testing.T, what string, primary int, timeline uint32, want ...standing) {
	t.Helper()
	got := make([]standing, len(s.nodes))
	for i := range s.nodes {
		got[i] = s.found.standingOf(s.nodes, i)
	}
	if s.found.primary != primary || s.found.timeline != timeline || !slices.Equal(got, want) {
		t.Errorf("%s: primary %d on timeline %d, nodes %v, want %d on %d, %v", what, s.found.primary, s.found.timeline, got, primary, timeline, want)
	}
}

// Standings.
var (
	isPrimary   = standing{router.RolePrimary, router.ReasonNone}
	isReplica   = standing{router.RoleReplica, router.ReasonNone}
	isSplit     = standing{router.RoleReplica, router.ReasonSplit}
	isDeposed   = standing{router.RoleUnknown, router.ReasonDeposed}
	isAlias     = standing{router.RoleUnknown, router.ReasonAlias}
	isGone      = standing{router.RoleUnknown, router.ReasonUnreachable}
	lostPrimary = standing{router.RolePrimary, router.ReasonUnreachable}
	lostReplica = standing{router.RoleReplica, router.ReasonUnreachable}
)

// run returns one run of a server of cluster 7.
func run(started string) server {
	return server{system: 7, started: started, addr: "10.0.0.1", port: "5432"}
}

func TestNodesAreWhatTheySay(t *testing.T) {
	s := newScene(3)
	s.is(t, "before any answer", -1, 0, undiscovered, undiscovered, undiscovered)
	s.says(1, run("b"), true, 1)
	s.is(t, "a replica alone", -1, 0, undiscovered, isReplica, undiscovered)
	s.fails(2)
	s.is(t, "a node that never answered", -1, 0, undiscovered, isReplica, isGone)
	s.says(0, run("a"), false, 1)
	s.is(t, "the primary", 0, 1, isPrimary, isReplica, isGone)
	s.says(2, run("c"), true, 1)
	s.is(t, "all of them", 0, 1, isPrimary, isReplica, isReplica)
}

func TestAPrimaryThatDoesNotAnswerStaysOneUntilAnotherHasBecomeOne(t *testing.T) {
	s := newScene(2)
	s.says(0, run("a"), false, 1)
	s.says(1, run("b"), true, 1)
	s.fails(0)
	s.fails(1)
	s.is(t, "nobody answers", 0, 1, lostPrimary, lostReplica)
	s.says(1, run("b"), false, 2)
	s.is(t, "the other was promoted", 1, 2, isGone, isPrimary)
	s.says(0, run("a"), false, 1)
	s.is(t, "the old one is back as it was", 1, 2, isDeposed, isPrimary)
	s.fails(1)
	s.is(t, "the new one does not answer", 1, 2, isDeposed, lostPrimary)
	s.says(0, run("a2"), true, 2)
	s.says(1, run("b"), false, 2)
	s.is(t, "the old one is a replica", 1, 2, isReplica, isPrimary)
}

func TestAPrimaryMayBeDemoted(t *testing.T) {
	s := newScene(2)
	s.says(0, run("a"), false, 1)
	s.says(1, run("b"), true, 1)
	s.says(0, run("a2"), true, 1)
	s.is(t, "no primary is left", -1, 0, isReplica, isReplica)
	s.says(1, run("b"), false, 2)
	s.is(t, "the roles are exchanged", 1, 2, isReplica, isPrimary)
}

func TestTheFirstPrimaryDecidesWhichClusterItIs(t *testing.T) {
	other := server{system: 8, started: "x"}
	foreignReplica := standing{router.RoleReplica, router.ReasonForeign}
	foreign := standing{router.RoleUnknown, router.ReasonForeign}
	s := newScene(3)
	s.says(0, other, true, 1)
	s.is(t, "nothing is decided", -1, 0, isReplica, undiscovered, undiscovered)
	s.says(1, run("a"), false, 1)
	s.is(t, "the first primary", 1, 1, foreignReplica, isPrimary, undiscovered)
	s.says(2, server{system: 8, started: "y"}, false, 9)
	s.is(t, "a primary of another cluster, further on", 1, 1, foreignReplica, isPrimary, foreign)
	s.fails(1)
	s.is(t, "while it does not answer", 1, 1, foreignReplica, lostPrimary, foreign)
	s.says(1, server{system: 8, started: "z"}, true, 9)
	if s.found.system != 8 || s.found.primary != 2 {
		t.Errorf("all servers are of cluster 8: system %d, primary %d", s.found.system, s.found.primary)
	}
}

// TestAddressesOfOneServerAreOneNode has nodes 0 and 2 lead to one server, in
// both orders of their answers.
func TestAddressesOfOneServerAreOneNode(t *testing.T) {
	for _, order := range [][]int{{0, 2, 1}, {2, 0, 1}, {2, 1, 0}} {
		s := newScene(3)
		for _, node := range order {
			s.says(node, run([]string{"a", "b", "a"}[node]), node == 1, 1)
		}
		s.is(t, "all have answered", 0, 1, isPrimary, isReplica, isAlias)
		s.fails(0)
		s.is(t, "the first address is gone", 2, 1, isGone, isReplica, isPrimary)
		s.says(0, run("a"), false, 1)
		s.is(t, "it is back", 0, 1, isPrimary, isReplica, isAlias)
	}
	s := newScene(2)
	s.says(0, run("a"), true, 1)
	s.says(1, run("a"), true, 1)
	s.is(t, "a replica named twice", -1, 0, isReplica, standing{router.RoleReplica, router.ReasonAlias})
}

// TestARestartIsNoSplit restarts a server that has two addresses, of which one
// is asked before the other has noticed.
func TestARestartIsNoSplit(t *testing.T) {
	for _, first := range []int{0, 1} {
		s := newScene(3)
		s.says(0, run("a"), false, 1)
		s.says(1, run("a"), false, 1)
		s.says(2, run("c"), true, 1)
		s.says(first, run("a2"), false, 1)
		if s.found.split {
			t.Errorf("node %d was asked again: a split", first)
		}
		s.says(2, run("c"), true, 1)
		if got := s.found.standingOf(s.nodes, 2); got != isReplica {
			t.Errorf("node %d was asked again: the replica is %v", first, got)
		}
		s.says(1-first, run("a2"), false, 1)
		s.is(t, "both were asked again", 0, 1, isPrimary, isAlias, isReplica)
		if first == 0 {
			continue
		}
		s.says(0, run("a3"), false, 1) // once more, with the other address cut off meanwhile
		s.fails(1)
		s.fails(0)
		s.says(1, run("a4"), false, 1)
		s.is(t, "the second address alone", 1, 1, isGone, isPrimary, isReplica)
	}
}

// TestTwoPrimariesAtATimeAreASplit has two servers on one timeline, each asked
// after the other had first said so.
func TestTwoPrimariesAtATimeAreASplit(t *testing.T) {
	s := newScene(3)
	s.says(0, run("a"), false, 2)
	s.says(2, run("c"), true, 2)
	s.says(1, run("b"), false, 2)
	s.says(0, run("a"), false, 2)
	s.is(t, "both are there", 0, 2, isPrimary, isDeposed, isSplit)
	s.fails(1)
	s.is(t, "the second is gone", 0, 2, isPrimary, isGone, isSplit)
	s.fails(0)
	s.says(1, run("b"), false, 2)
	s.is(t, "the first is gone", 1, 2, isGone, isPrimary, isSplit)
	s.says(2, run("c"), false, 3)
	s.says(1, run("b2"), true, 3)
	s.is(t, "a new timeline", 2, 3, isGone, isReplica, isPrimary)
}

// TestASecondPrimaryOfATimelineIsASplitThoughTheFirstIsGone has two servers that
// were never seen at one time.
func TestASecondPrimaryOfATimelineIsASplitThoughTheFirstIsGone(t *testing.T) {
	s := newScene(3)
	s.says(0, run("a"), false, 2)
	s.says(1, run("b"), true, 2)
	s.says(2, run("c"), true, 2)
	s.fails(0)
	s.says(1, run("b"), false, 2)
	s.is(t, "the second", 1, 2, isGone, isPrimary, isSplit)
	s.says(1, run("b2"), false, 2)
	s.is(t, "it was restarted", 1, 2, isGone, isPrimary, isSplit)
}

// TestAFailoverIsNoSplit goes through three timelines with three servers.
func TestAFailoverIsNoSplit(t *testing.T) {
	s := newScene(3)
	for i, name := range []string{"a", "b", "c"} {
		s.says(i, run(name), i > 0, 1)
	}
	for i, name := range []string{"b", "c"} {
		s.fails(i)
		s.says(i+1, run(name), false, uint32(i+2))
		if s.found.split || s.found.primary != i+1 {
			t.Errorf("timeline %d: split %t, primary %d", i+2, s.found.split, s.found.primary)
		}
	}
}
