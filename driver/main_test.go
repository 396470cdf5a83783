package driver_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pgryw/pgryw/internal/pgcluster"
)

// TestMain fails the run if a goroutine of ours, or of pgx, outlives it: every
// test closes its handles, and nothing else is needed.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := errors.Join(closeCalm(), waitForLeft()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// waitForLeft returns the goroutines that are left at pollBound.
func waitForLeft() error {
	deadline := time.After(pollBound)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		left := goroutines()
		if len(left) == 0 {
			return nil
		}
		select {
		case <-deadline:
			return fmt.Errorf("%d goroutines are left:\n\n%s", len(left), strings.Join(left, "\n\n"))
		case <-tick.C:
		}
	}
}

// goroutines returns the stacks of the goroutines that are in the driver or in
// pgx. Those of the tests' own, which the driver returns to, are left out.
func goroutines() []string {
	buf := make([]byte, 1<<20)
	for n := runtime.Stack(buf, true); n == len(buf); n = runtime.Stack(buf, true) {
		buf = make([]byte, 2*len(buf))
	}
	var ours []string
	for stack := range strings.SplitSeq(strings.TrimRight(string(buf), "\x00"), "\n\n") {
		inDriver := strings.Contains(stack, "github.com/pgryw/pgryw/") || strings.Contains(stack, "github.com/jackc/")
		if inDriver && !strings.Contains(stack, "driver_test.") && !strings.Contains(stack, "internal/pgcluster.") {
			ours = append(ours, stack)
		}
	}
	return ours
}

// calm is the cluster that tests share which do no harm to its servers.
var calm struct {
	once    sync.Once
	cluster *pgcluster.Cluster
	err     error
}

const calmSetup = `
CREATE TABLE counter (id text PRIMARY KEY, n bigint NOT NULL);
INSERT INTO counter VALUES ('calm', 0);
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE child (id int REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
`

// startCalm returns a primary with two standbys that nobody disturbs: a test
// that pauses, stops or floods a server has a cluster of its own.
func startCalm(t *testing.T) *pgcluster.Cluster {
	t.Helper()
	calm.once.Do(func() {
		calm.cluster, calm.err = pgcluster.Start(context.WithoutCancel(t.Context()), pgcluster.Options{Standbys: 2, Setup: calmSetup})
	})
	switch {
	case errors.Is(calm.err, pgcluster.ErrNoBinaries) && os.Getenv("PGRYW_REQUIRE_POSTGRES") != "1":
		t.Skip(calm.err)
	case calm.err != nil:
		t.Fatal(calm.err)
	}
	return calm.cluster
}

func closeCalm() error {
	if calm.cluster == nil {
		return nil
	}
	return calm.cluster.Close()
}
