package topology_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/router"
)

// pollBound is how long a test waits for something that must happen.
const pollBound = 20 * time.Second

// TestMain fails the run if a goroutine of a Cluster, or of pgx, outlives it.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := waitForLeft(); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "%d goroutines are left:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
		code = max(code, 1)
	}
	if calm.cluster != nil {
		if err := calm.cluster.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// waitForLeft returns the goroutines that are left at pollBound.
func waitForLeft() []string {
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
			return left
		case <-tick.C:
		}
	}
}

// goroutines returns the stacks of the goroutines that are in the package or in
// pgx, but for those of tests.
func goroutines() []string {
	buf := make([]byte, 1<<20)
	for n := runtime.Stack(buf, true); n == len(buf); n = runtime.Stack(buf, true) {
		buf = make([]byte, 2*len(buf))
	}
	var ours []string
	for stack := range strings.SplitSeq(strings.TrimRight(string(buf), "\x00"), "\n\n") {
		inPackage := strings.Contains(stack, "internal/topology.") || strings.Contains(stack, "github.com/jackc/")
		if inPackage && !strings.Contains(stack, "topology_test.") && !strings.Contains(stack, "internal/pgcluster.") {
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

// startCalm returns a primary with two standbys that nobody disturbs: a test
// that stops, freezes or promotes a server has a cluster of its own.
func startCalm(t *testing.T) *pgcluster.Cluster {
	t.Helper()
	calm.once.Do(func() {
		calm.cluster, calm.err = pgcluster.Start(context.WithoutCancel(t.Context()), pgcluster.Options{
			Standbys: 2,
			Setup: `CREATE TABLE counter (id text PRIMARY KEY, n bigint NOT NULL);
				CREATE ROLE plain LOGIN;`,
		})
	})
	switch {
	case errors.Is(calm.err, pgcluster.ErrNoBinaries) && os.Getenv("PGRYW_REQUIRE_POSTGRES") != "1":
		t.Skip(calm.err)
	case calm.err != nil:
		t.Fatal(calm.err)
	}
	return calm.cluster
}

// onDemand is a probe interval that no test lives to see the end of: what is
// known is what Discover and Rediscover have found.
const onDemand = time.Hour

// config returns a Config of the given servers, in that order. Its log goes
// nowhere.
func config(t *testing.T, probe time.Duration, dsns ...string) topology.Config {
	t.Helper()
	cfg := topology.Config{Probe: probe, Logger: slog.New(slog.DiscardHandler)}
	for i, dsn := range dsns {
		conn, err := pgx.ParseConfig(dsn)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Nodes = append(cfg.Nodes, topology.NodeConfig{Label: fmt.Sprintf("node%d", i), Conn: conn})
	}
	return cfg
}

// dsns returns the DSNs of a cluster's nodes, by number.
func dsns(c *pgcluster.Cluster) []string {
	var all []string
	for _, n := range c.Nodes() {
		all = append(all, n.DSN())
	}
	return all
}

// start starts a Cluster, waits until its nodes are discovered, and closes it at
// the test's end.
func start(t *testing.T, cfg topology.Config) *topology.Cluster {
	t.Helper()
	c := topology.New(cfg)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	c.Start()
	if err := c.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func rediscover(t *testing.T, c *topology.Cluster) *router.Snapshot {
	t.Helper()
	if err := c.Rediscover(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c.Snapshot()
}

func primary(t *testing.T, c *topology.Cluster) *topology.Conn {
	t.Helper()
	p, err := c.Primary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func replica(t *testing.T, c *topology.Cluster, node int) *topology.Conn {
	t.Helper()
	p, err := c.Replica(t.Context(), node, true)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// must ends the test if one of the faults could not be made.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// eventually waits until check returns nil.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	deadline := time.After(pollBound)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%s: %v", what, err)
		case <-tick.C:
		}
	}
}

// exec runs a statement on a borrowed connection.
func exec(t *testing.T, p *topology.Conn, sql string) {
	t.Helper()
	if _, err := p.Pgx().Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// standing returns what a snapshot says of a node.
func standing(s *router.Snapshot, node int) string {
	n := s.Nodes[node]
	return n.Role.String() + " " + n.Trouble.String()
}

func wantStanding(t *testing.T, s *router.Snapshot, want ...string) {
	t.Helper()
	for i := range want {
		if got := standing(s, i); got != want[i] {
			t.Errorf("node %d: got %s, want %s", i, got, want[i])
		}
	}
}
