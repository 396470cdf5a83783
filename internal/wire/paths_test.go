package wire

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

var (
	captureQuery = &Query{Name: "pgryw_capture", SQL: "select pg_catalog.pg_current_wal_insert_lsn()"}
	guardQuery   = &Query{Name: "pgryw_guard", SQL: "select pg_catalog.pg_is_in_recovery()"}
)

var modes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement,
	pgx.QueryExecModeCacheDescribe,
	pgx.QueryExecModeDescribeExec,
	pgx.QueryExecModeExec,
	pgx.QueryExecModeSimpleProtocol,
}

// path is one way for a statement to reach the server.
type path struct {
	name string
	// ready, if any, runs unarmed ahead of run on the same connection.
	ready func(ctx context.Context, c *client) error
	run   func(ctx context.Context, c *client) error
}

// twice runs a path two times.
func (p path) twice() func(context.Context, *client) error {
	return func(ctx context.Context, c *client) error {
		return errors.Join(p.run(ctx, c), p.run(ctx, c))
	}
}

var writePaths = []path{
	{name: "exec with arguments", run: execPath("insert into t values ($1)", "a")},
	{name: "exec without arguments", run: execPath("insert into t values ('a')")},
	{name: "insert returning", run: queryPath("insert into t values ($1) returning v", "a")},
	{
		name: "prepared statement",
		ready: func(ctx context.Context, c *client) (err error) {
			c.stmt, err = c.std.PrepareContext(ctx, "insert into t values ($1)")
			return err
		},
		run: func(ctx context.Context, c *client) error {
			_, err := c.stmt.(sqldriver.StmtExecContext).ExecContext(ctx, named("a"))
			return err
		},
	},
	{
		name: "commit of a transaction",
		ready: func(ctx context.Context, c *client) (err error) {
			if c.tx, err = c.std.BeginTx(ctx, sqldriver.TxOptions{}); err != nil {
				return err
			}
			return execPath("insert into t values ('a')")(ctx, c)
		},
		run: func(_ context.Context, c *client) error { return c.tx.Commit() },
	},
	{
		name: "commit by text",
		ready: func(ctx context.Context, c *client) error {
			return errors.Join(execPath("begin")(ctx, c), execPath("insert into t values ('a')")(ctx, c))
		},
		run: execPath("commit"),
	},
	{name: "several statements in one text", run: execPath("insert into t values ('a'); insert into t values ('a')")},
}

var readPaths = []path{
	{name: "query with arguments", run: queryPath("select v from t where v = $1 limit 1", "a")},
	{name: "query without arguments", run: queryPath("select v from t limit 1")},
	{name: "exec with arguments", run: execPath("select v from t where v = $1 limit 1", "a")},
	{name: "exec without arguments", run: execPath("select v from t limit 1")},
}

// client is a connection of pgx's stdlib, with the Shim under it.
type client struct {
	t    testing.TB
	std  *stdlib.Conn
	shim *Shim
	stmt sqldriver.Stmt
	tx   sqldriver.Tx
	rows [][]string // what the last query returned
}

// connect opens a connection that ends with the test.
func connect(t testing.TB, cfg *pgx.ConnConfig) *client {
	t.Helper()
	cfg = cfg.Copy()
	Install(&cfg.Config)
	c := plainConnect(t, cfg)
	if c.shim = Of(c.std.Conn().PgConn()); c.shim == nil {
		t.Fatal("no Shim on the connection")
	}
	return c
}

// plainConnect is connect without a Shim.
func plainConnect(t testing.TB, cfg *pgx.ConnConfig) *client {
	t.Helper()
	d, err := stdlib.GetConnector(*cfg).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	std := d.(*stdlib.Conn)
	t.Cleanup(func() {
		pg := std.Conn().PgConn()
		_ = pg.Close(context.Background())
		<-pg.CleanupDone()
	})
	return &client{t: t, std: std}
}

func named(args ...any) []sqldriver.NamedValue {
	values := make([]sqldriver.NamedValue, len(args))
	for i, a := range args {
		values[i] = sqldriver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return values
}

func execPath(sql string, args ...any) func(context.Context, *client) error {
	return func(ctx context.Context, c *client) error {
		_, err := c.std.ExecContext(ctx, sql, named(args...))
		return err
	}
}

func queryPath(sql string, args ...any) func(context.Context, *client) error {
	return func(ctx context.Context, c *client) error {
		c.rows = nil
		rows, err := c.std.QueryContext(ctx, sql, named(args...))
		if err != nil {
			return err
		}
		values := make([]sqldriver.Value, len(rows.Columns()))
		for {
			err := rows.Next(values)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return errors.Join(err, rows.Close())
			}
			row := make([]string, len(values))
			for i, v := range values {
				row[i] = fmt.Sprint(v)
			}
			c.rows = append(c.rows, row)
		}
		return rows.Close()
	}
}

// scriptedReply is what the scripted server says to the statements above.
func scriptedReply(sql string) reply {
	switch {
	case sql == "" || sql == "-- ping":
		return reply{empty: true}
	case sql == captureQuery.SQL:
		return reply{columns: []string{"pg_current_wal_insert_lsn"}, rows: [][]string{{"0/15D68C8"}}, tag: "SELECT 1"}
	case sql == guardQuery.SQL:
		return reply{columns: []string{"pg_is_in_recovery"}, rows: [][]string{{"f"}}, tag: "SELECT 1"}
	case sql == questionSQL:
		return reply{columns: []string{"?column?"}, rows: [][]string{{"f"}}, tag: "SELECT 1"}
	case strings.HasPrefix(sql, "select v"):
		return reply{columns: []string{"v"}, rows: [][]string{{"a"}}, tag: "SELECT 1"}
	case strings.HasSuffix(sql, "returning v"):
		return reply{columns: []string{"v"}, rows: [][]string{{"a"}}, tag: "INSERT 0 1"}
	case strings.HasPrefix(sql, "insert"):
		return reply{tag: "INSERT 0 1"}
	}
	return reply{code: "42601"}
}
