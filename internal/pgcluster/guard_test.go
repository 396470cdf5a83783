package pgcluster_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/pgryw/pgryw/internal/pgcluster"
)

// orphanVariable makes this test program start a cluster in the folder that it
// names, and wait to be killed.
const orphanVariable = "PGCLUSTER_TEST_ORPHAN"

// runUntilKilled starts a cluster, freezes a node and waits.
func runUntilKilled(dir string) {
	ctx := context.Background()
	c, err := pgcluster.Start(ctx, pgcluster.Options{Standbys: 2, Dir: dir})
	if err == nil {
		err = c.Standby(0).Freeze(ctx)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	select {}
}

func TestKilledProgramLeavesNoServerAndNoFolder(t *testing.T) {
	for _, test := range []struct{ name, appears string }{
		{"while it makes the data", "*/node0/data/PG_VERSION"},
		{"while it copies the data", "*/node1/data/PG_VERSION"},
		{"while the primary starts", "*/node0/pid"},
		{"while the primary recovers", "*/node0/data/postmaster.opts"},
		{"while a standby starts", "*/node1/pid"},
		{"while a standby starts to stream", "*/node2/data/postmaster.opts"},
		{"with a frozen server", "*/node1/frozen"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := emptyAfterTest(t)
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), orphanVariable+"="+dir)
			do(t, cmd.Start())
			eventually(t, func() bool { return len(glob(t, dir, test.appears)) > 0 })
			if users := usersOf(t, dir); len(users) == 0 {
				t.Error("no process of the cluster seen")
			}
			do(t, cmd.Process.Kill())
			_ = cmd.Wait() // killed
			eventually(t, func() bool { return len(glob(t, dir, "*")) == 0 && len(usersOf(t, dir)) == 0 })
		})
	}
}

// glob returns the files in dir whose name in it matches the pattern.
func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	do(t, err)
	return files
}

// usersOf returns the processes that name dir in their arguments or, where
// /proc tells, are in it: every postmaster, and there every backend.
func usersOf(t *testing.T, dir string) []string {
	t.Helper()
	var users []string
	for _, cwd := range glob(t, "/proc", "[0-9]*/cwd") {
		if target, err := os.Readlink(cwd); err == nil && strings.HasPrefix(target, dir+"/") {
			users = append(users, cwd)
		}
	}
	out, err := exec.CommandContext(t.Context(), "ps", "-A", "-o", "args=").Output()
	do(t, err)
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, dir+"/") {
			users = append(users, line)
		}
	}
	return users
}

func TestCloseEndsEveryProcessAndRemovesTheFolder(t *testing.T) {
	for _, test := range []struct {
		name    string
		before  func(context.Context, *pgcluster.Cluster) error
		wantErr bool
	}{
		{"all running", func(context.Context, *pgcluster.Cluster) error { return nil }, false},
		{"one busy", busy, false},
		{"one frozen", func(ctx context.Context, c *pgcluster.Cluster) error { return c.Standby(0).Freeze(ctx) }, false},
		{"one stopped", func(ctx context.Context, c *pgcluster.Cluster) error { return c.Standby(0).Stop(ctx) }, false},
		{"one killed", func(ctx context.Context, c *pgcluster.Cluster) error { return c.Primary().Kill(ctx) }, false},
		{"guard killed", func(_ context.Context, c *pgcluster.Cluster) error { return c.Guard().Kill() }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx := t.Context()
			c, err := pgcluster.Start(ctx, pgcluster.Options{Standbys: 1, Dir: emptyAfterTest(t)})
			do(t, err)
			processes, err := c.Processes(ctx)
			do(t, err)
			do(t, test.before(ctx, c))
			if err := c.Close(); (err != nil) != test.wantErr {
				t.Errorf("got error %v, want one: %t", err, test.wantErr)
			}
			if ended, left, err := processes.HaveEnded(ctx); err != nil || !ended {
				t.Errorf("left behind: %s %v", left, err)
			}
			if err := c.Primary().Start(ctx); err == nil {
				t.Error("a node of a closed cluster was started")
			}
		})
	}
}

// busy makes a backend of the primary loop without looking at anything.
func busy(ctx context.Context, c *pgcluster.Cluster) error {
	conn, err := pgconn.Connect(ctx, c.Primary().DSN())
	if err != nil {
		return err
	}
	conn.Frontend().SendQuery(&pgproto3.Query{String: "SELECT count(*) FROM generate_series(1, 1000000000)"})
	return conn.Frontend().Flush()
}
