package topology

import (
	"time"

	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// NodeStats is what is known of one server now.
type NodeStats struct {
	Label string
	Role  router.Role
	// Trouble is why no read is sent to the server; ReasonNone if reads are.
	Trouble router.Reason
	// Position is a primary's insert position, or a replica's replay position, by
	// the last answer; zero if it has given none.
	Position lsn.Position
	// DurableLSN is a primary's flush position, or a replica's received one.
	DurableLSN lsn.LSN
	// LagBytes is how far a replica's replay was behind the primary's position
	// by the last answers of both; negative if it is not known.
	LagBytes int64
	// Lag is for how long a replica usually is behind; negative if it is not
	// known.
	Lag time.Duration
	// Behind is for how long, when a replica last answered, the primary had been
	// beyond what it had replayed.
	Behind time.Duration
	// Blind is set if the role may not see which timeline a replica follows: after
	// a promotion it then serves fenced reads only from the next restart point
	// on. Membership in pg_monitor mends it.
	Blind bool
	// LastError is why the last probe had no answer; empty if it had one.
	LastError string
	// ProbeCount is how often the server was asked.
	ProbeCount uint64
	Pool       PoolStats
}

// PoolStats counts the physical connections of a node now.
type PoolStats struct {
	Acquired, Idle, Constructing, Total, Max int32
}

// Stats returns what is known of each node, in their order.
//
// Cost: no round trip.
func (c *Cluster) Stats() []NodeStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	stats := make([]NodeStats, len(c.nodes))
	for i, n := range c.nodes {
		pool := n.pool.Stat()
		s := NodeStats{
			Label: n.cfg.Label, Role: n.role, Trouble: n.trouble,
			Position: n.last.position, DurableLSN: n.last.durable, LagBytes: -1, Lag: n.lag.usual, Behind: n.lag.behind, Blind: n.last.blind,
			ProbeCount: n.probes.Load(),
			Pool: PoolStats{
				Acquired: pool.AcquiredResources(), Idle: pool.IdleResources(), Constructing: pool.ConstructingResources(),
				Total: pool.TotalResources(), Max: pool.MaxResources(),
			},
		}
		if n.err != nil {
			s.LastError = n.err.Error()
		}
		if c.found.primary >= 0 && n.role == router.RoleReplica {
			if ahead := c.nodes[c.found.primary].last.position; ahead.Timeline == s.Position.Timeline && s.Position.LSN != 0 {
				s.LagBytes = max(int64(ahead.LSN)-int64(s.Position.LSN), 0)
			}
		}
		stats[i] = s
	}
	return stats
}
