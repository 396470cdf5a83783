package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// Promote makes a standby a primary, and the one that Cluster.Primary returns.
// The old one goes on as it is: two primaries, unless it was stopped.
//
// Blocks until the node is out of recovery and stops when ctx ends.
func (n *Node) Promote(ctx context.Context) error {
	n.fault.Lock()
	defer n.fault.Unlock()
	if err := n.responsive(); err != nil {
		return err
	}
	if err := n.Exec(ctx, "SELECT pg_promote(false)"); err != nil {
		return err
	}
	if err := n.pollQuery(ctx, "to be promoted", "SELECT pg_is_in_recovery()", func(s string) bool { return s == "f" }); err != nil {
		return err
	}
	n.upstream = nil
	n.cluster.mu.Lock()
	defer n.cluster.mu.Unlock()
	n.cluster.primary = n
	return nil
}

// Repoint makes a standby stream from another node. A stopped node streams from
// it, as a standby, when it is started; a running primary is restarted as a
// standby, which works only if it has no WAL that the other lacks: use Rejoin
// where it may.
//
// Blocks until the node streams and stops when ctx ends.
func (n *Node) Repoint(ctx context.Context, to *Node) error {
	n.fault.Lock()
	defer n.fault.Unlock()
	n.upstream = to
	standby := n.isStandby()
	if err := n.becomeStandby(); err != nil {
		return err
	}
	switch {
	case !n.isUp():
		return nil
	case standby:
		if err := n.reload(ctx); err != nil {
			return err
		}
	default:
		if err := n.stop(ctx, syscall.SIGINT); err != nil {
			return err
		}
		if err := n.start(ctx); err != nil {
			return err
		}
	}
	return n.waitStreaming(ctx)
}

// Detach ends the streaming of a standby, for good until Repoint. It still
// answers reads.
//
// Blocks until its WAL receiver is gone and stops when ctx ends.
func (n *Node) Detach(ctx context.Context) error {
	n.fault.Lock()
	defer n.fault.Unlock()
	if err := n.responsive(); err != nil {
		return err
	}
	n.upstream = nil
	if err := n.reload(ctx); err != nil {
		return err
	}
	return n.pollQuery(ctx, "to stop streaming", "SELECT count(*) FROM pg_stat_wal_receiver", func(s string) bool { return s == "0" })
}

// BreakStream ends the WAL receiver of a standby, as a lost connection would.
//
// Blocks until a new one streams and stops when ctx ends.
func (n *Node) BreakStream(ctx context.Context) error {
	n.fault.Lock()
	defer n.fault.Unlock()
	if err := n.responsive(); err != nil {
		return err
	}
	const receiver = "SELECT pid FROM pg_stat_wal_receiver WHERE status = 'streaming'"
	row, err := n.query(ctx, receiver)
	if err != nil {
		return err
	}
	if len(row) == 0 {
		return fmt.Errorf("pgcluster: %s does not stream", n.Name())
	}
	pid, err := strconv.Atoi(string(row[0]))
	if err != nil {
		return fmt.Errorf("pgcluster: %s: %w", n.Name(), err)
	}
	if err := signal(pid, syscall.SIGTERM); err != nil {
		return err
	}
	return n.pollQuery(ctx, "to stream again", receiver, func(s string) bool { return s != string(row[0]) })
}

// Rejoin kills the node if it runs, throws its data away and makes it a standby
// with a fresh base backup of another node, whatever has happened to it before.
// It needs the program pg_basebackup.
//
// Blocks until the node streams and stops when ctx ends.
func (n *Node) Rejoin(ctx context.Context, to *Node) error {
	n.fault.Lock()
	defer n.fault.Unlock()
	if err := n.kill(ctx); err != nil {
		return err
	}
	if err := os.RemoveAll(n.data); err != nil {
		return fmt.Errorf("pgcluster: %w", err)
	}
	err := n.cluster.account.run(ctx, n.dir, n.cluster.binaries.program("pg_basebackup"), "--pgdata", n.data,
		"--host", loopback, "--port", strconv.Itoa(to.port), "--username", Superuser, "--checkpoint", "fast", "--no-sync")
	if err != nil {
		return err
	}
	n.upstream = to
	if err := n.becomeStandby(); err != nil {
		return err
	}
	if err := n.start(ctx); err != nil {
		return err
	}
	return n.waitStreaming(ctx)
}

// becomeStandby makes the data folder that of a standby.
func (n *Node) becomeStandby() error {
	if err := n.cluster.account.writeFile(n.inData("standby.signal"), nil); err != nil {
		return fmt.Errorf("pgcluster: %w", err)
	}
	return nil
}

// isStandby says whether the data folder is that of a standby: a promotion
// removes the file.
func (n *Node) isStandby() bool {
	_, err := os.Stat(n.inData("standby.signal"))
	return !errors.Is(err, os.ErrNotExist)
}

// waitStreaming blocks until the node streams from its upstream.
func (n *Node) waitStreaming(ctx context.Context) error {
	want := "streaming " + strconv.Itoa(n.upstream.port)
	return n.pollQuery(ctx, "to stream from "+n.upstream.Name(),
		"SELECT status || ' ' || sender_port FROM pg_stat_wal_receiver", func(s string) bool { return s == want })
}
