package wire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// journal is a Watcher that writes down what it is told.
type journal []string

func (j *journal) Tag(tag []byte)    { *j = append(*j, string(tag)) }
func (j *journal) Ready(status byte) { *j = append(*j, "ready "+string(status)) }
func (j *journal) Lost(err error)    { *j = append(*j, fmt.Sprintf("lost: %v", err)) }

func TestAWatcherIsToldOfEveryCommandHoweverItIsSent(t *testing.T) {
	for _, mode := range modes {
		c := realClient(t, mode)
		conn := c.std.Conn()
		for _, step := range []struct {
			name string
			run  func(ctx context.Context) error
			want []string // the end of what is told
		}{
			{
				"several in one text",
				func(ctx context.Context) error {
					return execPath("begin; insert into t values ('a'); commit; begin; select 1; rollback")(ctx, c)
				},
				[]string{"BEGIN", "INSERT 0 1", "COMMIT", "BEGIN", "SELECT 1", "ROLLBACK", "ready I"},
			},
			{
				"a transaction's begin",
				func(ctx context.Context) error { return execPath("begin")(ctx, c) },
				[]string{"BEGIN", "ready T"},
			},
			{
				"batch", // in some modes pgx writes it past the Shim
				func(ctx context.Context) error {
					b := new(pgx.Batch)
					b.Queue("insert into t values ('b')")
					b.Queue("update t set v = 'c' where v = $1", "b")
					return conn.SendBatch(ctx, b).Close()
				},
				[]string{"INSERT 0 1", "UPDATE 1", "ready T"},
			},
			{
				"an error",
				func(ctx context.Context) error {
					if err := queryPath("select 1/0")(ctx, c); err == nil {
						return errors.New("no error")
					}
					return nil
				},
				[]string{"ready E"},
			},
			{
				"a transaction's end",
				func(ctx context.Context) error { return execPath("commit")(ctx, c) },
				[]string{"ROLLBACK", "ready I"},
			},
			{
				"copy",
				func(ctx context.Context) error {
					_, err := conn.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"v"}, pgx.CopyFromRows([][]any{{"z"}}))
					return err
				},
				[]string{"COPY 1", "ready I"},
			},
			{
				"rows",
				func(ctx context.Context) error { return queryPath("select generate_series(1, 2000)::text")(ctx, c) },
				[]string{"SELECT 2000", "ready I"},
			},
		} {
			var j journal
			c.shim.Watch(&j)
			err := step.run(t.Context())
			c.shim.Watch(nil)
			if err != nil {
				t.Fatalf("%s, %s: %v", mode, step.name, err)
			}
			if len(j) < len(step.want) || !slices.Equal(j[len(j)-len(step.want):], step.want) {
				t.Errorf("%s, %s: got %q, want %q at its end", mode, step.name, j, step.want)
			}
		}
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
	short, stop := context.WithTimeout(t.Context(), 5*time.Millisecond) // which passes while it reads
	defer stop()
	if err := c.std.Conn().PgConn().WaitForNotification(short); !pgconn.Timeout(err) {
		t.Fatalf("got %v, want a timeout", err)
	}
	if len(j) != 0 {
		t.Errorf("after deadlines: got %q", j)
	}
	server.failNext(c, fault{kind: faultClose, at: 1})
	if err := writePaths[0].run(t.Context(), c); err == nil {
		t.Fatal("no error")
	}
	if len(j) != 1 || j[0] != "lost: EOF" {
		t.Errorf("got %q, want that it was lost", j)
	}
}
