package pgcluster_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/pgryw/pgryw/internal/pgcluster"
)

// orphanVariable makes this test program start a cluster in the folder that it
// names, and wait to be killed.
const orphanVariable = "PGCLUSTER_TEST_ORPHAN"

// runUntilKilled starts a cluster, freezes a node, says so and waits.
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
	fmt.Println("up")
	select {}
}

func TestKilledProgramLeavesNoServerAndNoFolder(t *testing.T) {
	dir := emptyAfterTest(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), orphanVariable+"="+dir)
	out, err := cmd.StdoutPipe()
	do(t, err)
	do(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "up\n" {
		t.Fatalf("got %q, %v, want up", line, err)
	}
	servers, err := pgcluster.ServerProcesses(t.Context(), postmasters(t, dir))
	do(t, err)
	if len(servers) < 3*4 {
		t.Errorf("got %d processes of three servers, want 12 or more", len(servers))
	}
	do(t, cmd.Process.Kill())
	_ = cmd.Wait() // killed
	eventually(t, func() bool {
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		do(t, err)
		ended, _, err := servers.HaveEnded(t.Context())
		do(t, err)
		return ended && len(left) == 0
	})
}

// postmasters returns the pids of the postmasters of the clusters in dir.
func postmasters(t *testing.T, dir string) []int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*/node*/data/postmaster.pid"))
	do(t, err)
	var pids []int
	for _, file := range files {
		content, err := os.ReadFile(file)
		do(t, err)
		first, _, _ := strings.Cut(string(content), "\n")
		pid, err := strconv.Atoi(first)
		do(t, err)
		pids = append(pids, pid)
	}
	return pids
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
