package router

import (
	"time"

	"github.com/pgryw/pgryw/lsn"
)

// Role is what a node was last found to be. Roles are found out, never
// configured, and change.
type Role uint8

// The roles.
const (
	RoleUnknown Role = iota // not reached yet, or not reachable
	RolePrimary
	RoleReplica
)

// String returns "unknown", "primary" or "replica".
func (r Role) String() string {
	switch r {
	case RolePrimary:
		return "primary"
	case RoleReplica:
		return "replica"
	}
	return "unknown"
}

// Pair is what one row from one server said about itself: the timeline that it
// follows and how far it has replayed there. Asked is when the question was
// sent: the pair held at that instant or later, and holds for every connection
// to that server that was established before it.
type Pair struct {
	Position lsn.Position
	Asked    time.Time
}

// Node is what is known of one server at the time of a Snapshot.
type Node struct {
	Label string
	Role  Role
	// Trouble is why no statement may be sent to the node; zero if one may.
	Trouble Reason
	// Pair is the newest pair of a replica; zero if none, or not on record.
	Pair Pair
	// Lag is how long the replica usually takes to replay what the primary has
	// written, by the driver's own samples; negative if not known.
	Lag time.Duration
	// Behind is for how long, when the replica last answered, the primary had been
	// beyond what it had replayed: zero if it had replayed everything.
	Behind time.Duration
}

// stallSlack is what a replica may take longer than usual before it counts as
// stalled.
const stallSlack = 20 * time.Millisecond

// stalled reports whether the replica has not done in its usual time what it
// was seen to have before it: nothing more is expected of it until it has
// answered otherwise.
func (n *Node) stalled() bool { return n.Behind > 2*n.Lag+stallSlack }

// Snapshot is the cluster as a decision sees it. Snapshots are immutable and
// shared.
type Snapshot struct {
	// Single is set when the DSN names one server: everything runs on it,
	// whatever its role.
	Single bool
	// System is the cluster's system identifier; zero while not known.
	System uint64
	// Timeline is the primary's; zero while not known.
	Timeline uint32
	// Primary is the index of the primary in Nodes, or -1.
	Primary int
	Nodes   []Node
	// History holds samples of the primary's position, oldest first.
	History []Sample
}

// AnyReplica returns the index of a replica that statements may be sent to.
func (s *Snapshot) AnyReplica() (node int, ok bool) {
	for i := range s.Nodes {
		if s.Nodes[i].Role == RoleReplica && s.Nodes[i].Trouble == ReasonNone {
			return i, true
		}
	}
	return 0, false
}

// Sample says that the primary's position was at LSN, or beyond, at an instant.
type Sample struct {
	At  time.Time
	LSN lsn.LSN
}

// age returns for how long, at least, the primary has been at want.
func (s *Snapshot) age(want lsn.LSN, now time.Time) time.Duration {
	for _, sample := range s.History {
		if sample.LSN >= want {
			return now.Sub(sample.At)
		}
	}
	return 0
}
