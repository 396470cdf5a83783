package pgcluster

import (
	"context"
	"fmt"

	"github.com/pgryw/pgryw/lsn"
)

// PauseReplay makes a standby stop replaying. It still receives WAL and answers
// reads.
//
// Blocks until replay has stopped and ends when ctx does.
func (n *Node) PauseReplay(ctx context.Context) error {
	n.fault.Lock()
	defer n.fault.Unlock()
	if err := n.responsive(); err != nil {
		return err
	}
	if err := n.Exec(ctx, "SELECT pg_wal_replay_pause()"); err != nil {
		return err
	}
	return n.pollQuery(ctx, "to pause", "SELECT pg_get_wal_replay_pause_state()", func(state string) bool { return state == "paused" })
}

// ResumeReplay ends PauseReplay.
func (n *Node) ResumeReplay(ctx context.Context) error {
	n.fault.Lock()
	defer n.fault.Unlock()
	if err := n.responsive(); err != nil {
		return err
	}
	return n.Exec(ctx, "SELECT pg_wal_replay_resume()")
}

// ReplayLSN returns the position up to which a standby has replayed.
//
// Errors: the node has replayed nothing since it started, as a primary that
// never was a standby.
func (n *Node) ReplayLSN(ctx context.Context) (lsn.LSN, error) {
	return n.queryLSN(ctx, "SELECT pg_last_wal_replay_lsn()")
}

// InsertLSN returns the position at which a primary writes its next WAL record.
//
// Errors: the node is a standby.
func (n *Node) InsertLSN(ctx context.Context) (lsn.LSN, error) {
	return n.queryLSN(ctx, "SELECT pg_current_wal_insert_lsn()")
}

// queryLSN returns the position that sql selects.
func (n *Node) queryLSN(ctx context.Context, sql string) (lsn.LSN, error) {
	row, err := n.query(ctx, sql)
	if err != nil {
		return 0, err
	}
	if len(row) != 1 || row[0] == nil {
		return 0, fmt.Errorf("pgcluster: %s: no position from %s", n.Name(), sql)
	}
	return lsn.Parse(string(row[0]))
}

// WaitReplay blocks until a standby has replayed up to want, and stops when ctx
// ends.
func (n *Node) WaitReplay(ctx context.Context, want lsn.LSN) error {
	return n.pollQuery(ctx, "to replay "+want.String(), "SELECT pg_last_wal_replay_lsn()", func(s string) bool {
		have, err := lsn.Parse(s)
		return err == nil && have >= want
	})
}

// CatchUp makes the primary write and flush a little WAL.
//
// Blocks until every running node that streams from the primary, directly or by
// way of another, has replayed everything committed before the call, and stops
// when ctx ends.
func (c *Cluster) CatchUp(ctx context.Context) error {
	primary := c.Primary()
	// The insert position itself may be one that no standby reaches for a while:
	// past a page header, or past WAL that nobody has flushed. The commit of a
	// message, in a transaction of its own, flushes everything before it.
	err := primary.Exec(ctx, "SET synchronous_commit = local; SELECT pg_logical_emit_message(true, 'pgcluster', '')")
	if err != nil {
		return err
	}
	want, err := primary.queryLSN(ctx, "SELECT pg_current_wal_flush_lsn()")
	if err != nil {
		return err
	}
	return inParallel(c.standbys(), func(n *Node) error {
		if !n.follows(primary) {
			return nil
		}
		return n.WaitReplay(ctx, want)
	})
}

// follows says whether the node runs and streams from another, directly or by
// way of others.
func (n *Node) follows(other *Node) bool {
	for range n.cluster.nodes {
		up, upstream := n.source()
		if !up || upstream == nil {
			return false
		}
		if upstream == other {
			return true
		}
		n = upstream
	}
	return false // they follow each other in a circle
}

// source says whether the node answers and whom it streams from.
func (n *Node) source() (up bool, upstream *Node) {
	n.fault.Lock()
	defer n.fault.Unlock()
	return n.responsive() == nil, n.upstream
}

// pollQuery asks sql, one value, on one connection until accept likes the
// answer. NULL is never accepted.
func (n *Node) pollQuery(ctx context.Context, what, sql string, accept func(string) bool) error {
	conn, err := n.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return poll(ctx, n.Name()+" "+what, func(ctx context.Context) (bool, string, error) {
		row, err := n.queryOn(ctx, conn, sql)
		if err != nil {
			return false, "", err
		}
		if len(row) != 1 || row[0] == nil {
			return false, "NULL", nil
		}
		return accept(string(row[0])), string(row[0]), nil
	})
}
