package driver_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgryw/pgryw/internal/pgcluster"
)

// TestAServersErrorIsTheVeryOneOfPgx has errors compared without errors.As, as
// golang-migrate and GORM do. What pgx wraps itself, as a failed Prepare, comes
// as it wraps it.
func TestAServersErrorIsTheVeryOneOfPgx(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	db, routes := open(t, c.DSN(), "")
	ctx := t.Context()
	isPrepare := func(err error) bool { _, ok := err.(*pgconn.PrepareError); return ok } //nolint:errorlint // as below
	for _, tt := range []struct {
		name, code       string
		replica, prepare bool
		fail             func() error
	}{
		{"Exec", "23505", false, false, func() error { return done(db.ExecContext(ctx, `INSERT INTO counter VALUES ('calm', 1)`)) }},
		{"Exec with arguments", "23505", false, false, func() error {
			return done(db.ExecContext(ctx, `INSERT INTO counter VALUES ($1, 1)`, "calm"))
		}},
		{"Query", "42P01", false, true, func() error { return drained(db.QueryContext(ctx, `SELECT n FROM nowhere`)) }},
		{"Query of a write", "23505", false, false, func() error {
			return drained(db.QueryContext(ctx, `INSERT INTO counter VALUES ('calm', 1) RETURNING n`))
		}},
		{"deferred constraint", "23503", false, false, func() error { return done(db.ExecContext(ctx, `INSERT INTO child VALUES (1)`)) }},
		{"deferred constraint at COMMIT", "23503", false, false, func() error {
			tx := begin(t, db, nil)
			if _, err := tx.ExecContext(ctx, `INSERT INTO child VALUES (1)`); err != nil {
				return err
			}
			return tx.Commit()
		}},
		{"deferred constraint of RETURNING", "23503", false, false, func() error {
			return drained(db.QueryContext(ctx, `INSERT INTO child VALUES (1) RETURNING id`))
		}},
		{"Prepare", "42601", false, true, func() error {
			_, err := db.PrepareContext(ctx, `SELEKT 1`)
			return err
		}},
		{"Prepare of a read", "42703", false, true, func() error {
			_, err := db.PrepareContext(ctx, `SELECT nothing FROM counter`)
			return err
		}},
		{"read on a replica", "22012", true, false, func() error {
			return drained(db.QueryContext(ctx, `SELECT 1/(n-n) FROM counter WHERE id = 'calm'`))
		}},
		{"read on a replica with arguments", "22012", true, false, func() error {
			var n int
			return db.QueryRowContext(ctx, `SELECT 1/$1::int`, 0).Scan(&n)
		}},
		{"rows that fail halfway", "22012", true, false, func() error {
			return drained(db.QueryContext(ctx, `SELECT 1/(5000-i) FROM generate_series(1, 5000) i`))
		}},
		{"read-only transaction", "25006", true, false, func() error {
			return done(begin(t, db, readOnly).ExecContext(ctx, write))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.replica {
				settle(t, c, db)
			}
			err := tt.fail()
			if tt.prepare && isPrepare(err) {
				err = errors.Unwrap(err)
			}
			pgErr, ok := err.(*pgconn.PgError) //nolint:errorlint // that it is not wrapped is what is tested
			if !ok || pgErr.Code != tt.code {
				t.Fatalf("got %T %v, want a *pgconn.PgError of %s", err, err, tt.code)
			}
			if d := routes.Last(); d.Replica() != tt.replica {
				t.Errorf("ran on %s by %s", d.Label, d.Reason)
			}
		})
	}
}

// onBoth runs a test with this driver and with pgx's own on the same server,
// and compares what it returns.
func onBoth(t *testing.T, c *pgcluster.Cluster, f func(t *testing.T, db *sql.DB) []string) {
	t.Helper()
	results := make(map[string][]string)
	for _, name := range []string{"pgx", "pgryw"} {
		db, err := sql.Open(name, c.DSN())
		if err != nil {
			t.Fatal(err)
		}
		results[name] = f(t, db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range results["pgx"] {
		if got := results["pgryw"][i]; got != want {
			t.Errorf("%d: got  %s\npgx has %s", i, got, want)
		}
	}
	if len(results["pgx"]) == 0 || len(results["pgx"]) != len(results["pgryw"]) {
		t.Errorf("got %d results, pgx has %d", len(results["pgryw"]), len(results["pgx"]))
	}
}

// say returns what an error is and says.
func say(what string, err error) string {
	return fmt.Sprintf("%s: %T %v; canceled %t, deadline %t, bad connection %t, done %t, timeout %t", what, err, err,
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, sqldriver.ErrBadConn), errors.Is(err, sql.ErrTxDone), pgconn.Timeout(err))
}

// TestErrorsThatAreNotTheServersAreThoseOfPgx compares the two drivers.
func TestErrorsThatAreNotTheServersAreThoseOfPgx(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	onBoth(t, c, func(t *testing.T, db *sql.DB) (said []string) {
		t.Helper()
		ctx := t.Context()
		note := func(what string, err error) { said = append(said, say(what, err)) }

		result, err := db.ExecContext(ctx, write)
		note("Exec", err)
		_, err = result.LastInsertId()
		note("LastInsertId", err)
		_, err = result.RowsAffected()
		note("RowsAffected", err)

		tx := begin(t, db, nil)
		_ = done(tx.ExecContext(ctx, `SELECT 1/0`))
		note("in an aborted transaction", done(tx.ExecContext(ctx, read)))
		err = tx.Commit()
		note("Commit of an aborted transaction", err)
		if !errors.Is(err, pgx.ErrTxCommitRollback) {
			t.Errorf("got %v, want ErrTxCommitRollback", err)
		}
		note("Commit again", tx.Commit())

		gone, cancel := context.WithCancel(ctx)
		cancel()
		note("Exec, canceled", done(db.ExecContext(gone, write)))
		note("Query, canceled", drained(db.QueryContext(gone, read)))
		_, err = db.BeginTx(gone, nil)
		note("Begin, canceled", err)
		_, err = db.PrepareContext(gone, read)
		note("Prepare, canceled", err)

		note("too few arguments", drained(db.QueryContext(ctx, readArgs)))
		note("too many arguments", drained(db.QueryContext(ctx, read, 1)))
		note("too many for Exec", done(db.ExecContext(ctx, write, 1)))
		note("an argument of no use", drained(db.QueryContext(ctx, readArgs, struct{}{})))
		note("an argument of another type", drained(db.QueryContext(ctx, `SELECT n FROM counter WHERE n = $1`, "seven")))
		stmt, err := db.PrepareContext(ctx, readArgs)
		note("Prepare", err)
		note("too many for a Stmt", drained(stmt.QueryContext(ctx, 1, 2)))
		note("the Stmt's Close", stmt.Close())
		note("isolation", func() error {
			_, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelWriteCommitted})
			return err
		}())
		note("isolation of a read-only transaction", func() error {
			_, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelLinearizable, ReadOnly: true})
			return err
		}())
		note("several with arguments", done(db.ExecContext(ctx, `SELECT $1; SELECT 2`, 1)))
		note("an empty text", done(db.ExecContext(ctx, ``)))
		note("a query of nothing", drained(db.QueryContext(ctx, ` -- nothing`)))
		note("COPY to nobody", done(db.ExecContext(ctx, `COPY counter TO STDOUT`)))
		note("after the COPY", drained(db.QueryContext(ctx, read)))
		return said
	})
}

// TestDeadlinesAreThoseOfPgx lets a deadline pass in the middle of each call.
func TestDeadlinesAreThoseOfPgx(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	const slow = `UPDATE counter SET n = n FROM pg_sleep(30) `
	onBoth(t, c, func(t *testing.T, db *sql.DB) (said []string) {
		t.Helper()
		if err := db.PingContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		within := func(what string, call func(context.Context) error) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			said = append(said, say(what, call(ctx)), say("after "+what, drained(db.QueryContext(t.Context(), read))))
		}
		within("Exec", func(ctx context.Context) error { return done(db.ExecContext(ctx, slow)) })
		within("Exec with arguments", func(ctx context.Context) error {
			return done(db.ExecContext(ctx, slow+`WHERE id = $1`, "calm"))
		})
		within("Query", func(ctx context.Context) error { return drained(db.QueryContext(ctx, slow+`RETURNING n`)) })
		within("read", func(ctx context.Context) error {
			return drained(db.QueryContext(ctx, `SELECT 1 FROM pg_sleep(30)`))
		})
		within("read without rows", func(ctx context.Context) error {
			return done(db.ExecContext(ctx, `SELECT 1 FROM pg_sleep(30)`))
		})
		within("read in a transaction", func(ctx context.Context) error {
			tx, err := db.BeginTx(ctx, readOnly)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }()
			return drained(tx.QueryContext(ctx, `SELECT 1 FROM pg_sleep(30)`))
		})
		return said
	})
}
