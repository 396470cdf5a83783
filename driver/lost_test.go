package driver_test

import (
	"cmp"
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/router"
)

// doomed are ways to count up. The message that commits has mark in it, or else
// the counter's id.
var doomed = []struct {
	name, mark string
	write      func(ctx context.Context, db *sql.DB, id string) error
}{
	{"Exec", "", func(ctx context.Context, db *sql.DB, id string) error {
		return done(db.ExecContext(ctx, fmt.Sprintf(`UPDATE counter SET n = n + 1 WHERE id = '%s'`, id)))
	}},
	{"Exec with arguments", "", func(ctx context.Context, db *sql.DB, id string) error {
		return done(db.ExecContext(ctx, writeArg, id))
	}},
	{"Query", "", func(ctx context.Context, db *sql.DB, id string) error {
		return drained(db.QueryContext(ctx, writeArg+`RETURNING n`, id))
	}},
	{"Stmt", "", func(ctx context.Context, db *sql.DB, id string) error {
		return inStmt(writeArg, func(ctx context.Context, stmt *sql.Stmt) error { return done(stmt.ExecContext(ctx, id)) })(ctx, db, "")
	}},
	{"several statements", "", func(ctx context.Context, db *sql.DB, id string) error {
		return done(db.ExecContext(ctx, fmt.Sprintf(`SELECT 1; UPDATE counter SET n = n + 1 WHERE id = '%s'`, id)))
	}},
	{"Commit", "commit", func(ctx context.Context, db *sql.DB, id string) error {
		return inOneTx(nil, func(ctx context.Context, tx *sql.Tx, _ string) error {
			return done(tx.ExecContext(ctx, writeArg, id))
		})(ctx, db, "")
	}},
	{"COMMIT", "COMMIT", func(ctx context.Context, db *sql.DB, id string) error {
		return onConn(func(id string, _ int) []string {
			return []string{"BEGIN", fmt.Sprintf(`UPDATE counter SET n = n + 1 WHERE id = '%s'`, id), "COMMIT"}
		})(ctx, db, id, 0)
	}},
}

// TestNothingIsSentTwice loses the connection behind each write, once the
// server has carried it out and before the driver has its answer: the caller
// has an error, the server has run the write once, and reads of it go to the
// primary until its position is known.
func TestNothingIsSentTwice(t *testing.T) {
	t.Parallel()
	c := pgcluster.New(t, pgcluster.Options{Standbys: 1, Setup: calmSetup})
	if err := c.Standby(0).PauseReplay(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := startProxy(t, c.Primary())
	for i, tt := range doomed {
		t.Run(tt.name, func(t *testing.T) {
			db, routes := open(t, p.dsn(c), "")
			id := fmt.Sprint("doomed", i)
			run(t, c, fmt.Sprintf(`INSERT INTO counter VALUES ('%s', 0)`, id))
			if err := tt.write(t.Context(), db, id); err != nil { // prepares what the driver prepares
				t.Fatal(err)
			}
			mark := c.Mark()
			p.arm(lose, cmp.Or(tt.mark, id))
			err := tt.write(t.Context(), db, id)
			if err == nil || errors.Is(err, sqldriver.ErrBadConn) {
				t.Errorf("got %v, want that the connection was lost", err)
			}
			wantTimes(t, c, mark, "UPDATE counter SET n", 1)
			if n, err := get(t.Context(), db, id); err != nil || n != 2 {
				t.Errorf("got %d, %v, want 2", n, err)
			}
			if d := routes.Last(); d.Reason != router.ReasonUncertain {
				t.Errorf("the first read: got %s from %s, want uncertain", d.Reason, d.Label)
			}
			if n, err := get(t.Context(), db, id); err != nil || n != 2 {
				t.Errorf("got %d, %v, want 2", n, err)
			}
			if d := routes.Last(); d.Reason == router.ReasonUncertain || d.Replica() {
				t.Errorf("the second read: got %s from %s, want the primary by a known fence", d.Reason, d.Label)
			}
		})
	}
}

// wantTimes fails the test unless the primary has executed a text so often.
func wantTimes(t *testing.T, c *pgcluster.Cluster, since pgcluster.Mark, text string, times int) {
	t.Helper()
	statements, err := c.Primary().Statements(since)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range statements {
		if strings.Contains(s.SQL, text) {
			n++
		}
	}
	if n != times {
		t.Errorf("%q was executed %d times, want %d", text, n, times)
	}
}

const slowSetup = `
CREATE FUNCTION doze() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(60); RETURN NULL; END$$;
CREATE TABLE slow (id text, n int);
CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION doze();
`

// slowWrites are writes that take a minute: their commit does.
var slowWrites = []struct {
	name  string
	write func(ctx context.Context, db *sql.DB) error
}{
	{"Exec", func(ctx context.Context, db *sql.DB) error {
		return done(db.ExecContext(ctx, `INSERT INTO slow VALUES ('a', 1)`))
	}},
	{"Exec with arguments", func(ctx context.Context, db *sql.DB) error {
		return done(db.ExecContext(ctx, `INSERT INTO slow VALUES ($1, $2)`, "a", 1))
	}},
	{"Query", func(ctx context.Context, db *sql.DB) error {
		return drained(db.QueryContext(ctx, `INSERT INTO slow VALUES ($1, 1) RETURNING n`, "a"))
	}},
	{"Commit", inSlowTx(func(_ context.Context, tx *sql.Tx) error { return tx.Commit() })},
	{"COMMIT", inSlowTx(func(ctx context.Context, tx *sql.Tx) error { return done(tx.ExecContext(ctx, "COMMIT")) })},
}

func inSlowTx(end func(context.Context, *sql.Tx) error) func(context.Context, *sql.DB) error {
	return func(ctx context.Context, db *sql.DB) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		if err := done(tx.ExecContext(ctx, `INSERT INTO slow VALUES ($1, 1)`, "a")); err != nil {
			return err
		}
		return end(ctx, tx)
	}
}

// TestAnEndedBackendIsTheServersError has the server end the backend in the
// middle of a write.
func TestAnEndedBackendIsTheServersError(t *testing.T) {
	t.Parallel()
	c := pgcluster.New(t, pgcluster.Options{Standbys: 1, Setup: calmSetup + slowSetup})
	db, routes := open(t, c.DSN(), "application_name=doomed")
	for _, tt := range slowWrites {
		t.Run(tt.name, func(t *testing.T) {
			mark := c.Mark()
			result := make(chan error, 1)
			go func() { result <- tt.write(t.Context(), db) }()
			end := counter(t, c.Primary(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
				WHERE application_name = 'doomed' AND wait_event = 'PgSleep'`)
			eventually(t, "the write sleeps, and is ended", func() error {
				if n := end(); n != 1 {
					return fmt.Errorf("%d backends sleep", n)
				}
				return nil
			})
			if err := wantState(<-result, "57P01"); err != nil {
				t.Error(err)
			}
			wantTimes(t, c, mark, "INSERT INTO slow", 1)
			if _, err := get(t.Context(), db, "calm"); err != nil {
				t.Error(err)
			}
			if d := routes.Last(); d.Reason != router.ReasonUncertain {
				t.Errorf("the first read: got %s from %s, want uncertain", d.Reason, d.Label)
			}
			settle(t, c, db)
			if _, err := get(t.Context(), db, "calm"); err != nil || !routes.Last().Replica() {
				t.Errorf("a later read: got %v, %s from %s, want the replica", err, routes.Last().Reason, routes.Last().Label)
			}
		})
	}
}
