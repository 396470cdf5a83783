package wire

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// bound is the time that a test gives what must not take it. The statements
// below would take longer.
const bound = 20 * time.Second

// busy reports whether a backend is at work, or waits for pg_sleep if asleep is
// set.
func busy(t *testing.T, watcher *client, pid uint32, asleep bool) bool {
	t.Helper()
	sql := "select 1 from pg_stat_activity where pid = $1 and state = 'active' and (wait_event is not distinct from 'PgSleep' or not $2)"
	if err := queryPath(sql, int64(pid), asleep)(t.Context(), watcher); err != nil {
		t.Error(err)
	}
	return len(watcher.rows) > 0
}

// allocated returns the bytes that f allocates.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

func TestARejectedReadThatIsSlowOrHugeIsLeftToItself(t *testing.T) {
	config := realServer(t)
	watcher := plainConnect(t, config(pgx.QueryExecModeExec))
	for _, sql := range []string{
		"select pg_sleep(30)::text",
		"select sum(g)::text from generate_series(1, 100000000000) g",
		"select repeat('x', 1000) from generate_series(1, 1000000)",
		"select repeat('x', 100000000) from generate_series(1, 10)",
	} {
		for _, mode := range modes {
			c := connect(t, config(mode))
			pg := c.std.Conn().PgConn()
			ctx, cancel := context.WithTimeout(t.Context(), bound)
			size := allocated(func() {
				c.shim.Arm(rejecting())
				err := queryPath(sql)(ctx, c)
				o := c.shim.Finish()
				if err != nil || len(c.rows) > 0 || o.Guard != GuardRejected || !o.Draining {
					t.Errorf("%s, %q: got %v, %d rows, %+v", mode, sql, err, len(c.rows), o)
				}
				if err := c.shim.Drain(ctx); !errors.Is(err, errDrainGrace) {
					t.Errorf("%s, %q: got %v, want %v", mode, sql, err, errDrainGrace)
				}
			})
			if size > 1<<20 {
				t.Errorf("%s, %q: %d bytes were allocated", mode, sql, size)
			}
			refusesWrites(t, c)
			_ = pg.Close(ctx)
			for busy(t, watcher, pg.PID(), false) {
				if ctx.Err() != nil {
					t.Fatalf("%s, %q: still runs on the server", mode, sql)
				}
			}
			cancel()
		}
	}
}

// discard reads a query to its end and returns the number of rows.
func discard(t *testing.T, c *client, sql string) (count int) {
	t.Helper()
	rows, err := c.std.QueryContext(t.Context(), sql, nil)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]sqldriver.Value, len(rows.Columns()))
	for err == nil {
		if err = rows.Next(values); err == nil {
			count++
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	return count
}

func TestAHugeResultPassesWithoutBeingHeld(t *testing.T) {
	config := realServer(t)
	const want = 20_000
	sql := "select repeat('x', 1000) from generate_series(1, 20000)"
	for _, mode := range modes {
		plain := plainConnect(t, config(mode))
		shimmed := connect(t, config(mode))
		for _, c := range []*client{plain, shimmed} { // fills pgx's caches and pools
			discard(t, c, sql)
		}
		base := allocated(func() { discard(t, plain, sql) })
		size := allocated(func() {
			shimmed.shim.Arm(Flight{
				Guard: guardQuery, Pass: notInRecovery, AskXID: AskBehind, Extended: true, Capture: captureQuery,
			})
			if got := discard(t, shimmed, sql); got != want {
				t.Errorf("%s: got %d rows, want %d", mode, got, want)
			}
			o := shimmed.shim.Finish()
			wantEverything(t, &o)
		})
		if size > base+1<<20 {
			t.Errorf("%s: %d bytes were allocated, and %d without a Shim", mode, size, base)
		}
	}
}
