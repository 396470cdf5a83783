package wire

import (
	"bytes"
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgryw/pgryw/lsn"
)

func realClient(t *testing.T, mode pgx.QueryExecMode) *client {
	t.Helper()
	return connect(t, realServer(t)(mode))
}

// one runs a path under a flight.
func one(t *testing.T, c *client, f Flight, run func(context.Context, *client) error) (Outcome, error) {
	t.Helper()
	c.shim.Arm(f)
	err := run(t.Context(), c)
	o := c.shim.Finish()
	if o.Broken || o.Draining {
		t.Errorf("got %+v", o)
	}
	return o, err
}

func TestACaptureCoversTheCommitOfItsWrite(t *testing.T) {
	c := realClient(t, pgx.QueryExecModeCacheStatement)
	for _, p := range writePaths[:4] {
		for range 20 {
			prepare(t, c, p)
			o, err := one(t, c, Flight{Capture: captureQuery}, p.run)
			if err != nil || len(o.CaptureRow) != 1 {
				t.Fatalf("%s: got %v, %+v", p.name, err, o)
			}
			captured, err := lsn.Parse(string(o.CaptureRow[0]))
			if err != nil {
				t.Fatal(err)
			}
			if err := queryPath("select pg_current_wal_flush_lsn()::text")(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			flushed, err := lsn.Parse(c.rows[0][0])
			if err != nil {
				t.Fatal(err)
			}
			if captured < flushed { // the commit is flushed before it is answered
				t.Errorf("%s: captured %s, but the commit was flushed up to %s", p.name, captured, flushed)
			}
		}
	}
}

func TestTheQuestionTellsReadsThatWroteFromThoseThatDidNot(t *testing.T) {
	for _, mode := range modes {
		c := realClient(t, mode)
		ask := Flight{AskXID: AskBehind, Extended: true}
		for sql, want := range map[string]XID{
			"select v from t limit 1":    XIDNone,
			"table parent":               XIDNone,
			"select 1; ":                 XIDNone,
			"":                           XIDNone,
			"-- nothing":                 XIDNone,
			"select v from writing":      XIDAssigned,
			"insert into t values ('a')": XIDAssigned,
			"select 1/0":                 XIDUnknown,
			"selec":                      XIDUnknown,
		} {
			for name, run := range map[string]func(context.Context, *client) error{
				"exec": execPath(sql), "query": queryPath(sql),
			} {
				o, err := one(t, c, ask, run)
				if fails := want == XIDUnknown; fails != (err != nil) {
					t.Errorf("%s, %s %q: %v", mode, name, sql, err)
				}
				if !o.Sent && sql == "selec" {
					continue // it failed in pgx's Prepare
				}
				if o.XID != want {
					t.Errorf("%s, %s %q: got xid %d, want %d", mode, name, sql, o.XID, want)
				}
			}
		}
	}
}

func TestTheQuestionAheadOfACommitTellsWhetherTheTransactionWrote(t *testing.T) {
	c := realClient(t, pgx.QueryExecModeCacheStatement)
	for sql, want := range map[string]XID{
		"select v from t limit 1": XIDNone,
		"select v from writing":   XIDAssigned,
	} {
		for _, commit := range []string{"commit", "end", "commit and chain"} {
			if err := errors.Join(execPath("begin")(t.Context(), c), queryPath(sql)(t.Context(), c)); err != nil {
				t.Fatal(err)
			}
			o, err := one(t, c, Flight{AskXID: AskAhead}, execPath(commit))
			if err != nil || o.XID != want || o.XIDErr != nil || !slices.Equal(o.Tags, []string{"COMMIT"}) {
				t.Errorf("%s, %s: got %v, %+v, want xid %d", sql, commit, err, o, want)
			}
			if o.Status != 'I' {
				_ = execPath("rollback")(t.Context(), c)
			}
		}
	}
	// In a failed transaction the question fails too, and the COMMIT rolls back.
	tx, err := c.std.BeginTx(t.Context(), sqldriver.TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := queryPath("select 1/0")(t.Context(), c); err == nil {
		t.Fatal("no error")
	}
	o, err := one(t, c, Flight{AskXID: AskAhead}, func(context.Context, *client) error { return tx.Commit() })
	if !errors.Is(err, pgx.ErrTxCommitRollback) || o.XID != XIDUnknown || o.XIDErr == nil {
		t.Errorf("got %v, %+v", err, o)
	}
}

func TestAnErrorOfTheUsersLeavesTheCaptureAlone(t *testing.T) {
	for _, mode := range modes {
		c := realClient(t, mode)
		for sql, code := range map[string]string{
			"insert into parent values (null)": "23502",
			"insert into child values (1)":     "23503", // at the commit
			"select 1/0":                       "22012",
		} {
			for name, run := range map[string]func(context.Context, *client) error{
				"exec": execPath(sql), "query": queryPath(sql),
			} {
				o, err := one(t, c, Flight{Capture: captureQuery, AskXID: AskBehind}, run)
				var pgErr *pgconn.PgError
				if !errors.As(err, &pgErr) || pgErr.Code != code {
					t.Errorf("%s, %s %q: got %v, want %s", mode, name, sql, err, code)
				}
				if o.Sent {
					wantCapture(t, &o)
				}
			}
		}
	}
}

func TestACaptureInsideATransactionIsNotUsed(t *testing.T) {
	c := realClient(t, pgx.QueryExecModeCacheStatement)
	for _, step := range []struct {
		sql    string
		status byte
		tags   []string
	}{
		{"begin", 'T', []string{"BEGIN"}},
		{"insert into t values ('a')", 'T', []string{"INSERT 0 1"}},
		{"commit and chain", 'T', []string{"COMMIT"}},
		{"insert into t values ('a'); commit; begin; select 1", 'T', []string{"INSERT 0 1", "COMMIT", "BEGIN", "SELECT 1"}},
		{"select 1/0", 'E', nil},
		{"rollback", 'I', []string{"ROLLBACK"}},
		{"insert into t values ('a'); delete from t", 'I', nil},
	} {
		o, _ := one(t, c, Flight{Capture: captureQuery}, execPath(step.sql))
		if o.Status != step.status || !o.Ended {
			t.Errorf("%q: got %+v", step.sql, o)
		}
		if step.tags != nil && !slices.Equal(o.Tags, step.tags) {
			t.Errorf("%q: got tags %q, want %q", step.sql, o.Tags, step.tags)
		}
		if step.status == 'I' {
			wantCapture(t, &o)
		} else if !errors.Is(o.CaptureErr, ErrInTransaction) || o.CaptureRow != nil {
			t.Errorf("%q: got %q, %v", step.sql, o.CaptureRow, o.CaptureErr)
		}
	}
}

func TestACopyCarriesNothingAndWorks(t *testing.T) {
	c := realClient(t, pgx.QueryExecModeCacheStatement)
	everything := Flight{AskXID: AskBehind, Extended: true, Capture: captureQuery}
	pg := c.std.Conn().PgConn()
	for name, run := range map[string]func(ctx context.Context) error{
		"CopyFrom": func(ctx context.Context) error {
			_, err := pg.CopyFrom(ctx, strings.NewReader("x\ny\n"), "copy t from stdin")
			return err
		},
		"CopyFrom with an error": func(ctx context.Context) error {
			_, err := pg.CopyFrom(ctx, strings.NewReader("x\ty\tz\n"), "copy t from stdin")
			var pgErr *pgconn.PgError
			if !errors.As(err, &pgErr) {
				return fmt.Errorf("got %w, want the server's error", err)
			}
			return nil
		},
		"pgx.CopyFrom": func(ctx context.Context) error {
			_, err := c.std.Conn().CopyFrom(ctx, pgx.Identifier{"t"}, []string{"v"}, pgx.CopyFromRows([][]any{{"z"}}))
			return err
		},
		"CopyTo": func(ctx context.Context) error {
			var b bytes.Buffer
			_, err := pg.CopyTo(ctx, &b, "copy (select 1) to stdout")
			if b.String() != "1\n" {
				return fmt.Errorf("got %q", b.String())
			}
			return err
		},
		"Exec": func(ctx context.Context) error { return execPath("copy t to stdout")(ctx, c) },
	} {
		c.shim.Arm(everything)
		err := run(t.Context())
		o := c.shim.Finish()
		if err != nil || o.Broken || !o.Ended || o.Status != 'I' {
			t.Errorf("%s: got %v, %+v", name, err, o)
		}
		if !errors.Is(o.CaptureErr, ErrNotCarried) || o.XID != XIDUnknown {
			t.Errorf("%s: got capture %v, xid %d", name, o.CaptureErr, o.XID)
		}
	}
	if err := queryPath("select count(*)::text from t")(t.Context(), c); err != nil || c.rows[0][0] != "4" {
		t.Errorf("got %v, %v", c.rows, err)
	}
}

func TestCommandsThatRunAloneCarryTheirCapture(t *testing.T) {
	c := realClient(t, pgx.QueryExecModeCacheStatement)
	for _, sql := range []string{
		"vacuum t", "create index concurrently i on t (v)", "reindex table concurrently t", "create database other", "drop database other",
	} {
		o, err := one(t, c, Flight{Capture: captureQuery}, execPath(sql))
		if err != nil {
			t.Errorf("%q: %v", sql, err)
		}
		wantCapture(t, &o)
		if sql == "vacuum t" {
			o, err = one(t, c, Flight{AskXID: AskBehind, Extended: true, Capture: captureQuery}, execPath(sql))
			if err != nil || o.XID == XIDUnknown {
				t.Errorf("%q with the question: got %v, %+v", sql, err, o)
			}
		}
	}
}
