package driver_test

import (
	"context"
	"database/sql"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/pgryw/pgryw/driver"
	"github.com/pgryw/pgryw/router"
)

func statsOf(t *testing.T, db *sql.DB) driver.Stats {
	t.Helper()
	stats, err := driver.StatsOf(db)
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// TestEachStatementIsRoutedOnce makes calls with contexts of their own, and
// compares what the hook is told with what the statistics count.
func TestEachStatementIsRoutedOnce(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	type caller struct{}
	var mu sync.Mutex
	told := make(map[any][]router.Decision)
	cfg := parse(t, c.DSN())
	cfg.OnRoute = func(ctx context.Context, d router.Decision) {
		mu.Lock()
		defer mu.Unlock()
		told[ctx.Value(caller{})] = append(told[ctx.Value(caller{})], d)
	}
	db := openOnly(t, cfg)
	waitForRoles(t, db)
	held := conn(t, db)
	want := make(map[router.Reason]uint64)
	for _, tt := range []struct {
		name string
		want []router.Reason
		call func(context.Context) error
	}{
		{"read", []router.Reason{router.ReasonUnfenced}, func(ctx context.Context) error { return drained(db.QueryContext(ctx, read)) }},
		{"read by Exec", []router.Reason{router.ReasonUnfenced}, func(ctx context.Context) error { return done(db.ExecContext(ctx, readArgs, "calm")) }},
		{"read-only transaction", []router.Reason{router.ReasonUnfenced, router.ReasonTransaction, router.ReasonTransaction}, func(ctx context.Context) error {
			return inOneTx(readOnly, func(ctx context.Context, tx *sql.Tx, _ string) error {
				if err := drained(tx.QueryContext(ctx, read)); err != nil {
					return err
				}
				return done(tx.ExecContext(ctx, `SHOW work_mem`))
			})(ctx, db, "")
		}},
		{"read that is not on the replica", []router.Reason{router.ReasonSchema}, func(ctx context.Context) error {
			return wantState(drained(db.QueryContext(ctx, `SELECT 1 FROM nowhere`)), "42P01")
		}},
		{"Ping", nil, db.PingContext},
		{"Stmt", []router.Reason{router.ReasonUnfenced}, func(ctx context.Context) error { return inStmt(readArgs, queryStmt)(ctx, db, "") }},
		{"local", []router.Reason{router.ReasonLocal}, func(ctx context.Context) error {
			return done(db.ExecContext(ctx, `SELECT pg_backend_pid()`))
		}},
		{"SET", []router.Reason{router.ReasonSession}, func(ctx context.Context) error { return done(held.ExecContext(ctx, `SET work_mem = '1MB'`)) }},
		{"pinned", []router.Reason{router.ReasonPinned}, func(ctx context.Context) error { return drained(held.QueryContext(ctx, read)) }},
		{"hint", []router.Reason{router.ReasonHint}, func(ctx context.Context) error {
			return drained(db.QueryContext(router.WithPrimary(ctx), read))
		}},
		{"transaction", []router.Reason{router.ReasonReadWriteTx, router.ReasonTransaction, router.ReasonTransaction}, func(ctx context.Context) error {
			return inOneTx(nil, func(ctx context.Context, tx *sql.Tx, _ string) error {
				if err := drained(tx.QueryContext(ctx, read)); err != nil {
					return err
				}
				return done(tx.ExecContext(ctx, write))
			})(ctx, db, "")
		}},
		{"write", []router.Reason{router.ReasonWrite}, func(ctx context.Context) error { return done(db.ExecContext(ctx, write)) }},
	} {
		if err := tt.call(context.WithValue(t.Context(), caller{}, tt.name)); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		var got []router.Reason
		for _, d := range told[tt.name] {
			got = append(got, d.Reason)
			if d.Label == "" {
				t.Errorf("%s: %s has no label", tt.name, d.Reason)
			}
		}
		if len(got) != len(tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
			continue
		}
		for i, why := range tt.want {
			want[why]++
			if got[i] != why {
				t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
			}
		}
	}
	stats := statsOf(t, db)
	for why, n := range want {
		if stats.Routes[why] != n {
			t.Errorf("got %d routes by %s, want %d", stats.Routes[why], why, n)
		}
	}
	if len(stats.Routes) != len(want) || stats.CaptureCount != 2 || stats.PinnedCount != 1 || stats.UncertainCount != 0 || stats.HiddenWriteCount != 0 {
		t.Errorf("got %+v", stats.Stats)
	}
}

// TestStatisticsTellOfEachServer looks at nodes of both roles.
func TestStatisticsTellOfEachServer(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	db, err := sql.Open("pgryw", c.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if stats := statsOf(t, db); len(stats.Nodes) != 0 || len(stats.Routes) != 0 {
		t.Errorf("before the first connection: got %+v", stats)
	}
	waitForRoles(t, db)
	for range 2 {
		if err := drained(db.QueryContext(t.Context(), read)); err != nil {
			t.Fatal(err)
		}
	}
	held := conn(t, db)
	if err := done(held.ExecContext(t.Context(), write)); err != nil {
		t.Fatal(err)
	}
	settle(t, c, db)
	for i, n := range statsOf(t, db).Nodes {
		role, acquired := router.RoleReplica, int32(0)
		if i == 0 {
			role, acquired = router.RolePrimary, 1
		}
		if n.Label != c.Nodes()[i].Addr() || n.Role != role || n.Trouble != router.ReasonNone || n.LastError != "" || n.Blind {
			t.Errorf("got %+v", n)
		}
		if n.Position.Timeline != 1 || n.Position.System == 0 || n.Position.LSN == 0 || n.DurableLSN == 0 || n.ProbeCount == 0 {
			t.Errorf("%s: got position %v, durable %s, %d probes", n.Label, n.Position, n.DurableLSN, n.ProbeCount)
		}
		if n.Pool.Total < 1 || n.Pool.Acquired != acquired || n.Pool.Idle != n.Pool.Total-acquired {
			t.Errorf("%s: got pool %+v", n.Label, n.Pool)
		}
	}
}

// TestStatisticsOfAForeignHandleAreAnError asks for those of pgx's.
func TestStatisticsOfAForeignHandleAreAnError(t *testing.T) {
	db, err := sql.Open("pgx", "postgres://127.0.0.1:1/nowhere")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := driver.StatsOf(db); err == nil || err.Error() != "pgryw: not a handle of this driver, or a wrapped one" {
		t.Errorf("got %v", err)
	}
	if _, ok := db.Driver().(*stdlib.Driver); !ok {
		t.Errorf("got driver %T", db.Driver())
	}
}
