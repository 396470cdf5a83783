package driver_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	pgrywconn "github.com/pgryw/pgryw/conn"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

func begin(t *testing.T, on interface {
	BeginTx(context.Context, *sql.TxOptions) (*sql.Tx, error)
}, opts *sql.TxOptions,
) *sql.Tx {
	t.Helper()
	tx, err := on.BeginTx(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	return tx
}

func show(t *testing.T, q querier, setting string) (value string) {
	t.Helper()
	if err := q.QueryRowContext(t.Context(), "SHOW "+setting).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// TestAReadOnlyTransactionHasOneSnapshot counts again and again in a transaction
// on a replica, which replays the primary's writes in between. They only insert:
// a standby does not replay what takes away rows that a snapshot can see.
func TestAReadOnlyTransactionHasOneSnapshot(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2)
	db, routes := open(t, c.DSN(), "")
	mark := c.Mark()
	comment := "/* " + t.Name() + " */"
	tx := begin(t, db, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead})
	for i := range 10 {
		var n int
		if err := tx.QueryRowContext(t.Context(), `SELECT count(*) FROM counter `+comment).Scan(&n); err != nil || n != 0 {
			t.Fatalf("after %d writes: got %d, %v, want the snapshot's 0", i, n, err)
		}
		if _, err := db.ExecContext(t.Context(), `INSERT INTO counter VALUES ($1, 0)`, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		catchUp(t, c)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	wantOneBackend(t, wantRun(t, c, mark, comment, c.Standby(0), c.Standby(1)), mark, comment, 10)
	settle(t, c, db)
	var n int
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM counter`).Scan(&n); err != nil || n != 10 || !routes.Last().Replica() {
		t.Errorf("outside: got %d from %s, %v, want 10 from a replica", n, routes.Last().Label, err)
	}
}

// TestSettingsOfAReadOnlyTransactionStayInIt changes settings in transactions
// on a replica, of which the node has one connection to give.
func TestSettingsOfAReadOnlyTransactionStayInIt(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	db, routes := open(t, c.DSN(c.Primary(), c.Standby(0)), "pgryw.pool_max_conns=1&work_mem=3MB")
	for _, set := range []struct {
		text, want string
	}{
		{"SET work_mem = '1MB'", "1MB"},
		{"SET LOCAL work_mem = '2MB'", "2MB"},
		{"SELECT set_config('work_mem', '4MB', false)", "4MB"},
		{"/* state */ RESET work_mem", "3MB"},
		{"SELECT 1; SET work_mem = '5MB'", "5MB"},
		{"DO $$BEGIN PERFORM set_config('work_mem', '6MB', false); END$$", "6MB"},
		{"SELECT 1", "3MB"},
	} {
		tx := begin(t, db, readOnly)
		if got := show(t, tx, "work_mem"); got != "3MB" || !routes.Last().Replica() {
			t.Errorf("before %s: got %s from %s, want 3MB from the replica", set.text, got, routes.Last().Label)
		}
		if _, err := tx.ExecContext(t.Context(), set.text); err != nil {
			t.Fatalf("%s: %v", set.text, err)
		}
		if got := show(t, tx, "work_mem"); got != set.want {
			t.Errorf("after %s: got %s, want %s", set.text, got, set.want)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAReadOnlyTransactionRefusesWhatOnlyThePrimaryCanDo tries what a standby
// would carry out for itself, and goes on in the same transaction.
func TestAReadOnlyTransactionRefusesWhatOnlyThePrimaryCanDo(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	db, routes := open(t, c.DSN(), "")
	primary, _ := open(t, c.DSN(), "pgryw.readonly_tx=primary")
	for _, text := range []string{
		"SELECT pg_advisory_lock(7)",
		"SELECT pg_try_advisory_lock(7)",
		"SELECT pg_advisory_xact_lock(7)",
		"SELECT n, pg_advisory_xact_lock_shared(7) FROM counter",
		"SELECT pg_advisory_unlock(7)",
		"SELECT pg_export_snapshot()",
		"SELECT pg_cancel_backend(0)",
		"SELECT pg_catalog.pg_terminate_backend(0)",
		`SELECT "pg_reload_conf"()`,
		"WITH locked AS (SELECT pg_try_advisory_lock(7) AS it) SELECT it FROM locked",
	} {
		mark := c.Mark()
		text += " /* " + t.Name() + " */"
		tx := begin(t, db, readOnly)
		if !routes.Last().Replica() {
			t.Fatalf("the transaction runs on %s", routes.Last().Label)
		}
		if _, err := tx.ExecContext(t.Context(), text); !errors.Is(err, pgrywconn.ErrReplicaTransaction) {
			t.Errorf("%s: got %v, want ErrReplicaTransaction", text, err)
		}
		if _, err := get(t.Context(), tx, "calm"); err != nil {
			t.Errorf("%s: the next read: %v", text, err)
		}
		if err := tx.Commit(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if ran, err := c.Ran(mark, text); err != nil || len(ran) != 0 {
			t.Errorf("%s ran on %s, %v", text, names(ran), err)
		}
		onPrimary := begin(t, primary, readOnly)
		if _, err := onPrimary.ExecContext(t.Context(), text); err != nil {
			t.Errorf("on the primary: %s: %v", text, err)
		}
		if err := onPrimary.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

// TestATransactionThatNeedsThePrimaryRunsThere looks at what the log says.
func TestATransactionThatNeedsThePrimaryRunsThere(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	for _, tt := range []struct {
		name, options string
		opts          *sql.TxOptions
		why           router.Reason
	}{
		{"may write", "", nil, router.ReasonReadWriteTx},
		{"serializable", "", &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelSerializable}, router.ReasonSerializable},
		{"by option", "pgryw.readonly_tx=primary", readOnly, router.ReasonReadOnlyTx},
		{"route off", "pgryw.route=off", readOnly, router.ReasonRouteOff},
		{"hinted only", "pgryw.route=hinted", readOnly, router.ReasonNotHinted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db, routes := open(t, c.DSN(), tt.options)
			mark := c.Mark()
			tx := begin(t, db, tt.opts)
			if d := routes.Last(); d.Reason != tt.why {
				t.Errorf("got %s, want %s", d.Reason, tt.why)
			}
			comment := "/* " + t.Name() + " */"
			if err := drained(tx.QueryContext(t.Context(), read+comment)); err != nil {
				t.Error(err)
			}
			if err := tx.Commit(); err != nil {
				t.Error(err)
			}
			wantRun(t, c, mark, comment, c.Primary())
		})
	}
}

// TestSerializableByDefaultMeansThePrimary opens handles whose connections are
// serializable by default, which a standby cannot be.
func TestSerializableByDefaultMeansThePrimary(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	db := openOnly(t, parse(t, c.DSN()+"&default_transaction_isolation=serializable"))
	for i := range 3 {
		mark := c.Mark()
		comment := fmt.Sprintf("/* %s, %d. */", t.Name(), i)
		tx := begin(t, db, readOnly)
		if got := show(t, tx, "transaction_isolation"); got != "serializable" {
			t.Errorf("got %s", got)
		}
		if err := drained(tx.QueryContext(t.Context(), read+comment)); err != nil {
			t.Error(err)
		}
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
		wantRun(t, c, mark, comment, c.Primary())
	}
}

// TestAReadOnlyTransactionIsGuardedBeforeItBegins has the replica stop
// replaying once the handle has learnt that it is quick: the guard finds out
// ahead of BEGIN, and the transaction runs on the primary.
func TestAReadOnlyTransactionIsGuardedBeforeItBegins(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	seed(t, c, "x")
	db, routes := open(t, c.DSN(), "")
	guarded := 0
	for round := 1; guarded < 3; round++ {
		if round > 200 {
			t.Fatalf("got %d guarded transactions in 200 rounds, want 3", guarded)
		}
		settle(t, c, db)
		if err := c.Standby(0).PauseReplay(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		if round%2 == 0 {
			ctx = lsn.NewSession(ctx)
		}
		if _, err := db.ExecContext(ctx, update, "x", round); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < 20 && routes.Last().Reason != router.ReasonGuardFailed; i++ {
			tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead})
			if err != nil {
				t.Fatal(err)
			}
			if d := routes.Last(); d.Replica() {
				t.Errorf("round %d: got %s by %s, want the primary", round, d.Label, d.Reason)
			} else if d.Reason == router.ReasonGuardFailed {
				guarded++
			}
			if n, err := get(ctx, tx, "x"); err != nil || n != int64(round) {
				t.Errorf("round %d: got %d, %v", round, n, err)
			}
			if err := tx.Commit(); err != nil {
				t.Error(err)
			}
		}
		if err := c.Standby(0).ResumeReplay(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
