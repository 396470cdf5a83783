package driver_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgryw/pgryw/driver"
	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// raw calls f with the primary's connection behind c.
func raw(t *testing.T, c *sql.Conn, f func(*pgx.Conn) error) {
	t.Helper()
	err := c.Raw(func(driverConn any) error {
		p, err := driver.Unwrap(t.Context(), driverConn)
		if err != nil {
			return err
		}
		return f(p)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// startPaused starts a primary and a standby that has stopped replaying, so
// that a read that is not fenced by a write misses it.
func startPaused(t *testing.T, setup string) *pgcluster.Cluster {
	t.Helper()
	c := pgcluster.New(t, pgcluster.Options{Standbys: 1, Setup: setup})
	catchUp(t, c)
	if err := c.Standby(0).PauseReplay(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestARawWriteIsSeenWhileItsCallbackRuns copies, and writes in ways that
// answer SELECT, inside a Raw callback, and reads elsewhere on the handle before
// the callback has returned.
func TestARawWriteIsSeenWhileItsCallbackRuns(t *testing.T) {
	t.Parallel()
	c := startPaused(t, calmSetup)
	for i, tt := range []struct {
		name  string
		write func(ctx context.Context, p *pgx.Conn, id string) error
	}{
		{"CopyFrom", func(ctx context.Context, p *pgx.Conn, id string) error {
			_, err := p.CopyFrom(ctx, pgx.Identifier{"counter"}, []string{"id", "n"}, pgx.CopyFromRows([][]any{{id, 1}}))
			return err
		}},
		{"Exec", func(ctx context.Context, p *pgx.Conn, id string) error {
			_, err := p.Exec(ctx, `INSERT INTO counter VALUES ($1, 1)`, id)
			return err
		}},
		{"SendBatch", func(ctx context.Context, p *pgx.Conn, id string) error {
			b := &pgx.Batch{}
			b.Queue(`SELECT 1`)
			b.Queue(`INSERT INTO counter VALUES ($1, 1)`, id)
			return p.SendBatch(ctx, b).Close()
		}},
		{"a CTE that writes", func(ctx context.Context, p *pgx.Conn, id string) error {
			var n int
			return p.QueryRow(ctx, `WITH w AS (INSERT INTO counter VALUES ($1, 1) RETURNING n) SELECT n FROM w`, id).Scan(&n)
		}},
		{"a transaction", func(ctx context.Context, p *pgx.Conn, id string) error {
			return pgx.BeginFunc(ctx, p, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, `INSERT INTO counter VALUES ($1, 1)`, id)
				return err
			})
		}},
		{"pgconn", func(ctx context.Context, p *pgx.Conn, id string) error {
			_, err := p.PgConn().Exec(ctx, `INSERT INTO counter VALUES ('`+id+`', 1); SELECT 1`).ReadAll()
			return err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db, routes := open(t, c.DSN(), "")
			held := conn(t, db)
			id := fmt.Sprint("raw", i)
			raw(t, held, func(p *pgx.Conn) error {
				if err := tt.write(t.Context(), p, id); err != nil {
					return err
				}
				for _, ctx := range []context.Context{t.Context(), lsn.NewSession(t.Context())} {
					if n, err := get(ctx, db, id); err != nil || n != 1 {
						t.Errorf("during the callback: got %d from %s, %v", n, routes.Last().Label, err)
					}
				}
				return nil
			})
			if n, err := get(t.Context(), held, id); err != nil || n != 1 {
				t.Errorf("after the callback: got %d, %v", n, err)
			}
			if d := routes.Last(); d.Reason != router.ReasonPinned {
				t.Errorf("after the callback: got %s, want pinned", d.Reason)
			}
			if n, err := get(lsn.NewSession(t.Context()), conn(t, db), id); err != nil || n != 1 {
				t.Errorf("later: got %d, %v", n, err)
			}
		})
	}
}

// TestATransactionLeftByARawCallbackIsFollowed begins and writes in a callback
// and commits by text on the same connection.
func TestATransactionLeftByARawCallbackIsFollowed(t *testing.T) {
	t.Parallel()
	c := startPaused(t, calmSetup)
	db, _ := open(t, c.DSN(), "")
	held := conn(t, db)
	raw(t, held, func(p *pgx.Conn) error {
		_, err := p.Exec(t.Context(), `BEGIN; INSERT INTO counter VALUES ('left', 1)`)
		return err
	})
	if n, err := get(t.Context(), held, "left"); err != nil || n != 1 {
		t.Fatalf("inside: got %d, %v", n, err)
	}
	if _, err := get(t.Context(), db, "left"); !errors.Is(err, sql.ErrNoRows) {
		t.Fatalf("outside, before the commit: got %v", err)
	}
	if _, err := held.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	for _, ctx := range []context.Context{t.Context(), lsn.NewSession(t.Context())} {
		if n, err := get(ctx, db, "left"); err != nil || n != 1 {
			t.Errorf("after the commit: got %d, %v", n, err)
		}
	}
	raw(t, held, func(p *pgx.Conn) error {
		_, err := p.Exec(t.Context(), `BEGIN`)
		return err
	})
	pid := backend(t, held)
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if got := backend(t, conn(t, db)); got == pid {
		t.Errorf("got the backend that was left in a transaction")
	}
}

// TestARawStatementThatIsLeftInTheMiddleIsInDoubt returns from a callback with
// rows open, whose statement the server has carried out, and gives the
// connection up.
func TestARawStatementThatIsLeftInTheMiddleIsInDoubt(t *testing.T) {
	t.Parallel()
	c := startPaused(t, calmSetup)
	for _, ctx := range []context.Context{t.Context(), lsn.NewSession(t.Context())} {
		db, routes := open(t, c.DSN(), "")
		db.SetMaxIdleConns(0)
		held := conn(t, db)
		raw(t, held, func(p *pgx.Conn) error {
			rows, err := p.Query(t.Context(), `UPDATE counter SET n = n + 1 WHERE id = 'calm' RETURNING repeat('x', 10000)`)
			if err != nil {
				return err
			}
			rows.Next()
			return rows.Err()
		})
		changed := counter(t, c.Primary(), `SELECT n FROM counter WHERE id = 'calm'`)
		want := int64(0)
		eventually(t, "the server has committed", func() error {
			if want = int64(changed()); want == 0 {
				return fmt.Errorf("it has not")
			}
			return nil
		})
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
		if n, err := get(ctx, db, "calm"); err != nil || n < want {
			t.Errorf("got %d from %s by %s, %v, want %d", n, routes.Last().Label, routes.Last().Reason, err, want)
		}
	}
}

// TestTheConnMethodGivesThePrimarysConnection asserts the method that programs
// written for pgx's stdlib look for.
func TestTheConnMethodGivesThePrimarysConnection(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	db, _ := open(t, c.DSN(), "")
	held := conn(t, db)
	var pid uint32
	err := held.Raw(func(driverConn any) error {
		p := driverConn.(interface{ Conn() *pgx.Conn }).Conn()
		pid = p.PgConn().PID()
		return p.Ping(t.Context())
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := backend(t, held); got != int(pid) {
		t.Errorf("got backend %d afterwards, want that of the callback, %d", got, pid)
	}
}

// TestAConnectionThatOnlyListensDisturbsNobody listens through Raw, is
// notified, and has the reads of others stay on the replica.
func TestAConnectionThatOnlyListensDisturbsNobody(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	db, routes := open(t, c.DSN(), "")
	listener := conn(t, db)
	raw(t, listener, func(p *pgx.Conn) error {
		if _, err := p.Exec(t.Context(), `LISTEN news`); err != nil {
			return err
		}
		for i := range 5 {
			payload := fmt.Sprint(i)
			if err := c.Primary().Exec(t.Context(), `NOTIFY news, '`+payload+`'`); err != nil {
				return err
			}
			n, err := p.WaitForNotification(t.Context())
			if err != nil {
				return err
			}
			if n.Payload != payload {
				return fmt.Errorf("got notification %q, want %q", n.Payload, payload)
			}
			for _, ctx := range []context.Context{t.Context(), lsn.NewSession(t.Context())} {
				if _, err := get(ctx, db, "calm"); err != nil {
					return err
				}
				if d := routes.Last(); d.Reason != router.ReasonUnfenced {
					t.Errorf("a read elsewhere: got %s, want unfenced", d.Reason)
				}
			}
		}
		return nil
	})
	stats, err := driver.StatsOf(db)
	if err != nil {
		t.Fatal(err)
	}
	if stats.UncertainCount != 0 || stats.PinnedCount != 1 {
		t.Errorf("got %d uncertain, %d pinned, want 0 and 1", stats.UncertainCount, stats.PinnedCount)
	}
}

// rawConn is a wrapper that shows what it wraps under otelsql's name for it.
type rawConn struct{ bareConn }

func (r rawConn) Raw() sqldriver.Conn { return r.c }

type rawConnector struct{ sqldriver.Connector }

func (r rawConnector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	c, err := r.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return rawConn{bareConn{rawConn{bareConn{c}}}}, nil
}

// TestUnwrapFindsTheWayThroughWrappers goes through two layers, and says what it
// has found where there is no way.
func TestUnwrapFindsTheWayThroughWrappers(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	connector, err := driver.NewConnector(parse(t, c.DSN()))
	if err != nil {
		t.Fatal(err)
	}
	defer connector.Close()
	db := sql.OpenDB(rawConnector{connector})
	defer db.Close()
	held := conn(t, db)
	defer held.Close()
	raw(t, held, func(p *pgx.Conn) error {
		_, err := p.Exec(t.Context(), `INSERT INTO counter VALUES ('wrapped', 1)`)
		return err
	})
	if n, err := get(t.Context(), db, "wrapped"); err != nil || n != 1 {
		t.Errorf("got %d, %v", n, err)
	}

	plain, err := sql.Open("pgx", c.DSN(c.Primary()))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	foreign, err := plain.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer foreign.Close()
	err = foreign.Raw(func(driverConn any) error {
		_, err := driver.Unwrap(t.Context(), driverConn)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "*stdlib.Conn is no connection of this driver") {
		t.Errorf("got %v", err)
	}
}
