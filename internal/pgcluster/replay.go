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

// CatchUp blocks until all standbys that run have replayed everything committed
// on the primary before the call, and stops when ctx ends. It makes the primary
// write a little WAL.
func (c *Cluster) CatchUp(ctx context.Context) error {
	// The insert position itself may be one that no standby reaches for a while:
	// past a page header, or past WAL that nobody has flushed. Committing a
	// message flushes everything before it.
	want, err := c.Primary().queryLSN(ctx, "SET synchronous_commit = local; "+
		"SELECT pg_logical_emit_message(true, 'pgcluster', ''); SELECT pg_current_wal_flush_lsn()")
	if err != nil {
		return err
	}
	return inParallel(c.standbys(), func(n *Node) error {
		if n.running() {
			return n.WaitReplay(ctx, want)
		}
		return nil
	})
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
