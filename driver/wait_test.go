package driver_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	pgrywconn "github.com/pgryw/pgryw/conn"
	"github.com/pgryw/pgryw/driver"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// countRoutes returns how many statements were routed for a reason.
func countRoutes(t *testing.T, db *sql.DB, why router.Reason) uint64 {
	t.Helper()
	stats, err := driver.StatsOf(db)
	if err != nil {
		t.Fatal(err)
	}
	return stats.Routes[why]
}

// openIdle makes n logical connections and leaves them idle.
func openIdle(t *testing.T, db *sql.DB, n int) {
	t.Helper()
	db.SetMaxIdleConns(n)
	conns := make([]*sql.Conn, n)
	for i := range conns {
		conns[i] = conn(t, db)
	}
	for _, c := range conns {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAReadWaitsForAReplicaThatIsAboutToArrive reads its own writes with a
// standby that is 50 ms late, and finds them there.
func TestAReadWaitsForAReplicaThatIsAboutToArrive(t *testing.T) {
	c := startCluster(t, 1)
	seed(t, c, "waits")
	if err := c.Standby(0).SetDelay(t.Context(), 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	db, _ := open(t, c.DSN(), "pgryw.wait=2s")
	openIdle(t, db, 4)
	for n := 1; n <= 20; n++ {
		ctx := lsn.NewSession(t.Context())
		if _, err := db.ExecContext(ctx, update, "waits", n); err != nil {
			t.Fatal(err)
		}
		if got, err := get(ctx, db, "waits"); err != nil || got != int64(n) {
			t.Fatalf("got %d, %v, want %d", got, err, n)
		}
	}
	if waited := countRoutes(t, db, router.ReasonWaited); waited < 10 {
		t.Errorf("got %d reads that waited, want most of 20", waited)
	}
}

// TestNobodyWaitsForAReplicaThatStandsStill reads with a budget that its lag has
// long exceeded.
func TestNobodyWaitsForAReplicaThatStandsStill(t *testing.T) {
	c := startCluster(t, 1)
	seed(t, c, "hopeless")
	db, routes := open(t, c.DSN(), "pgryw.wait=20ms")
	openIdle(t, db, 4)
	if err := c.Standby(0).PauseReplay(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx := lsn.NewSession(t.Context())
	if _, err := db.ExecContext(ctx, update, "hopeless", 1); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the lag is seen to exceed the budget", func() error {
		if got, err := get(ctx, db, "hopeless"); err != nil || got != 1 {
			t.Fatalf("got %d, %v", got, err)
		}
		stats, err := driver.StatsOf(db)
		if err != nil {
			return err
		}
		for _, n := range stats.Nodes {
			if n.Role == router.RoleReplica && n.Behind <= 100*time.Millisecond {
				return fmt.Errorf("behind for %v", n.Behind)
			}
		}
		return nil
	})
	start := time.Now()
	for range 50 {
		if got, err := get(ctx, db, "hopeless"); err != nil || got != 1 {
			t.Fatalf("got %d, %v", got, err)
		}
	}
	if routes.Last().Reason != router.ReasonBehind {
		t.Errorf("got %s, want behind", routes.Last().Reason)
	}
	t.Logf("50 reads in %v", time.Since(start))
}

// TestFallingBackIsCapped holds a read on the primary open and lets others
// follow it there.
func TestFallingBackIsCapped(t *testing.T) {
	c := startCluster(t, 1)
	seed(t, c, "capped")
	db, _ := open(t, c.DSN(), "pgryw.max_fallback=1")
	if err := c.Standby(0).PauseReplay(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx := lsn.NewSession(t.Context())
	if _, err := db.ExecContext(ctx, update, "capped", 1); err != nil {
		t.Fatal(err)
	}
	rows, err := db.QueryContext(ctx, `SELECT n FROM counter`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := get(ctx, db, "capped"); !errors.Is(err, pgrywconn.ErrFallbackLimit) {
		t.Errorf("past the cap: got %v, want ErrFallbackLimit", err)
	}
	if _, err := db.ExecContext(ctx, update, "capped", 2); err != nil {
		t.Errorf("a write is no read that fell back: %v", err)
	}
	if err := errors.Join(rows.Close(), rows.Err()); err != nil {
		t.Fatal(err)
	}
	if got, err := get(ctx, db, "capped"); err != nil || got != 2 {
		t.Errorf("when the first has ended: got %d, %v, want 2", got, err)
	}
}

// TestManyWaitersHoldNoConnection lets readers wait for a standby that has
// stopped, and looks at the servers' connections meanwhile.
func TestManyWaitersHoldNoConnection(t *testing.T) {
	const readers = 200
	c := startCluster(t, 1)
	seed(t, c, "many")
	db, _ := open(t, c.DSN(), "pgryw.wait=30s&pgryw.max_fallback=1&pgryw.pool_max_conns=20")
	openIdle(t, db, 2*readers+2)
	if err := c.Standby(0).PauseReplay(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx := lsn.NewSession(t.Context())
	if _, err := db.ExecContext(ctx, update, "many", 1); err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	for range readers {
		done.Go(func() {
			if got, err := get(ctx, db, "many"); err != nil || got != 1 {
				t.Errorf("got %d, %v, want 1", got, err)
			}
		})
	}
	eventually(t, "all wait and hold nothing", func() error {
		if db.Stats().InUse < readers {
			return fmt.Errorf("%d logical connections in use", db.Stats().InUse)
		}
		stats, err := driver.StatsOf(db)
		if err != nil {
			return err
		}
		for _, n := range stats.Nodes {
			if n.Pool.Acquired != 0 {
				return fmt.Errorf("%d connections to %s in use", n.Pool.Acquired, n.Label)
			}
		}
		return nil
	})
	if err := c.Standby(0).ResumeReplay(context.WithoutCancel(ctx)); err != nil {
		t.Error(err)
	}
	done.Wait()
}
