package driver_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgryw/pgryw/driver"
	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/router"
)

// state is session state that one statement leaves on its connection.
type state struct {
	name string
	make string
	// is answers true on a connection that has the state; the name of the
	// connection's state, as application_name, cursor and so on, is "mine".
	is string
}

var states = []state{
	{"SET", `SET application_name = 'mine'`, `SELECT current_setting('application_name') = 'mine'`},
	{"set_config", `SELECT set_config('my.setting', 'mine', false)`, `SELECT coalesce(current_setting('my.setting', true), '') = 'mine'`},
	{"temporary table", `CREATE TEMP TABLE mine (n int)`, `SELECT to_regclass('pg_temp.mine') IS NOT NULL`},
	{"SELECT INTO", `SELECT 1 AS n INTO TEMP mine`, `SELECT to_regclass('pg_temp.mine') IS NOT NULL`},
	{"LISTEN", `LISTEN mine`, `SELECT count(*) = 1 FROM pg_listening_channels()`},
	{"advisory lock", `SELECT pg_advisory_lock(4711)`, `SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`},
	{"PREPARE", `PREPARE mine AS SELECT 1`, `SELECT count(*) = 1 FROM pg_prepared_statements WHERE name = 'mine'`},
	{"WITH HOLD", `DECLARE mine CURSOR WITH HOLD FOR SELECT 1`, `SELECT count(*) = 1 FROM pg_cursors WHERE name = 'mine'`},
	{"DO", `DO $$BEGIN PERFORM set_config('my.setting', 'mine', false); END$$`, `SELECT coalesce(current_setting('my.setting', true), '') = 'mine'`},
	{"CALL", `CALL keep_setting()`, `SELECT coalesce(current_setting('my.setting', true), '') = 'mine'`},
	{"function", `SELECT keep_setting_too()`, `SELECT coalesce(current_setting('my.setting', true), '') = 'mine'`},
}

const stateSetup = `
CREATE TABLE counter (id text PRIMARY KEY, n bigint NOT NULL);
INSERT INTO counter VALUES ('calm', 0);
CREATE PROCEDURE keep_setting() LANGUAGE plpgsql AS $$BEGIN PERFORM set_config('my.setting', 'mine', false); END$$;
CREATE FUNCTION keep_setting_too() RETURNS void LANGUAGE plpgsql AS $$BEGIN PERFORM set_config('my.setting', 'mine', false); END$$;
`

func has(t *testing.T, q querier, s state) (yes bool) {
	t.Helper()
	if err := q.QueryRowContext(t.Context(), s.is).Scan(&yes); err != nil {
		t.Fatalf("%s: %v", s.is, err)
	}
	return yes
}

func backend(t *testing.T, q querier) (pid int) {
	t.Helper()
	if err := q.QueryRowContext(t.Context(), `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
		t.Fatal(err)
	}
	return pid
}

func pinned(t *testing.T, db *sql.DB) int {
	t.Helper()
	stats, err := driver.StatsOf(db)
	if err != nil {
		t.Fatal(err)
	}
	return stats.PinnedCount
}

// TestSessionStatePinsItsCheckout leaves state on a connection: its later reads
// run on that very backend, until DISCARD ALL.
func TestSessionStatePinsItsCheckout(t *testing.T) {
	t.Parallel()
	c := pgcluster.New(t, pgcluster.Options{Standbys: 1, Setup: stateSetup})
	for _, s := range states {
		t.Run(s.name, func(t *testing.T) {
			db, routes := open(t, c.DSN(), "")
			held, other := conn(t, db), conn(t, db)
			if _, err := held.ExecContext(t.Context(), s.make); err != nil {
				t.Fatal(err)
			}
			pid := backend(t, held)
			mark, comment := c.Mark(), "/* "+t.Name()+" */"
			for range 3 {
				if err := drained(held.QueryContext(t.Context(), readArgs+comment, "calm")); err != nil {
					t.Fatal(err)
				}
				if d := routes.Last(); d.Reason != router.ReasonPinned {
					t.Errorf("got %s, want pinned", d.Reason)
				}
				if err := drained(other.QueryContext(t.Context(), read)); err != nil {
					t.Fatal(err)
				}
			}
			node := wantRun(t, c, mark, comment, c.Primary())
			if got := wantOneBackend(t, node, mark, comment, 3); got != pid {
				t.Errorf("the reads ran on backend %d, want %d", got, pid)
			}
			if !has(t, held, s) || has(t, other, s) || pinned(t, db) != 1 {
				t.Errorf("got the state %t here, %t elsewhere, %d pinned", has(t, held, s), has(t, other, s), pinned(t, db))
			}
			if _, err := held.ExecContext(t.Context(), `DISCARD ALL`); err != nil {
				t.Fatal(err)
			}
			if has(t, held, s) || pinned(t, db) != 0 {
				t.Errorf("after DISCARD ALL: got the state %t, %d pinned", has(t, held, s), pinned(t, db))
			}
			settle(t, c, db)
			if err := drained(held.QueryContext(t.Context(), read)); err != nil || !routes.Last().Replica() {
				t.Errorf("after DISCARD ALL: the read ran on %s by %s, %v", routes.Last().Label, routes.Last().Reason, err)
			}
		})
	}
}

// TestSessionStateGoesWithItsConnection gives the connection with the state
// back, as its user may with plain pgx, and then has the handle drop it: the
// state is nobody else's before, and the backend is gone after.
func TestSessionStateGoesWithItsConnection(t *testing.T) {
	t.Parallel()
	c := pgcluster.New(t, pgcluster.Options{Standbys: 1, Setup: stateSetup})
	for _, s := range states {
		t.Run(s.name, func(t *testing.T) {
			db, _ := open(t, c.DSN(), "")
			db.SetMaxIdleConns(4)
			held := conn(t, db)
			if _, err := held.ExecContext(t.Context(), s.make); err != nil {
				t.Fatal(err)
			}
			pid := backend(t, held)
			if err := held.Close(); err != nil {
				t.Fatal(err)
			}
			again := []*sql.Conn{conn(t, db), conn(t, db), conn(t, db)}
			for i, a := range again {
				mine := backend(t, a) == pid
				if has(t, a, s) != mine {
					t.Errorf("connection %d: got the state %t, on the state's own backend %t", i, has(t, a, s), mine)
				}
			}
			for _, a := range again {
				if err := a.Close(); err != nil {
					t.Fatal(err)
				}
			}
			db.SetMaxIdleConns(0)
			waitForBackend(t, c.Primary(), pid)
			for i := range 3 {
				if a := conn(t, db); has(t, a, s) {
					t.Errorf("new connection %d has the state", i)
				}
			}
			if n := pinned(t, db); n != 0 {
				t.Errorf("got %d pinned, want 0", n)
			}
		})
	}
}

// waitForBackend waits until a server process is gone.
func waitForBackend(t *testing.T, node *pgcluster.Node, pid int) {
	t.Helper()
	count := counter(t, node, fmt.Sprint(`SELECT count(*) FROM pg_stat_activity WHERE pid = `, pid))
	eventually(t, "the backend is gone", func() error {
		if count() != 0 {
			return fmt.Errorf("process %d is still there", pid)
		}
		return nil
	})
}

// counter returns what a text counts on a server, on a connection of the test's
// own.
func counter(t *testing.T, node *pgcluster.Node, text string) func() int {
	t.Helper()
	watcher, err := pgconn.Connect(t.Context(), node.DSN()+"&application_name=watcher")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = watcher.Close(context.WithoutCancel(t.Context())) })
	return func() int {
		t.Helper()
		results, err := watcher.Exec(t.Context(), text).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(string(results[0].Rows[0][0]))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// TestNobodyMissesAStatementThatSomebodyDropped has users with cached and
// prepared statements share connections with users that drop all statements,
// in every way that text can.
func TestNobodyMissesAStatementThatSomebodyDropped(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	for _, drop := range []string{"DISCARD ALL", "DEALLOCATE ALL", "DEALLOCATE PREPARE ALL", "/* both */ DEALLOCATE ALL; SELECT 1", "SELECT 1; deallocate all"} {
		t.Run(drop, func(t *testing.T) {
			db, _ := open(t, c.DSN(c.Primary(), c.Standby(0)), "pgryw.pool_max_conns=2")
			db.SetMaxOpenConns(6)
			stmt, err := db.PrepareContext(t.Context(), `UPDATE counter SET n = n + $1 WHERE id = 'calm'`)
			if err != nil {
				t.Fatal(err)
			}
			defer stmt.Close()
			var users sync.WaitGroup
			for user := range 6 {
				users.Go(func() {
					for range max(rounds()/20, 5) {
						if user == 0 {
							if _, err := db.ExecContext(t.Context(), drop); err != nil {
								t.Errorf("%s: %v", drop, err)
							}
							continue
						}
						_, cached := get(t.Context(), db, "calm")
						_, named := db.ExecContext(t.Context(), writeArg, "calm")
						_, prepared := stmt.ExecContext(t.Context(), 1)
						if err := errors.Join(cached, named, prepared); err != nil {
							t.Errorf("user %d: %v", user, err)
							return
						}
					}
				})
			}
			users.Wait()
		})
	}
}

// TestADroppedStatementInAReadOnlyTransactionIsPreparedAgain drops all
// statements in a transaction on a replica.
func TestADroppedStatementInAReadOnlyTransactionIsPreparedAgain(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	db, _ := open(t, c.DSN(c.Primary(), c.Standby(0)), "pgryw.pool_max_conns=1")
	for range 2 {
		tx := begin(t, db, readOnly)
		for _, drop := range []string{"", "DEALLOCATE ALL", "SELECT 1; DEALLOCATE ALL"} {
			if _, err := tx.ExecContext(t.Context(), drop); err != nil {
				t.Fatal(err)
			}
			if _, err := get(t.Context(), tx, "calm"); err != nil {
				t.Fatalf("after %q: %v", drop, err)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if _, err := get(t.Context(), db, "calm"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAStatementIsPreparedAgainWhereItsPlanHasChanged changes the table under a
// prepared statement and a cached one: as with pgx, one call each may say so,
// and no more.
func TestAStatementIsPreparedAgainWhereItsPlanHasChanged(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	run(t, c, `CREATE TABLE shape (a int); INSERT INTO shape VALUES (1)`)
	db, _ := open(t, c.DSN(), "")
	settle(t, c, db)
	const text = `SELECT * FROM shape`
	stmt, err := db.PrepareContext(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	for i := range 3 {
		run(t, c, fmt.Sprintf(`ALTER TABLE shape ADD COLUMN b%d int`, i))
		catchUp(t, c)
		for name, query := range map[string]func() (*sql.Rows, error){
			"prepared": func() (*sql.Rows, error) { return stmt.QueryContext(t.Context()) },
			"cached":   func() (*sql.Rows, error) { return db.QueryContext(t.Context(), text+" /* cached */") },
		} {
			eventually(t, name+" sees the new column", func() error {
				rows, err := query()
				if err != nil {
					return err
				}
				defer rows.Close()
				if columns, err := rows.Columns(); err != nil || len(columns) != i+2 {
					return fmt.Errorf("got columns %v, %w", columns, err)
				}
				return rows.Err()
			})
		}
	}
}
