package wire

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// rejecting is a flight whose guard is not passed.
func rejecting() Flight {
	return Flight{Guard: guardQuery, Pass: func([][]byte) bool { return false }}
}

// answersBeforeRead returns the number of the server's messages that come before
// those of a read that pgx has run before and that is guarded for the first
// time.
func answersBeforeRead(t *testing.T, server *scripted, mode pgx.QueryExecMode, p path) int {
	t.Helper()
	cfg := server.config(mode)
	var rec recorder
	rec.dial(&cfg.Config)
	c := connect(t, cfg)
	if err := p.run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	rec.start()
	c.shim.Arm(Flight{Guard: guardQuery, Pass: notInRecovery})
	if err := p.run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	c.shim.Finish()
	text, _ := rec.stop()
	before, _, found := strings.Cut(text, "  B CloseComplete\n")
	if !found {
		t.Fatalf("no guard in\n%s", text)
	}
	const guardAnswers = 6
	return strings.Count(before, "  B ") + guardAnswers
}

// reject runs a path whose guard is not passed, while the server does not
// answer the read: pgx's call must end all the same. It returns the stall.
func reject(t *testing.T, server *scripted, c *client, p path, f Flight, guardAnswers int) (fault, Outcome) {
	t.Helper()
	stall := stallAt(guardAnswers)
	server.failNext(c, stall)
	c.shim.Arm(f)
	err := p.run(t.Context(), c)
	verdict := c.shim.Verdict()
	o := c.shim.Finish()
	<-stall.reached
	if err != nil || len(c.rows) > 0 {
		t.Errorf("got %v and rows %v, want neither", err, c.rows)
	}
	if o.Guard != GuardRejected || verdict != GuardRejected || o.Broken || !o.Draining {
		t.Errorf("got %+v, want a rejected guard, and the rest drained", o)
	}
	return stall, o
}

func TestARejectedReadIsNotWaitedForAndItsConnectionIsUsedAgain(t *testing.T) {
	server := newScripted(t, scriptedReply)
	for _, p := range readPaths {
		for _, mode := range modes {
			t.Run(p.name+"/"+mode.String(), func(t *testing.T) {
				before := answersBeforeRead(t, server, mode, p)
				c := connect(t, server.config(mode))
				if err := p.run(t.Context(), c); err != nil { // so that pgx's caches are warm
					t.Fatal(err)
				}
				stall, o := reject(t, server, c, p, rejecting(), before)
				if o.GuardErr != nil || len(o.GuardRow) != 1 || string(o.GuardRow[0]) != "f" {
					t.Errorf("got row %q, %v", o.GuardRow, o.GuardErr)
				}
				if _, err := c.std.QueryContext(t.Context(), "select v from t limit 1", nil); err == nil {
					t.Error("a connection that is being drained was used")
				}
				close(stall.hold)
				_ = c.shim.Drain(t.Context())
			})
		}
	}
}

func TestADrainedConnectionStillHasItsStatementsCached(t *testing.T) {
	server := newScripted(t, scriptedReply)
	for _, mode := range modes {
		for _, p := range readPaths {
			cfg := server.config(mode)
			var rec recorder
			rec.dial(&cfg.Config)
			c := connect(t, cfg)
			rec.start()
			if err := errors.Join(p.run(t.Context(), c), p.run(t.Context(), c)); err != nil {
				t.Fatal(err)
			}
			rec.start()
			if err := p.run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			_, warm := rec.stop()

			f := rejecting()
			f.Capture = captureQuery
			c.shim.Arm(f)
			err := p.run(t.Context(), c)
			o := c.shim.Finish()
			if err != nil || o.Guard != GuardRejected || len(c.rows) > 0 {
				t.Fatalf("%s, %s: got %v, %+v, %v", p.name, mode, err, o, c.rows)
			}
			if err := c.shim.Drain(t.Context()); err != nil {
				t.Fatalf("%s, %s: %v", p.name, mode, err)
			}
			rec.start()
			c.shim.Arm(Flight{Guard: guardQuery, Pass: notInRecovery})
			err = p.run(t.Context(), c)
			o = c.shim.Finish()
			_, writes := rec.stop()
			if err != nil || o.Guard != GuardPassed || writes != warm {
				t.Errorf("%s, %s: got %v, %+v in %d writes, want %d", p.name, mode, err, o, writes, warm)
			}
		}
	}
}

func TestARejectedReadThatTakesLongIsCancelledAndItsConnectionGivenUp(t *testing.T) {
	server := newScripted(t, scriptedReply)
	c := connect(t, server.config(pgx.QueryExecModeExec))
	reject(t, server, c, readPaths[0], rejecting(), 6)
	if err := c.shim.Drain(t.Context()); !errors.Is(err, errDrainGrace) {
		t.Errorf("Drain: got %v, want %v", err, errDrainGrace)
	}
	server.mu.Lock()
	cancels := server.cancels
	server.mu.Unlock()
	if cancels != 1 {
		t.Errorf("got %d cancel requests, want 1", cancels)
	}
	refusesWrites(t, c)
}

func TestDrainStopsWaitingWhenItsContextEnds(t *testing.T) {
	server := newScripted(t, scriptedReply)
	c := connect(t, server.config(pgx.QueryExecModeExec))
	stall, _ := reject(t, server, c, readPaths[0], rejecting(), 6)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.shim.Drain(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	close(stall.hold)
	_ = c.shim.Drain(t.Context())
}

func TestWhatTheServerSaysByItselfDuringADrainReachesPgxWithTheNextFlight(t *testing.T) {
	server := newScripted(t, scriptedReply)
	server.noise = true
	cfg := server.config(pgx.QueryExecModeExec)
	var notices, notifications int
	cfg.OnNotice = func(*pgconn.PgConn, *pgconn.Notice) { notices++ }
	cfg.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) { notifications++ }
	c := connect(t, cfg)
	notices, notifications = 0, 0
	server.failNext(c, fault{})
	c.shim.Arm(rejecting())
	if err := readPaths[0].run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	c.shim.Finish()
	if err := c.shim.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := readPaths[0].run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if sent := server.sent(c); notices != sent || notifications != sent {
		t.Errorf("got %d notices and %d notifications, want %d of each", notices, notifications, sent)
	}
	if got := c.std.Conn().PgConn().ParameterStatus("noise"); got != "loud" {
		t.Errorf("parameter: got %q", got)
	}
}

func TestATransactionThatARejectedBeginOpenedIsRolledBack(t *testing.T) {
	server := newScripted(t, scriptedReply)
	c := connect(t, server.config(pgx.QueryExecModeExec))
	c.shim.Arm(rejecting())
	err := execPath("begin read only")(t.Context(), c)
	o := c.shim.Finish()
	if err != nil || o.Guard != GuardRejected {
		t.Fatalf("got %v, %+v", err, o)
	}
	if err := c.shim.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := readPaths[0].run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := c.std.Conn().PgConn().TxStatus(); got != 'I' {
		t.Errorf("got status %c, want I", got)
	}
}

func TestAGuardWithoutARowIsNotPassed(t *testing.T) {
	pass := func([][]byte) bool { return true }
	for name, answer := range map[string]reply{
		"no row":        {columns: []string{"v"}, tag: "SELECT 0"},
		"two rows":      {columns: []string{"v"}, rows: [][]string{{"f"}, {"f"}}, tag: "SELECT 2"},
		"error":         {code: "55000"},
		"row and error": {columns: []string{"v"}, rows: [][]string{{"f"}}, code: "55000"},
		"late error":    {columns: []string{"v"}, rows: [][]string{{"f"}}, tag: "SELECT 1", late: "40001"},
	} {
		server := newScripted(t, func(sql string) reply {
			if sql == guardQuery.SQL {
				return answer
			}
			return scriptedReply(sql)
		})
		c := connect(t, server.config(pgx.QueryExecModeExec))
		for _, run := range []string{"cold", "warm"} {
			c.shim.Arm(Flight{Guard: guardQuery, Pass: pass})
			err := readPaths[0].run(t.Context(), c)
			o := c.shim.Finish()
			if err != nil || len(c.rows) > 0 || o.Guard != GuardRejected || o.GuardErr == nil || o.GuardRow != nil {
				t.Errorf("%s, %s: got %v, %v, %+v", name, run, err, c.rows, o)
			}
			if err := c.shim.Drain(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestAServerThatFailsDuringAGuardedReadGivesNoRows(t *testing.T) {
	server := newScripted(t, scriptedReply)
	f := Flight{Guard: guardQuery, Pass: notInRecovery}
	for _, kind := range []faultKind{faultClose, faultFatal} {
		for at := range 6 {
			c := connect(t, server.config(pgx.QueryExecModeExec))
			server.failNext(c, fault{kind: kind, at: at})
			c.shim.Arm(f)
			err := readPaths[0].run(t.Context(), c)
			o := c.shim.Finish()
			if err == nil || len(c.rows) > 0 || o.Guard == GuardPassed || !o.Broken {
				t.Errorf("%d, message %d: got %v, %v, %+v", kind, at, err, c.rows, o)
			}
			var pgErr *pgconn.PgError
			if kind == faultFatal && (!errors.As(o.GuardErr, &pgErr) || pgErr.Code != "57P01") {
				t.Errorf("message %d: got %v, want the server's 57P01", at, o.GuardErr)
			}
		}
	}
}

// fails runs a path under a flight that breaks its connection.
func fails(t *testing.T, c *client, f Flight, run func(context.Context, *client) error) (Outcome, error) {
	t.Helper()
	c.shim.Arm(f)
	err := run(t.Context(), c)
	o := c.shim.Finish()
	if err == nil || !o.Broken || o.Ended {
		t.Errorf("got %v, %+v", err, o)
	}
	return o, err
}

func TestAFatalErrorWhereAnAnswerOfOursIsDueIsPgxs(t *testing.T) {
	server := newScripted(t, scriptedReply)
	for name, f := range map[string]Flight{
		"guard": {Guard: guardQuery, Pass: notInRecovery},
		"ahead": {AskXID: AskAhead},
	} {
		for at := range 5 {
			c := connect(t, server.config(pgx.QueryExecModeExec))
			server.failNext(c, fault{kind: faultFatal, at: at})
			_, err := fails(t, c, f, execPath("commit"))
			var pgErr *pgconn.PgError
			if !errors.As(err, &pgErr) || pgErr.Severity != "FATAL" || pgErr.Code != "57P01" {
				t.Errorf("%s, message %d: got %v, want the server's FATAL 57P01", name, at, err)
			}
		}
	}
}

func TestAReadyForQueryThatIsLeftOverIsTakenForNobodys(t *testing.T) {
	server := &scripted{t: t, reply: replyByName}
	for name, f := range flights() {
		for form, user := range wireForms("rows") {
			l := newLine()
			l.shim.Arm(f)
			l.send(t, user)
			l.in = append([]byte("Z\x00\x00\x00\x05I"), server.offline(l.written)...)
			up, err := l.receive()
			o := l.shim.Finish()
			if err == nil || len(up) > 0 || !o.Broken || o.Ended || o.Guard == GuardPassed || o.CaptureRow != nil || o.XID == XIDNone {
				t.Errorf("%s, %s: got %q, %v, %+v", name, form, up, err, o)
			}
		}
	}
}

func TestMessagesThatCannotCarryTheirGuardAreNotSent(t *testing.T) {
	server := newScripted(t, scriptedReply)
	c := connect(t, server.config(pgx.QueryExecModeExec))
	for _, sql := range []string{"copy t to stdout", "COPY t FROM STDIN", "insert into t values ('a'); copy t from stdin"} {
		server.failNext(c, fault{})
		c.shim.Arm(Flight{Guard: guardQuery, Pass: notInRecovery})
		_, err := c.std.Conn().PgConn().Exec(t.Context(), sql).ReadAll()
		o := c.shim.Finish()
		if !errors.Is(err, errUnguarded) || !pgconn.SafeToRetry(err) || o.Sent || o.Guard == GuardPassed {
			t.Errorf("%q: got %v, %+v", sql, err, o)
		}
		if server.sent(c) != 0 {
			t.Errorf("%q was sent", sql)
		}
		c = connect(t, server.config(pgx.QueryExecModeExec)) // pgx closes it on a failed write
	}
}
