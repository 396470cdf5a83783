package topology_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/internal/topology"
)

// atOnce is how long a Close may take on a machine that is busy with other
// tests, in which nothing is waited for.
const atOnce = 2 * time.Second

// closeAtOnce closes the Cluster, and waits until none of its goroutines is
// left.
func closeAtOnce(t *testing.T, c *topology.Cluster) {
	t.Helper()
	began := time.Now()
	must(t, c.Close(), c.Close())
	if took := time.Since(began); took > atOnce {
		t.Errorf("Close took %v", took)
	}
	for left := goroutines(); len(left) > 0; left = goroutines() {
		if time.Since(began) > atOnce {
			t.Fatalf("%d goroutines are left:\n\n%s", len(left), strings.Join(left, "\n\n"))
		}
	}
	if _, err := c.Primary(t.Context()); !errors.Is(err, topology.ErrClosed) {
		t.Errorf("Primary: got %v, want ErrClosed", err)
	}
	if err := c.Rediscover(t.Context()); !errors.Is(err, topology.ErrClosed) {
		t.Errorf("Rediscover: got %v, want ErrClosed", err)
	}
}

func TestCloseCutsBorrowedConnections(t *testing.T) {
	pg := startCalm(t)
	c := start(t, config(t, time.Millisecond, dsns(pg)...))
	idle, lent, leaked := primary(t, c), primary(t, c), primary(t, c)
	idle.Release()
	leaked.Pgx().PgConn().Exec(t.Context(), "SELECT generate_series(1, 1000000)") // and never read
	failed := make(chan error)
	go func() {
		_, err := lent.Pgx().Exec(t.Context(), "SELECT pg_sleep(60)")
		failed <- err
	}()
	eventually(t, "the statement runs", func() error {
		return pg.Primary().Exec(t.Context(), fmt.Sprintf("SELECT 1 / count(*) FROM pg_stat_activity WHERE pid = %d AND wait_event = 'PgSleep'", pid(lent)))
	})
	must(t, c.Close())
	if err := <-failed; err == nil {
		t.Error("the statement has succeeded")
	}
	lent.Release()
	closeAtOnce(t, c)
	eventually(t, "the server has noticed", func() error {
		return pg.Primary().Exec(t.Context(), fmt.Sprintf("SELECT 1 / (1 - count(*)) FROM pg_stat_activity WHERE pid IN (%d, %d)", pid(idle), pid(leaked)))
	})
}

func TestCloseCutsConnectionsUnderTLS(t *testing.T) {
	pg := pgcluster.New(t, pgcluster.Options{Settings: map[string]string{"ssl": "on"}, Files: certificate(t)})
	c := start(t, config(t, onDemand, pg.Primary().DSN()))
	p := primary(t, c)
	p.Pgx().PgConn().Exec(t.Context(), "SELECT generate_series(1, 1000000)") // and never read
	closeAtOnce(t, c)
}

func TestCloseWakesThoseWhoQueue(t *testing.T) {
	cfg := config(t, onDemand, dsns(startCalm(t))...)
	cfg.Pool.MaxConns = 1
	c := start(t, cfg)
	primary(t, c) // and never given back
	got := make(chan error)
	go func() {
		_, err := c.Primary(t.Context())
		got <- err
	}()
	must(t, c.Close())
	if err := <-got; !errors.Is(err, topology.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

func TestCloseDoesNotWaitForServersThatHang(t *testing.T) {
	pg := pgcluster.New(t, pgcluster.Options{Standbys: 1})
	c := start(t, config(t, 20*time.Millisecond, dsns(pg)...))
	p := primary(t, c)
	must(t, pg.Primary().Freeze(t.Context()), pg.Standby(0).Freeze(t.Context()))
	eventually(t, "both are unreachable", func() error {
		for i := range pg.Nodes() {
			if got := standing(c.Snapshot(), i); !strings.HasSuffix(got, "unreachable") {
				return fmt.Errorf("node %d: %s", i, got)
			}
		}
		return nil
	})
	p.Destroy()
	dialling := make(chan error)
	go func() {
		_, err := c.Replica(t.Context(), 1, true)
		dialling <- err
	}()
	closeAtOnce(t, c)
	if err := <-dialling; !errors.Is(err, topology.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

// TestCloseAmidEverything closes while connections are borrowed, given back,
// rediscovered and observed.
func TestCloseAmidEverything(t *testing.T) {
	pg := startCalm(t)
	for range 5 {
		cfg := config(t, time.Millisecond, dsns(pg)...)
		cfg.Pool.MinIdleConns = 2
		c := start(t, cfg)
		var users sync.WaitGroup
		for i := range 8 {
			users.Go(func() {
				for {
					p, err := c.Primary(t.Context())
					if i%2 == 0 && err == nil {
						p.Release()
						p, err = c.Replica(t.Context(), 1, i%4 == 0)
					}
					if errors.Is(err, topology.ErrClosed) {
						return
					}
					if err == nil {
						_, _ = p.Pgx().Exec(t.Context(), "SELECT 1", pgx.QueryExecModeSimpleProtocol) // it may be cut
						p.Release()
					}
					c.Touch()
					_ = c.Rediscover(t.Context()) // ErrClosed is seen above
				}
			})
		}
		eventually(t, "they are at it", func() error {
			if c.Stats()[0].ProbeCount < 20 {
				return errors.New("too few probes")
			}
			return nil
		})
		must(t, c.Close())
		users.Wait()
		closeAtOnce(t, c)
	}
}
