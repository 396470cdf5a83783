package conn_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgryw/pgryw/driver"
)

// panicker is a tracer that panics when the statement with its text ends.
type panicker struct{ text string }

func (p *panicker) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, panicker{}, data.SQL)
}

func (p *panicker) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if ctx.Value(panicker{}) == p.text {
		panic("tracer")
	}
}

// rewriterThatPanics is an argument that panics before anything is sent.
type rewriterThatPanics struct{}

func (rewriterThatPanics) RewriteQuery(context.Context, *pgx.Conn, string, []any) (string, []any, error) {
	panic("rewriter")
}

// TestAPanicUnderAStatementLeavesNothingBehind has a user's code panic under pgx
// in each kind of call. What the call wrote is seen, and no server connection
// stays borrowed, nor goes back with anything under way.
func TestAPanicUnderAStatementLeavesNothingBehind(t *testing.T) {
	for _, tt := range []struct {
		name, text string // of what panics
		run        func(driverConn)
		wrote      string
	}{
		{"a write", put("panic in a write"), func(c driverConn) {
			c.exec(put("panic in a write"))
		}, "panic in a write"},
		{"a write with rows", put("panic in rows") + " RETURNING id", func(c driverConn) {
			_ = c.query(put("panic in rows") + " RETURNING id").Close()
		}, "panic in rows"},
		{"a write in a transaction", put("panic in a transaction"), func(c driverConn) {
			c.begin(false)
			c.exec(put("panic in a transaction"))
		}, ""},
		{"a transaction's end", "commit", func(c driverConn) {
			tx := c.begin(false)
			c.exec(put("panic in an end"))
			_ = tx.Commit()
		}, "panic in an end"},
		{"a read on a replica", "SELECT a FROM wide", func(c driverConn) {
			c.exec("SELECT a FROM wide")
		}, ""},
		{"the rows of a read on a replica", "SELECT a FROM wide", func(c driverConn) {
			_ = c.query("SELECT a FROM wide").Close()
		}, ""},
		{"a read in a replica's transaction", "SELECT a FROM wide", func(c driverConn) {
			c.begin(true)
			c.exec("SELECT a FROM wide")
		}, ""},
		{"the begin of a replica's transaction", "begin read only", func(c driverConn) {
			c.begin(true)
		}, ""},
		{"an argument", "", func(c driverConn) {
			c.exec(put("panic in an argument"), rewriterThatPanics{})
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tracer := &panicker{text: tt.text}
			h := open(t, start(t), "", func(cfg *driver.Config) { cfg.Tracer = tracer })
			c := h.driverConn(t)
			func() {
				defer func() {
					if recover() == nil {
						t.Error("nothing has panicked")
					}
				}()
				tt.run(c)
			}()
			tracer.text = "nothing"
			if tt.wrote != "" {
				h.wantSeen(t, tt.wrote, t.Context())
			}
			c.IsValid() // as database/sql asks after a panic
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			h.wantNothingBorrowed(t)
			exec(t.Context(), t, h, put(tt.name))
			h.wantSeen(t, tt.name, t.Context())
		})
	}
}
