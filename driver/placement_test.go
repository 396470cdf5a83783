package driver_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pgryw/pgryw/driver"
	"github.com/pgryw/pgryw/internal/pgcluster"
)

// execModes are pgx's ways to send a statement.
var execModes = []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"}

// kind is one kind of call that database/sql has. Its text ends in a comment
// that tells it from the others in the servers' logs.
type kind struct {
	name string
	call func(ctx context.Context, db *sql.DB, comment string) error
}

const (
	read     = `SELECT n FROM counter WHERE id = 'calm' `
	readArgs = `SELECT n FROM counter WHERE id = $1 `
	write    = `UPDATE counter SET n = n + 1 WHERE id = 'calm' `
	writeArg = `UPDATE counter SET n = n + 1 WHERE id = $1 `
)

// drained reads rows to their end.
func drained(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return err
		}
	}
	return rows.Err()
}

func done(_ sql.Result, err error) error { return err }

// inOneTx returns a call in a transaction of its own.
func inOneTx(opts *sql.TxOptions, body func(context.Context, *sql.Tx, string) error) func(context.Context, *sql.DB, string) error {
	return func(ctx context.Context, db *sql.DB, comment string) error {
		tx, err := db.BeginTx(ctx, opts)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		if err := body(ctx, tx, comment); err != nil {
			return err
		}
		return tx.Commit()
	}
}

func inStmt(text string, body func(context.Context, *sql.Stmt) error) func(context.Context, *sql.DB, string) error {
	return func(ctx context.Context, db *sql.DB, comment string) error {
		stmt, err := db.PrepareContext(ctx, text+comment)
		if err != nil {
			return err
		}
		defer stmt.Close()
		return body(ctx, stmt)
	}
}

func inTxStmt(text string, body func(context.Context, *sql.Stmt) error) func(context.Context, *sql.Tx, string) error {
	return func(ctx context.Context, tx *sql.Tx, comment string) error {
		stmt, err := tx.PrepareContext(ctx, text+comment)
		if err != nil {
			return err
		}
		defer stmt.Close()
		return body(ctx, stmt)
	}
}

func queryStmt(ctx context.Context, stmt *sql.Stmt) error {
	return drained(stmt.QueryContext(ctx, "calm"))
}

func execStmt(ctx context.Context, stmt *sql.Stmt) error { return done(stmt.ExecContext(ctx, "calm")) }

var readKinds = []kind{
	{"Query", func(ctx context.Context, db *sql.DB, c string) error { return drained(db.QueryContext(ctx, read+c)) }},
	{"Query with arguments", func(ctx context.Context, db *sql.DB, c string) error {
		return drained(db.QueryContext(ctx, readArgs+c, "calm"))
	}},
	{"QueryRow", func(ctx context.Context, db *sql.DB, c string) error {
		var n int64
		return db.QueryRowContext(ctx, read+c).Scan(&n)
	}},
	{"QueryRow with arguments", func(ctx context.Context, db *sql.DB, c string) error {
		var n int64
		return db.QueryRowContext(ctx, readArgs+c, "calm").Scan(&n)
	}},
	{"Exec", func(ctx context.Context, db *sql.DB, c string) error { return done(db.ExecContext(ctx, read+c)) }},
	{"Exec with arguments", func(ctx context.Context, db *sql.DB, c string) error {
		return done(db.ExecContext(ctx, readArgs+c, "calm"))
	}},
	{"Stmt", inStmt(read, func(ctx context.Context, stmt *sql.Stmt) error { return drained(stmt.QueryContext(ctx)) })},
	{"Stmt with arguments", inStmt(readArgs, queryStmt)},
	{"Stmt executed", inStmt(readArgs, execStmt)},
	{"read-only Tx", inOneTx(readOnly, func(ctx context.Context, tx *sql.Tx, c string) error {
		return drained(tx.QueryContext(ctx, read+c))
	})},
	{"read-only Tx with arguments", inOneTx(readOnly, func(ctx context.Context, tx *sql.Tx, c string) error {
		return drained(tx.QueryContext(ctx, readArgs+c, "calm"))
	})},
	{"Stmt in a read-only Tx", inOneTx(readOnly, inTxStmt(readArgs, queryStmt))},
}

var writeKinds = []kind{
	{"Exec", func(ctx context.Context, db *sql.DB, c string) error { return done(db.ExecContext(ctx, write+c)) }},
	{"Exec with arguments", func(ctx context.Context, db *sql.DB, c string) error {
		return done(db.ExecContext(ctx, writeArg+c, "calm"))
	}},
	{"Query", func(ctx context.Context, db *sql.DB, c string) error {
		return drained(db.QueryContext(ctx, write+"RETURNING n "+c))
	}},
	{"QueryRow with arguments", func(ctx context.Context, db *sql.DB, c string) error {
		var n int64
		return db.QueryRowContext(ctx, writeArg+"RETURNING n "+c, "calm").Scan(&n)
	}},
	{"Stmt", inStmt(writeArg, execStmt)},
	{"Stmt with rows", inStmt(writeArg+"RETURNING n ", queryStmt)},
	{"Tx", inOneTx(nil, func(ctx context.Context, tx *sql.Tx, c string) error { return done(tx.ExecContext(ctx, write+c)) })},
	{"Stmt in a Tx", inOneTx(nil, inTxStmt(writeArg, execStmt))},
	{"read in a Tx", inOneTx(nil, func(ctx context.Context, tx *sql.Tx, c string) error {
		return drained(tx.QueryContext(ctx, readArgs+c, "calm"))
	})},
	{"read that locks", func(ctx context.Context, db *sql.DB, c string) error {
		return drained(db.QueryContext(ctx, readArgs+"FOR SHARE "+c, "calm"))
	}},
}

var readOnly = &sql.TxOptions{ReadOnly: true}

// TestReadsRunOnReplicasAndWritesDoNot makes every kind of call in every exec
// mode, after the standbys have caught up with the handle's writes, and asks
// the servers' logs where each has run.
func TestReadsRunOnReplicasAndWritesDoNot(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	for _, mode := range execModes {
		t.Run(mode, func(t *testing.T) {
			db, _ := open(t, c.DSN(), "default_query_exec_mode="+mode)
			mark := c.Mark()
			comment := func(k kind) string { return fmt.Sprintf("/* %s: %s. */", t.Name(), k.name) }
			for _, k := range writeKinds {
				if err := k.call(t.Context(), db, comment(k)); err != nil {
					t.Fatalf("writing by %s: %v", k.name, err)
				}
				wantRun(t, c, mark, comment(k), c.Primary())
			}
			settle(t, c, db)
			served := make(map[*pgcluster.Node]int)
			for _, k := range readKinds {
				mark := c.Mark()
				if err := k.call(t.Context(), db, comment(k)); err != nil {
					t.Fatalf("reading by %s: %v", k.name, err)
				}
				served[wantRun(t, c, mark, comment(k), c.Standby(0), c.Standby(1))]++
			}
			if len(served) != 2 {
				t.Errorf("got reads on %d standbys, want them on both", len(served))
			}
		})
	}
}

// wantRun fails the test unless a statement has run on one of the nodes, and
// nowhere else. It returns where.
func wantRun(t *testing.T, c *pgcluster.Cluster, since pgcluster.Mark, text string, nodes ...*pgcluster.Node) *pgcluster.Node {
	t.Helper()
	ran, err := c.Ran(since, text)
	if err != nil {
		t.Fatal(err)
	}
	if len(ran) != 1 || !slices.Contains(nodes, ran[0]) {
		t.Errorf("%s ran on %s, want one of %s", text, names(ran), names(nodes))
		return nil
	}
	return ran[0]
}

func names(nodes []*pgcluster.Node) string {
	list := make([]string, len(nodes))
	for i, n := range nodes {
		list[i] = n.Name()
	}
	return "[" + strings.Join(list, " ") + "]"
}

// settle waits until every standby has replayed what was written, and the
// handle knows it.
func settle(t *testing.T, c *pgcluster.Cluster, db *sql.DB) {
	t.Helper()
	want, err := c.Primary().InsertLSN(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	catchUp(t, c)
	eventually(t, "the handle knows that the standbys have caught up", func() error {
		stats, err := driver.StatsOf(db)
		if err != nil {
			return err
		}
		for _, n := range stats.Nodes {
			if n.Position.LSN < want {
				return fmt.Errorf("%s was last seen at %s, want %s", n.Label, n.Position.LSN, want)
			}
		}
		return nil
	})
}

// wantOneBackend fails the test unless a statement has run so many times on a
// node, each time on the same backend. It returns that backend's process.
func wantOneBackend(t *testing.T, node *pgcluster.Node, since pgcluster.Mark, text string, times int) int {
	t.Helper()
	if node == nil {
		return 0
	}
	statements, err := node.Statements(since)
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[int]int)
	for _, s := range statements {
		if strings.Contains(s.SQL, text) {
			count[s.PID]++
		}
	}
	for pid, n := range count {
		if len(count) == 1 && n == times {
			return pid
		}
	}
	t.Errorf("%s ran %v times by backend, want %d times on one", text, count, times)
	return 0
}
