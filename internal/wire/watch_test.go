package wire

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
)

// journal is a Watcher that writes down what it is told.
type journal []string

func (j *journal) Tag(tag []byte)    { *j = append(*j, string(tag)) }
func (j *journal) Ready(status byte) { *j = append(*j, "ready "+string(status)) }
func (j *journal) Lost(err error)    { *j = append(*j, fmt.Sprintf("lost: %v", err)) }

func TestAWatcherIsToldOfEveryCommandHoweverItIsSent(t *testing.T) {
	c := realClient(t, pgx.QueryExecModeCacheStatement)
	conn := c.std.Conn()
	ctx := t.Context()
	for name, step := range map[string]struct {
		run  func() error
		want []string
	}{
		"several in one text": {
			func() error {
				return execPath("begin; insert into t values ('a'); commit; begin; select 1; rollback")(ctx, c)
			},
			[]string{"BEGIN", "INSERT 0 1", "COMMIT", "BEGIN", "SELECT 1", "ROLLBACK", "ready I"},
		},
		"in a transaction": {
			func() error { return execPath("begin")(ctx, c) },
			[]string{"BEGIN", "ready T"},
		},
		"batch": {
			func() error {
				var b pgx.Batch
				b.Queue("insert into t values ('b')")
				b.Queue("commit")
				return conn.SendBatch(context.WithoutCancel(ctx), &b).Close()
			},
			nil, // pgx prepares first; see below
		},
		"simple batch": {
			func() error {
				b := &pgx.Batch{}
				b.Queue("select 1")
				return conn.SendBatch(ctx, b).Close()
			},
			nil,
		},
		"copy": {
			func() error {
				_, err := conn.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"v"}, pgx.CopyFromRows([][]any{{"z"}}))
				return err
			},
			nil,
		},
		"rows": {
			func() error { return queryPath("select generate_series(1, 2000)::text")(ctx, c) },
			nil,
		},
	} {
		var j journal
		c.shim.Watch(&j)
		err := step.run()
		c.shim.Watch(nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if step.want != nil && !slices.Equal(j, step.want) {
			t.Errorf("%s: got %q, want %q", name, j, step.want)
		}
		last := map[string]string{"batch": "COMMIT", "simple batch": "SELECT 1", "copy": "COPY 1", "rows": "SELECT 2000"}[name]
		if last != "" && (len(j) < 2 || j[len(j)-2] != last) {
			t.Errorf("%s: got %q, want %s before the last ready", name, j, last)
		}
		_ = execPath("rollback")(ctx, c)
	}
}

func TestAWatcherIsToldOfALostConnectionButNotOfADeadline(t *testing.T) {
	server := newScripted(t, scriptedReply)
	c := connect(t, server.config(pgx.QueryExecModeExec))
	var j journal
	c.shim.Watch(&j)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.std.Conn().WaitForNotification(ctx); err == nil {
		t.Fatal("no error")
	}
	short, stop := context.WithTimeout(t.Context(), 1)
	defer stop()
	_ = c.std.Conn().PgConn().WaitForNotification(short)
	if len(j) != 0 {
		t.Errorf("after deadlines: got %q", j)
	}
	server.failNext(fault{kind: faultClose, at: 1})
	if err := writePaths[0].run(t.Context(), c); err == nil {
		t.Fatal("no error")
	}
	if len(j) != 1 || j[0] != "lost: EOF" {
		t.Errorf("got %q, want that it was lost", j)
	}
}
