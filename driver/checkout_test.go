package driver_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/pgryw/pgryw/router"
)

// TestFreshConnectionsSeeTheirWrites has more users than connections, of which
// the pool keeps few or none: connections are made, parked and handed over all
// the time, without a sign of it.
func TestFreshConnectionsSeeTheirWrites(t *testing.T) {
	t.Parallel()
	c := startPaths(t)
	for _, idle := range []int{0, 1, 2} {
		for _, most := range []int{0, 3} {
			t.Run(fmt.Sprintf("%d idle, at most %d", idle, most), func(t *testing.T) {
				db, _ := open(t, c.DSN(), "")
				db.SetMaxIdleConns(idle)
				db.SetMaxOpenConns(most)
				var users sync.WaitGroup
				for user := range 12 {
					id := fmt.Sprint(t.Name(), user)
					users.Go(func() { writeAndReadBack(t, db, id, max(rounds()/25, 4)) })
				}
				users.Wait()
			})
		}
	}
}

// byReader tells the decisions of one reader from those of others.
type byReader struct{}

// TestAHeldConnectionKeepsItsReplicas binds connections by a read, and has
// others write all the time: the held ones are not sent to the primary. What
// they see is as old as their binding at most, and is not lost by reading.
func TestAHeldConnectionKeepsItsReplicas(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	seed(t, c, "x")
	cfg := parse(t, c.DSN())
	var mu sync.Mutex
	held := make(map[router.Reason]int)
	cfg.OnRoute = func(ctx context.Context, d router.Decision) {
		if ctx.Value(byReader{}) != nil {
			mu.Lock()
			defer mu.Unlock()
			held[d.Reason]++
		}
	}
	db := openOnly(t, cfg)
	waitForRoles(t, db)
	reader := conn(t, db)
	ctx := context.WithValue(t.Context(), byReader{}, true)
	if n, err := get(ctx, reader, "x"); err != nil || n != 0 {
		t.Fatalf("got %d, %v", n, err)
	}
	if err := c.Standby(0).PauseReplay(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= 20; i++ {
		if _, err := db.ExecContext(t.Context(), update, "x", i); err != nil {
			t.Fatal(err)
		}
		if n, err := get(ctx, reader, "x"); err != nil || n != 0 {
			t.Fatalf("on the held connection: got %d, %v, want the replica's 0", n, err)
		}
		if n, err := get(t.Context(), db, "x"); err != nil || n != int64(i) {
			t.Fatalf("on the handle: got %d, %v, want %d", n, err, i)
		}
	}
	if n := held[router.ReasonUnfenced]; n != 21 || len(held) != 1 {
		t.Errorf("got %v for the held connection's reads, want 21 unfenced", held)
	}
	if _, err := reader.ExecContext(t.Context(), update, "x", 100); err != nil {
		t.Fatal(err)
	}
	if n, err := get(ctx, reader, "x"); err != nil || n != 100 {
		t.Errorf("after its own write: got %d, %v", n, err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := get(t.Context(), conn(t, db), "x"); err != nil || n != 100 {
		t.Errorf("after the next checkout: got %d, %v", n, err)
	}
}

// TestAHeldConnectionReturnsToItsReplicas lets the replica catch up with the
// connection's own write.
func TestAHeldConnectionReturnsToItsReplicas(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	db, routes := open(t, c.DSN(), "")
	held := conn(t, db)
	for round := range 3 {
		if _, err := held.ExecContext(t.Context(), writeArg, "calm"); err != nil {
			t.Fatal(err)
		}
		settle(t, c, db)
		mark := c.Mark()
		text := fmt.Sprintf("/* %s, round %d. */", t.Name(), round)
		if err := drained(held.QueryContext(t.Context(), read+text)); err != nil {
			t.Fatal(err)
		}
		if d := routes.Last(); d.Reason != router.ReasonFresh {
			t.Errorf("round %d: got %s, want fresh", round, d.Reason)
		}
		wantRun(t, c, mark, text, c.Standby(0), c.Standby(1))
	}
}

// TestACheckoutIsAnEdgeForTheNextUser has one connection go from hand to hand:
// who takes it over after somebody else's write sees it.
func TestACheckoutIsAnEdgeForTheNextUser(t *testing.T) {
	t.Parallel()
	c := startPaths(t)
	db, _ := open(t, c.DSN(), "")
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), `INSERT INTO counter VALUES ('edge', 0)`); err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= 50; i++ {
		read := make(chan error)
		held := conn(t, db)
		go func() { // waits for the connection, and gets it from hand to hand
			n, err := get(t.Context(), db, "edge")
			if err == nil && n != int64(i) {
				err = fmt.Errorf("got %d, want %d", n, i)
			}
			read <- err
		}()
		eventually(t, "somebody waits", func() error {
			if db.Stats().WaitCount < int64(i) {
				return fmt.Errorf("nobody has waited yet")
			}
			return nil
		})
		if err := done(held.ExecContext(t.Context(), update, "edge", i)); err != nil {
			t.Fatal(err)
		}
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-read; err != nil {
			t.Fatal(err)
		}
	}
}
