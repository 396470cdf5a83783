package driver_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// TestACanceledWriteIsUncertainUntilMended cancels each slow write in the
// middle: what has become of it is not known, so reads that it concerns go to
// the primary, and the first of them finds a new fence.
func TestACanceledWriteIsUncertainUntilMended(t *testing.T) {
	t.Parallel()
	c := pgcluster.New(t, pgcluster.Options{Standbys: 1, Setup: calmSetup + slowSetup})
	for i, tt := range slowWrites {
		t.Run(tt.name, func(t *testing.T) {
			name := fmt.Sprint("canceled", i)
			db, routes := open(t, c.DSN(), "application_name="+name)
			mine, other := lsn.NewSession(t.Context()), lsn.NewSession(t.Context())
			ctx, cancel := context.WithCancel(mine)
			result := make(chan error, 1)
			go func() { result <- tt.write(ctx, db) }()
			waitForBackends(t, c, fmt.Sprintf("application_name = '%s' AND wait_event = 'PgSleep'", name), 1)
			cancel()
			if err := <-result; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want canceled", err)
			}
			first := func(who string, ctx context.Context, want router.Reason) {
				t.Helper()
				if _, err := get(ctx, db, "calm"); err != nil {
					t.Error(err)
				}
				if d := routes.Last(); d.Reason != want {
					t.Errorf("the first read of %s: got %s from %s, want %s", who, d.Reason, d.Label, want)
				}
			}
			first("another session", other, router.ReasonUnfenced)
			if i%2 == 0 { // the session's read would mend the handle's fence as well
				first("nobody", t.Context(), router.ReasonUncertain)
			}
			first("the session", mine, router.ReasonUncertain)
			settle(t, c, db)
			for _, ctx := range []context.Context{mine, t.Context()} {
				if _, err := get(ctx, db, "calm"); err != nil || !routes.Last().Replica() {
					t.Errorf("a later read: got %v, %s from %s, want the replica", err, routes.Last().Reason, routes.Last().Label)
				}
			}
		})
	}
}

// TestAWriteIsUncertainThatIsCanceledWhileItsRowsAreRead cancels a write of many
// rows, which the server may have committed, between two of them.
func TestAWriteIsUncertainThatIsCanceledWhileItsRowsAreRead(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	db, routes := open(t, c.DSN(), "")
	for i := range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		rows, err := db.QueryContext(ctx, `INSERT INTO counter SELECT $1 || i, i FROM generate_series(1, 20000) i RETURNING id, repeat('x', 100)`, fmt.Sprint(i, "-"))
		if err != nil {
			t.Fatal(err)
		}
		rows.Next()
		cancel()
		for rows.Next() { // until database/sql has closed them
		}
		if err := rows.Err(); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want canceled", err)
		}
		_ = rows.Close()
		if _, err := get(t.Context(), db, "x"); !errors.Is(err, sql.ErrNoRows) {
			t.Error(err)
		}
		if d := routes.Last(); d.Reason != router.ReasonUncertain {
			t.Errorf("the first read: got %s from %s, want uncertain", d.Reason, d.Label)
		}
	}
}

// TestACanceledTransactionIsRolledBack cancels a transaction between two
// statements, as database/sql does it, and commits one that is canceled.
func TestACanceledTransactionIsRolledBack(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	db, _ := open(t, c.DSN(), "")
	db.SetMaxOpenConns(1)
	for i := range 5 {
		id := fmt.Sprint("rolled back", i)
		ctx, cancel := context.WithCancel(t.Context())
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(t.Context(), `INSERT INTO counter VALUES ($1, 1)`, id); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := tx.Commit(); !errors.Is(err, context.Canceled) && !errors.Is(err, sql.ErrTxDone) {
			t.Errorf("Commit: got %v, want canceled", err)
		}
		var n int
		err = db.QueryRowContext(t.Context(), `SELECT count(*) FROM counter WHERE id = $1 /* pgryw:primary */`, id).Scan(&n)
		if err != nil || n != 0 {
			t.Errorf("got %d rows, %v, want none", n, err)
		}
		if _, err := db.ExecContext(t.Context(), write); err != nil {
			t.Errorf("a later write: %v", err)
		}
	}
}
