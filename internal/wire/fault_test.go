package wire

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// answersOf returns the server's messages in an armed flight on a new
// connection, and the index of the ReadyForQuery that ends the user's part:
// the last but one, as the capture's group follows it.
func answersOf(t *testing.T, server *scripted, mode pgx.QueryExecMode, p path, f Flight) (kinds []string, ready int) {
	t.Helper()
	cfg := server.config(mode)
	var rec recorder
	rec.dial(&cfg.Config)
	c := connect(t, cfg)
	prepare(t, c, p)
	rec.start()
	c.shim.Arm(f)
	if err := p.run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	c.shim.Finish()
	text, _ := rec.stop()
	for line := range strings.SplitSeq(text, "\n") {
		if kind, ok := strings.CutPrefix(line, "  B "); ok {
			kinds = append(kinds, kind)
		}
	}
	ready = -1
	for i, kind := range kinds[:len(kinds)-1] {
		if strings.HasPrefix(kind, "ReadyForQuery") {
			ready = i
		}
	}
	return kinds, ready
}

func prepare(t *testing.T, c *client, p path) {
	t.Helper()
	if p.ready != nil {
		if err := p.ready(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

// refusesWrites checks that a connection that is out of use says so before
// anything is sent, which is what driver.ErrBadConn means.
func refusesWrites(t *testing.T, c *client) {
	t.Helper()
	_, err := c.std.ExecContext(t.Context(), "insert into t values ('a')", nil)
	if !errors.Is(err, sqldriver.ErrBadConn) {
		t.Errorf("a write on a connection out of use: got %v, want ErrBadConn", err)
	}
	if c.shim.Drain(t.Context()) == nil {
		t.Error("Drain says that a connection out of use is usable")
	}
}

func TestAServerThatFailsBehindTheWriteNeverMakesItAnError(t *testing.T) {
	server := newScripted(t, scriptedReply)
	f := Flight{Capture: captureQuery}
	for _, p := range writePaths {
		for _, mode := range modes {
			kinds, ready := answersOf(t, server, mode, p, f)
			for _, kind := range []faultKind{faultClose, faultFatal} {
				for at := range kinds {
					t.Run(fmt.Sprintf("%s/%s/%d/%d", p.name, mode, kind, at), func(t *testing.T) {
						c := connect(t, server.config(mode))
						prepare(t, c, p)
						server.failNext(c, fault{kind: kind, at: at})
						c.shim.Arm(f)
						err := p.run(t.Context(), c)
						o := c.shim.Finish()
						if at > ready {
							if err != nil || !o.Ended || o.Status != 'I' {
								t.Errorf("got %v, %+v, want success", err, o)
							}
							wantUnanswered(t, &o, kind)
							refusesWrites(t, c)
							return
						}
						want := plainError(t, server, mode, p, fault{kind: kind, at: at})
						if err == nil || err.Error() != want.Error() {
							t.Errorf("got %v, want pgx's %v", err, want)
						}
						if o.Ended || o.CaptureRow != nil {
							t.Errorf("got %+v", o)
						}
					})
				}
			}
		}
	}
}

func wantUnanswered(t *testing.T, o *Outcome, kind faultKind) {
	t.Helper()
	var pgErr *pgconn.PgError
	switch {
	case !o.Broken, o.CaptureRow != nil:
		t.Errorf("got %+v", o)
	case kind == faultFatal && (!errors.As(o.CaptureErr, &pgErr) || pgErr.Code != "57P01"):
		t.Errorf("got %v, want the server's 57P01", o.CaptureErr)
	case kind != faultFatal && !errors.Is(o.CaptureErr, ErrUnanswered):
		t.Errorf("got %v, want ErrUnanswered", o.CaptureErr)
	}
}

// plainError returns what pgx returns for a fault without a Shim.
func plainError(t *testing.T, server *scripted, mode pgx.QueryExecMode, p path, f fault) error {
	t.Helper()
	c := plainConnect(t, server.config(mode))
	prepare(t, c, p)
	server.failNext(c, f)
	err := p.run(t.Context(), c)
	return err
}

func TestAContextThatEndsWhileTheWriteIsHeldLeavesItASuccess(t *testing.T) {
	server := newScripted(t, scriptedReply)
	f := Flight{Capture: captureQuery, Timeout: time.Hour}
	for _, p := range writePaths {
		for _, mode := range modes {
			kinds, ready := answersOf(t, server, mode, p, f)
			for at := ready + 1; at < len(kinds); at++ {
				t.Run(fmt.Sprintf("%s/%s/%d", p.name, mode, at), func(t *testing.T) {
					cfg := server.config(mode)
					var rec recorder
					rec.dial(&cfg.Config)
					c := connect(t, cfg)
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					prepare(t, c, p)
					if c.tx != nil { // which commits under the context that it began under
						if err := c.tx.Rollback(); err != nil {
							t.Fatal(err)
						}
						tx, err := c.std.BeginTx(ctx, sqldriver.TxOptions{})
						if err != nil {
							t.Fatal(err)
						}
						c.tx = tx
					}
					server.failNext(c, stallAt(at))
					rec.after(at, cancel)
					rec.start()
					c.shim.Arm(f)
					err := p.run(ctx, c)
					o := c.shim.Finish()
					if err != nil || !o.Ended || o.Status != 'I' {
						t.Errorf("got %v, %+v, want success", err, o)
					}
					wantUnanswered(t, &o, faultStall)
					refusesWrites(t, c)
				})
			}
		}
	}
}

func TestAContextThatEndsBeforeTheWriteHasIsPgxsError(t *testing.T) {
	server := newScripted(t, scriptedReply)
	f := Flight{Capture: captureQuery, Timeout: time.Hour}
	for _, mode := range modes {
		p := writePaths[0]
		_, ready := answersOf(t, server, mode, p, f)
		for at := range ready + 1 {
			c := connect(t, server.config(mode))
			ctx, cancel := context.WithCancel(t.Context())
			stall := stallAt(at)
			server.failNext(c, stall)
			server.done.Go(func() {
				<-stall.reached
				cancel()
			})
			c.shim.Arm(f)
			err := p.run(ctx, c)
			o := c.shim.Finish()
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s, message %d: got %v, want the context's error", mode, at, err)
			}
			if o.Ended || o.CaptureRow != nil {
				t.Errorf("%s, message %d: got %+v", mode, at, o)
			}
			cancel()
		}
	}
}

func TestACaptureThatIsLateIsGivenUpAtItsTimeout(t *testing.T) {
	server := newScripted(t, scriptedReply)
	f := Flight{Capture: captureQuery, Timeout: 20 * time.Millisecond}
	p := writePaths[0]
	kinds, ready := answersOf(t, server, modes[0], p, f)
	for at := ready + 1; at < len(kinds); at++ {
		c := connect(t, server.config(modes[0]))
		server.failNext(c, stallAt(at))
		c.shim.Arm(f)
		start := time.Now()
		err := p.run(t.Context(), c)
		o := c.shim.Finish()
		if err != nil || !o.Ended || !errors.Is(o.CaptureErr, errCaptureTimeout) {
			t.Errorf("message %d: got %v, %+v", at, err, o)
		}
		if held := time.Since(start); held < f.Timeout {
			t.Errorf("message %d: held for %v, want %v", at, held, f.Timeout)
		}
		wantUnanswered(t, &o, faultStall)
		refusesWrites(t, c)
	}
}
