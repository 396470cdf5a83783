package conn_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pgryw/pgryw/driver"
	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/router"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if paused.cluster != nil {
		if err := paused.cluster.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// paused is the cluster that the tests share: a primary, and a standby that has
// stopped replaying once it had what setup says.
var paused struct {
	once    sync.Once
	cluster *pgcluster.Cluster
	err     error
}

const setup = `
CREATE TABLE mark (id text);
CREATE FUNCTION put(text) RETURNS text LANGUAGE sql AS 'INSERT INTO mark VALUES ($1) RETURNING id';
CREATE TABLE todo (id text);
INSERT INTO todo VALUES ('held'), ('held in a transaction');
CREATE VIEW doing AS SELECT id, put(id) AS mark FROM todo;
CREATE TABLE wide (a int);
INSERT INTO wide VALUES (1);
`

func start(t *testing.T) *pgcluster.Cluster {
	t.Helper()
	paused.once.Do(func() {
		ctx := context.WithoutCancel(t.Context())
		if paused.cluster, paused.err = pgcluster.Start(ctx, pgcluster.Options{Standbys: 1, Setup: setup}); paused.err == nil {
			paused.err = errors.Join(paused.cluster.CatchUp(ctx), paused.cluster.Standby(0).PauseReplay(ctx))
		}
	})
	switch {
	case errors.Is(paused.err, pgcluster.ErrNoBinaries) && os.Getenv("PGRYW_REQUIRE_POSTGRES") != "1":
		t.Skip(paused.err)
	case paused.err != nil:
		t.Fatal(paused.err)
	}
	return paused.cluster
}

// handle is a handle, and the last of its decisions.
type handle struct {
	*sql.DB
	connector *driver.Connector

	mu   sync.Mutex
	last router.Decision
}

// open opens a handle on the cluster with options, and waits until it knows its
// servers.
func open(t *testing.T, c *pgcluster.Cluster, options string, change ...func(*driver.Config)) *handle {
	t.Helper()
	dsn := c.DSN()
	if options != "" {
		dsn += "&" + options
	}
	cfg, err := driver.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	h := &handle{}
	cfg.OnRoute = func(_ context.Context, d router.Decision) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.last = d
	}
	for _, f := range change {
		f(cfg)
	}
	connector, err := driver.NewConnector(*cfg)
	if err != nil {
		t.Fatal(err)
	}
	h.connector = connector
	h.DB = sql.OpenDB(connector)
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := h.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		for _, n := range h.stats(t).Nodes {
			if n.Role == router.RoleUnknown {
				return fmt.Errorf("the role of %s is not known: %s", n.Label, n.LastError)
			}
		}
		return nil
	})
	return h
}

// route returns the last decision.
func (h *handle) route() router.Decision {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

func (h *handle) stats(t *testing.T) driver.Stats {
	t.Helper()
	stats, err := driver.StatsOf(h.DB)
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// checkOut checks a connection out.
func (h *handle) checkOut(t *testing.T) *sql.Conn {
	t.Helper()
	c, err := h.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// sees reports whether a read of the handle finds a mark.
func (h *handle) sees(ctx context.Context, t *testing.T, id string) bool {
	t.Helper()
	var n int
	if err := h.QueryRowContext(ctx, `SELECT count(*) FROM mark WHERE id = $1`, id).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// wantSeen fails the test unless a read under each context finds a mark.
func (h *handle) wantSeen(t *testing.T, id string, contexts ...context.Context) {
	t.Helper()
	for i, ctx := range contexts {
		if !h.sees(ctx, t, id) {
			t.Errorf("%s: reader %d misses the mark: it read %s by %s", id, i, h.route().Label, h.route().Reason)
		}
	}
}

// execer runs statements: *sql.DB, *sql.Conn or *sql.Tx.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// exec runs texts one after another.
func exec(ctx context.Context, t *testing.T, on execer, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if _, err := on.ExecContext(ctx, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// put returns the text that puts a mark.
func put(id string) string {
	return `INSERT INTO mark VALUES ('` + strings.ReplaceAll(id, `'`, `''`) + `')`
}

// eventually polls until check is content, and fails the test after 20 s.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	late := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-late:
			t.Fatal(err)
		case <-tick.C:
		}
	}
}

// newCluster starts a cluster of the test's own.
func newCluster(t *testing.T, standbys int) *pgcluster.Cluster {
	t.Helper()
	c := pgcluster.New(t, pgcluster.Options{Standbys: standbys, Setup: setup})
	if err := c.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}
