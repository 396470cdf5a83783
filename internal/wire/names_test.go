package wire

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// captures reports whether an armed write learnt its position, and whether the
// flight prepared the capture.
func captures(t *testing.T, c *client, rec *recorder, p path) (prepared bool, o Outcome) {
	t.Helper()
	rec.start()
	c.shim.Arm(Flight{Capture: captureQuery})
	err := p.run(t.Context(), c)
	o = c.shim.Finish()
	text, _ := rec.stop()
	if err != nil || !o.Ended || o.Broken {
		t.Fatalf("got %v, %+v", err, o)
	}
	return strings.Contains(text, `Parse "pgryw_capture"`), o
}

func recorded(t *testing.T, cfg *pgx.ConnConfig) (*client, *recorder) {
	t.Helper()
	rec := new(recorder)
	rec.dial(&cfg.Config)
	return connect(t, cfg), rec
}

func TestStatementsThatTheUserDropsArePreparedAgain(t *testing.T) {
	servers := map[string]func(pgx.QueryExecMode) *pgx.ConnConfig{
		"scripted": newScripted(t, scriptedReply).config,
		"real":     realServer(t),
	}
	insert := writePaths[1]
	for name, config := range servers {
		for _, drop := range []string{"discard all", "deallocate all"} {
			c, rec := recorded(t, config(pgx.QueryExecModeExec))
			for _, want := range []bool{true, false} {
				prepared, o := captures(t, c, rec, insert)
				if prepared != want {
					t.Errorf("%s: prepared: got %t, want %t", name, prepared, want)
				}
				wantCapture(t, &o)
			}
			if err := execPath(drop)(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			prepared, o := captures(t, c, rec, insert)
			if !prepared {
				t.Errorf("%s: not prepared again after an unarmed %s", name, drop)
			}
			wantCapture(t, &o)

			// The capture in the flight of the drop itself finds nothing.
			_, o = captures(t, c, rec, path{run: execPath(drop)})
			wantState(t, &o, "26000")
			prepared, o = captures(t, c, rec, insert)
			if !prepared {
				t.Errorf("%s: not prepared again after an armed %s", name, drop)
			}
			wantCapture(t, &o)
		}
	}
}

func wantState(t *testing.T, o *Outcome, code string) {
	t.Helper()
	var pgErr *pgconn.PgError
	if !errors.As(o.CaptureErr, &pgErr) || pgErr.Code != code || o.CaptureRow != nil {
		t.Errorf("got row %q, %v, want the server's %s", o.CaptureRow, o.CaptureErr, code)
	}
}

func TestAStatementThatVanishedIsAnErrorOnceAndPreparedNext(t *testing.T) {
	c, rec := recorded(t, realServer(t)(pgx.QueryExecModeExec))
	captures(t, c, rec, writePaths[1])
	if err := execPath("deallocate pgryw_capture")(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	prepared, o := captures(t, c, rec, writePaths[1])
	if prepared {
		t.Error("prepared although nobody could know that it was dropped")
	}
	wantState(t, &o, "26000")
	prepared, o = captures(t, c, rec, writePaths[1])
	if !prepared {
		t.Error("not prepared again")
	}
	wantCapture(t, &o)
}

func TestAQueryWhoseTextChangesIsPreparedAgain(t *testing.T) {
	c := connect(t, realServer(t)(pgx.QueryExecModeExec))
	for _, want := range []string{"1", "2", "2", "1"} {
		c.shim.Arm(Flight{Capture: &Query{Name: "pgryw_changing", SQL: "select " + want}})
		err := writePaths[0].run(t.Context(), c)
		o := c.shim.Finish()
		if err != nil || len(o.CaptureRow) != 1 || string(o.CaptureRow[0]) != want {
			t.Errorf("got %v, %q, %v, want %s", err, o.CaptureRow, o.CaptureErr, want)
		}
	}
}

func TestAQueryThatDoesNotParseIsReportedEachTime(t *testing.T) {
	c := connect(t, realServer(t)(pgx.QueryExecModeExec))
	for range 3 {
		c.shim.Arm(Flight{Capture: &Query{Name: "pgryw_wrong", SQL: "selec 1"}})
		err := writePaths[0].run(t.Context(), c)
		o := c.shim.Finish()
		if err != nil || !o.Ended {
			t.Errorf("got %v, %+v", err, o)
		}
		wantState(t, &o, "42601")
	}
}

func TestAGuardThatVanishedRejectsOnceAndIsPreparedNext(t *testing.T) {
	c := connect(t, realServer(t)(pgx.QueryExecModeExec))
	f := Flight{Guard: guardQuery, Pass: notInRecovery}
	for i, want := range []Verdict{GuardPassed, GuardRejected, GuardPassed} {
		if i == 1 {
			if err := execPath("deallocate pgryw_guard")(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		c.shim.Arm(f)
		err := readPaths[0].run(t.Context(), c)
		o := c.shim.Finish()
		if err != nil || o.Guard != want {
			t.Errorf("run %d: got %v, %+v, want %d", i, err, o, want)
		}
		if err := c.shim.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
