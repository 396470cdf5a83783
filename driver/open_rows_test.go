package driver_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"

	pgrywconn "github.com/pgryw/pgryw/conn"
	"github.com/pgryw/pgryw/driver"
	"github.com/pgryw/pgryw/lsn"
)

// inTime fails the test if f does not return: database/sql waits for open rows
// for ever if a call beside them ends in driver.ErrBadConn.
func inTime(t *testing.T, what string, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	ctx, cancel := context.WithTimeout(t.Context(), pollBound)
	defer cancel()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		t.Fatalf("%s has not returned", what)
		return nil
	}
}

// TestACallBesideOpenRowsSaysThatTheConnectionIsBusy makes calls on a
// connection whose rows are open, on the primary and on a replica, in a
// transaction and not. pgx's own stdlib says driver.ErrBadConn, or closes the
// connection; here the rows are left alone.
func TestACallBesideOpenRowsSaysThatTheConnectionIsBusy(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	db, _ := open(t, c.DSN(), "")
	ctx := t.Context()
	calls := map[string]func(*sql.Conn) error{
		"Exec":                func(c *sql.Conn) error { return done(c.ExecContext(ctx, write)) },
		"Exec with arguments": func(c *sql.Conn) error { return done(c.ExecContext(ctx, writeArg, "calm")) },
		"Query":               func(c *sql.Conn) error { return drained(c.QueryContext(ctx, read)) },
		"Begin":               func(c *sql.Conn) error { _, err := c.BeginTx(ctx, nil); return err },
		"Begin read-only":     func(c *sql.Conn) error { _, err := c.BeginTx(ctx, readOnly); return err },
		"Prepare":             func(c *sql.Conn) error { _, err := c.PrepareContext(ctx, "SELECT 'beside open rows'"); return err },
		"Ping":                func(c *sql.Conn) error { return c.PingContext(ctx) },
	}
	for _, tt := range []struct {
		name, begin, text string
		pings             bool // the primary is not busy
	}{
		{"on a replica", "", `SELECT i FROM generate_series(1, 100) i`, true},
		{"on the primary", "", `SELECT i FROM generate_series(1, 100) i, pg_backend_pid()`, false},
		{"of a write", "", `UPDATE counter SET n = n FROM generate_series(1, 100) i RETURNING 1`, false},
		{"in a transaction", "BEGIN", `SELECT i FROM generate_series(1, 100) i`, false},
	} {
		for name, call := range calls {
			t.Run("rows "+tt.name+", "+name, func(t *testing.T) {
				held := conn(t, db)
				if tt.begin != "" {
					if _, err := held.ExecContext(ctx, tt.begin); err != nil {
						t.Fatal(err)
					}
				}
				rows, err := held.QueryContext(ctx, tt.text)
				if err != nil {
					t.Fatal(err)
				}
				defer rows.Close()
				err = inTime(t, name, func() error { return call(held) })
				switch {
				case tt.pings && name == "Ping":
					if err != nil {
						t.Errorf("got %v", err)
					}
				case err == nil || !strings.Contains(err.Error(), "conn busy") || errors.Is(err, sqldriver.ErrBadConn):
					t.Errorf("got %v, want pgx's: conn busy", err)
				}
				if err := drained(rows, nil); err != nil {
					t.Errorf("the rows: %v", err)
				}
				if err := drained(held.QueryContext(ctx, read)); err != nil {
					t.Errorf("the next call: %v", err)
				}
				if tt.begin != "" {
					if _, err := held.ExecContext(ctx, "ROLLBACK"); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// TestACallBehindRowsThatAreOverIsFenced leaves rows unclosed of which there are
// none: pgx lets the connection go on, and so must everything that is known of
// it.
func TestACallBehindRowsThatAreOverIsFenced(t *testing.T) {
	t.Parallel()
	c := startPaused(t, calmSetup+`INSERT INTO counter SELECT 'over' || i, 0 FROM generate_series(0, 99) i;`)
	ctx := t.Context()
	i := 0
	for before, text := range map[string]string{
		"a read on a replica":   `SELECT n FROM counter WHERE id = 'nobody'`,
		"a read on the primary": `SELECT n FROM counter WHERE id = 'nobody' AND pg_backend_pid() > 0`,
		"a write":               `UPDATE counter SET n = n WHERE id = 'nobody' RETURNING n`,
		"a query without a row": `UPDATE counter SET n = n WHERE id = 'nobody'`,
		"a locking read":        `SELECT n FROM counter WHERE id = 'nobody' FOR SHARE`,
		"an insert of none":     `INSERT INTO counter VALUES ('calm', 1) ON CONFLICT DO NOTHING RETURNING n`,
	} {
		for name, write := range map[string]func(*sql.Conn, context.Context, string) error{
			"Exec": func(c *sql.Conn, ctx context.Context, id string) error {
				return done(c.ExecContext(ctx, update, id, 1))
			},
			"Query": func(c *sql.Conn, ctx context.Context, id string) error {
				return drained(c.QueryContext(ctx, update+` RETURNING n`, id, 1))
			},
			"Tx": func(c *sql.Conn, ctx context.Context, id string) error {
				tx, err := c.BeginTx(ctx, nil)
				if err != nil {
					return err
				}
				defer func() { _ = tx.Rollback() }()
				none, err := tx.QueryContext(ctx, text)
				if err != nil {
					return err
				}
				if err := done(tx.ExecContext(ctx, update, id, 1)); err != nil {
					return err
				}
				_ = none.Close()
				return tx.Commit()
			},
			"Raw": func(c *sql.Conn, ctx context.Context, id string) error {
				return c.Raw(func(driverConn any) error {
					p, err := driver.Unwrap(ctx, driverConn)
					if err != nil {
						return err
					}
					_, err = p.Exec(ctx, update, id, 1)
					return err
				})
			},
		} {
			t.Run(name+" behind "+before, func(t *testing.T) {
				db, routes := open(t, c.DSN(), "")
				id := fmt.Sprint("over", i)
				i++
				for _, ctx := range []context.Context{ctx, lsn.NewSession(ctx)} {
					held := conn(t, db)
					over, err := held.QueryContext(ctx, text)
					if err != nil {
						t.Fatal(err)
					}
					defer over.Close()
					if err := inTime(t, name, func() error { return write(held, ctx, id) }); err != nil {
						t.Fatal(err)
					}
					if n, err := get(ctx, db, id); err != nil || n != 1 {
						t.Errorf("elsewhere: got %d from %s, %v", n, routes.Last().Label, err)
					}
					if n, err := get(ctx, held, id); err != nil || n != 1 {
						t.Errorf("on the same connection: got %d from %s, %v", n, routes.Last().Label, err)
					}
					if over.Next() || over.Err() != nil {
						t.Errorf("got a row, or %v", over.Err())
					}
				}
			})
		}
	}
}

// TestTheConnectionOfAReplicasTransactionAnswersOtherCalls pings, unwraps and
// prepares beside a read-only transaction on a replica.
func TestTheConnectionOfAReplicasTransactionAnswersOtherCalls(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	db, routes := open(t, c.DSN(), "")
	held := conn(t, db)
	tx := begin(t, held, readOnly)
	if !routes.Last().Replica() {
		t.Fatalf("the transaction runs on %s", routes.Last().Label)
	}
	if err := inTime(t, "Ping", func() error { return held.PingContext(t.Context()) }); err != nil {
		t.Errorf("Ping: %v", err)
	}
	err := inTime(t, "Raw", func() error {
		return held.Raw(func(driverConn any) error {
			_, err := driver.Unwrap(t.Context(), driverConn)
			return err
		})
	})
	if !errors.Is(err, pgrywconn.ErrReplicaTransaction) {
		t.Errorf("Raw: got %v, want ErrReplicaTransaction", err)
	}
	stmt, err := tx.PrepareContext(t.Context(), readArgs)
	if err != nil {
		t.Fatal(err)
	}
	if err := queryStmt(t.Context(), stmt); err != nil {
		t.Error(err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	if _, err := held.ExecContext(t.Context(), write); err != nil {
		t.Error(err)
	}
}
