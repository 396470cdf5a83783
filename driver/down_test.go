package driver_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/pgryw/pgryw/driver"
	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/router"
)

// TestAStandbyThatIsDownAtOpenJoinsByItself opens the handle without it.
func TestAStandbyThatIsDownAtOpenJoinsByItself(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	seed(t, c, "x")
	if err := c.Standby(0).Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	cfg := parse(t, c.DSN())
	routes := &routes{}
	cfg.OnRoute = routes.note
	db := openOnly(t, cfg)
	for range 3 {
		if _, err := get(t.Context(), db, "x"); err != nil {
			t.Fatal(err)
		}
		if d := routes.Last(); d.Reason != router.ReasonNoReplica {
			t.Errorf("got %s from %s, want no_replica", d.Reason, d.Label)
		}
	}
	stats, err := driver.StatsOf(db)
	if err != nil {
		t.Fatal(err)
	}
	if n := stats.Nodes[1]; n.Trouble != router.ReasonUnreachable || n.LastError == "" {
		t.Errorf("got the standby as %s, %q, want it unreachable and why", n.Trouble, n.LastError)
	}
	if err := c.Standby(0).Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the standby serves", func() error {
		if _, err := get(t.Context(), db, "x"); err != nil {
			t.Fatal(err)
		}
		if d := routes.Last(); !d.Replica() {
			return fmt.Errorf("the read ran on %s by %s", d.Label, d.Reason)
		}
		return nil
	})
}

// TestAPrimaryThatIsDownAtOpenIsFoundLater says, before, what is known of each
// server.
func TestAPrimaryThatIsDownAtOpenIsFoundLater(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	if err := c.Primary().Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgryw", c.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.ExecContext(t.Context(), `INSERT INTO counter VALUES ('x', 1)`)
	if err == nil || !strings.HasPrefix(err.Error(), "pgryw: no primary") ||
		!strings.Contains(err.Error(), c.Primary().Addr()) || !strings.Contains(err.Error(), c.Standby(0).Addr()) {
		t.Errorf("got %v, want that there is no primary, and what each server is", err)
	}
	if err := c.Primary().Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the primary is found", func() error {
		return done(db.ExecContext(t.Context(), `INSERT INTO counter VALUES ('x', 1)`))
	})
	if n, err := get(t.Context(), db, "x"); err != nil || n != 1 {
		t.Errorf("got %d, %v", n, err)
	}
}

// TestReadsGoOnWhenAStandbyGoes stops and kills a standby under users who read
// all the time: no read fails, and each sees its write.
func TestReadsGoOnWhenAStandbyGoes(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2)
	db, _ := open(t, c.DSN(), "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var users sync.WaitGroup
	for user := range 6 {
		id := fmt.Sprint("user", user)
		users.Go(func() {
			for n := int64(1); ctx.Err() == nil; n++ {
				_, err := db.ExecContext(t.Context(), `INSERT INTO counter VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET n = excluded.n`, id, n)
				for range 5 {
					got, readErr := get(t.Context(), db, id)
					if readErr == nil && got != n {
						readErr = fmt.Errorf("got %d, want %d", got, n)
					}
					err = errors.Join(err, readErr)
				}
				if err != nil {
					t.Errorf("%s: %v", id, err)
					return
				}
			}
		})
	}
	standby := c.Standby(0)
	for name, fault := range map[string]func(context.Context) error{
		"stopped": standby.Stop, "stopped at once": standby.StopImmediate, "killed": standby.Kill,
	} {
		waitForReplica(t, db, standby)
		if err := fault(t.Context()); err != nil {
			t.Fatal(err)
		}
		eventually(t, name+": it is not used", func() error {
			if n := nodeOf(t, db, standby); n.Trouble != router.ReasonUnreachable {
				return fmt.Errorf("got trouble %s", n.Trouble)
			}
			return nil
		})
		if err := standby.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	users.Wait()
}

// nodeOf returns what the handle knows of a server.
func nodeOf(t *testing.T, db *sql.DB, node *pgcluster.Node) driver.NodeStats {
	t.Helper()
	stats, err := driver.StatsOf(db)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range stats.Nodes {
		if n.Label == node.Addr() {
			return n
		}
	}
	t.Fatalf("%s is no node of the handle", node.Addr())
	return driver.NodeStats{}
}

// waitForReplica waits until a standby serves.
func waitForReplica(t *testing.T, db *sql.DB, node *pgcluster.Node) {
	t.Helper()
	eventually(t, "the standby is in use", func() error {
		if n := nodeOf(t, db, node); n.Role != router.RoleReplica || n.Trouble != router.ReasonNone || n.Pool.Total == 0 {
			return fmt.Errorf("it is a %s, %s, with %d connections", n.Role, n.Trouble, n.Pool.Total)
		}
		return nil
	})
}

// TestAReadSurvivesTheLossOfItsConnection loses the answer of a replica: the
// read runs on the primary, once, unless it is one of a transaction.
func TestAReadSurvivesTheLossOfItsConnection(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	p := startProxy(t, c.Standby(0))
	dsn := strings.Replace(c.DSN(c.Primary(), c.Standby(0)), p.server, p.addr, 1)
	for name, read := range map[string]func(ctx context.Context, db *sql.DB, id string) error{
		"with arguments": func(ctx context.Context, db *sql.DB, id string) error {
			return drained(db.QueryContext(ctx, readArgs, id))
		},
		"without arguments": func(ctx context.Context, db *sql.DB, id string) error {
			return drained(db.QueryContext(ctx, `SELECT n FROM counter WHERE id = '`+id+`'`))
		},
		"without rows": func(ctx context.Context, db *sql.DB, id string) error {
			return done(db.ExecContext(ctx, `SELECT n FROM counter WHERE id = '`+id+`'`))
		},
		"of a Stmt": func(ctx context.Context, db *sql.DB, id string) error {
			return inStmt(readArgs, func(ctx context.Context, stmt *sql.Stmt) error {
				return drained(stmt.QueryContext(ctx, id))
			})(ctx, db, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, routes := open(t, dsn, "")
			if err := read(t.Context(), db, "warm"); err != nil || !routes.Last().Replica() {
				t.Fatalf("got %v from %s", err, routes.Last().Label)
			}
			mark := c.Mark()
			p.arm(lose, "lost")
			if err := read(t.Context(), db, "lost"); err != nil {
				t.Error(err)
			}
			if d := routes.Last(); d.Reason != router.ReasonReplicaError {
				t.Errorf("got %s from %s, want replica_error", d.Reason, d.Label)
			}
			wantTimes(t, c, mark, `FROM counter WHERE id = `, 1)
		})
	}
	t.Run("in a transaction", func(t *testing.T) {
		db, routes := open(t, dsn, "")
		tx := begin(t, db, readOnly)
		if err := drained(tx.QueryContext(t.Context(), readArgs, "warm")); err != nil || !routes.Last().Replica() {
			t.Fatalf("got %v from %s", err, routes.Last().Label)
		}
		p.arm(lose, "lost")
		if err := drained(tx.QueryContext(t.Context(), readArgs, "lost")); err == nil {
			t.Error("the read has no error")
		}
		if err := tx.Commit(); err == nil {
			t.Error("the transaction was committed")
		}
		if err := drained(db.QueryContext(t.Context(), readArgs, "later")); err != nil {
			t.Error(err)
		}
	})
}
