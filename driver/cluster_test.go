package driver_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pgryw/pgryw/driver"
	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/router"
)

// pollBound is how long a test waits for something that must happen.
const pollBound = 20 * time.Second

// startCluster starts a primary and standbys with a table of counters.
func startCluster(t *testing.T, standbys int) *pgcluster.Cluster {
	t.Helper()
	c := pgcluster.New(t, pgcluster.Options{Standbys: standbys})
	run(t, c, `CREATE TABLE counter (id text PRIMARY KEY, n bigint NOT NULL)`)
	catchUp(t, c)
	return c
}

func run(t *testing.T, c *pgcluster.Cluster, statement string) {
	t.Helper()
	if err := c.Primary().Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func catchUp(t *testing.T, c *pgcluster.Cluster) {
	t.Helper()
	if err := c.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// routes records decisions.
type routes struct {
	mu   sync.Mutex
	last router.Decision
	to   map[bool]int // by Decision.Replica
}

func (r *routes) note(_ context.Context, d router.Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.to == nil {
		r.to = make(map[bool]int)
	}
	r.last = d
	r.to[d.Replica()]++
}

func (r *routes) Last() router.Decision {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

func (r *routes) Replica() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.to[true]
}

// open opens a handle on the cluster with options, and waits until every node's
// role is known.
func open(t *testing.T, dsn, options string) (*sql.DB, *routes) {
	t.Helper()
	if options != "" {
		dsn += "&" + options
	}
	return openConfig(t, parse(t, dsn))
}

func openConfig(t *testing.T, cfg driver.Config) (*sql.DB, *routes) {
	t.Helper()
	r := &routes{}
	cfg.OnRoute = r.note
	db := openOnly(t, cfg)
	waitForRoles(t, db)
	return db, r
}

// openOnly opens a handle, and closes it at the test's end.
func openOnly(t *testing.T, cfg driver.Config) *sql.DB {
	t.Helper()
	connector, err := driver.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("closing the handle: %v", err)
		}
	})
	return db
}

// waitForRoles waits until every node's role is known.
func waitForRoles(t *testing.T, db *sql.DB) {
	t.Helper()
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "every node has a role", func() error {
		stats, err := driver.StatsOf(db)
		if err != nil {
			return err
		}
		for _, n := range stats.Nodes {
			if n.Role == router.RoleUnknown {
				return fmt.Errorf("the role of %s is unknown: %s", n.Label, n.LastError)
			}
		}
		return nil
	})
}

// parse returns the Config of a DSN.
func parse(t *testing.T, dsn string) driver.Config {
	t.Helper()
	cfg, err := driver.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return *cfg
}

// eventually polls until check is content, and fails the test at pollBound.
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

// seeds a counter and waits until every standby has it.
func seed(t *testing.T, c *pgcluster.Cluster, ids ...string) {
	t.Helper()
	for _, id := range ids {
		run(t, c, fmt.Sprintf(`INSERT INTO counter VALUES ('%s', 0) ON CONFLICT (id) DO UPDATE SET n = 0`, id))
	}
	catchUp(t, c)
}

// startPaths starts a primary with one standby that is 250 ms late and one that
// has stopped replaying, and a counter for each path.
func startPaths(t *testing.T) *pgcluster.Cluster {
	t.Helper()
	setup := pathSetup
	for _, p := range paths {
		id := "TestEveryWriteIsReadBack/" + strings.ReplaceAll(p.name, " ", "_")
		setup += fmt.Sprintf("INSERT INTO counter VALUES ('%[1]s', 0); INSERT INTO todo VALUES ('%[1]s', 0);\n", id)
	}
	c := pgcluster.New(t, pgcluster.Options{Standbys: 2, Setup: setup})
	catchUp(t, c)
	if err := c.Standby(0).SetDelay(t.Context(), 250*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := c.Standby(1).PauseReplay(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}
