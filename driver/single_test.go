package driver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

const (
	captureText  = "pg_current_wal_insert_lsn"
	questionText = "pg_current_xact_id_if_assigned"
)

// TestOneNodeServesEverything makes every kind of call with one server in the
// DSN. It is asked for a position only for the writes of sessions, and whether a
// read wrote only for their reads.
func TestOneNodeServesEverything(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	db, routes := open(t, c.Primary().DSN(), "application_name=single")
	all := append(append([]kind(nil), readKinds...), writeKinds...)
	for who, ctx := range map[string]context.Context{"nobody": t.Context(), "a session": lsn.NewSession(t.Context())} {
		mark := c.Mark()
		for _, k := range all {
			comment := fmt.Sprintf("/* %s: %s. */", t.Name(), k.name)
			since := c.Mark()
			if err := k.call(ctx, db, comment); err != nil {
				t.Fatalf("%s: %v", k.name, err)
			}
			wantRun(t, c, since, comment, c.Primary())
			if d := routes.Last(); d.Reason != router.ReasonSingleNode && d.Reason != router.ReasonTransaction {
				t.Errorf("%s: got %s", k.name, d.Reason)
			}
		}
		captured, asked := asksOf(t, c, mark, "single", captureText), asksOf(t, c, mark, "single", questionText)
		signed := who != "nobody"
		if (captured > 0) != signed || (asked > 0) != signed {
			t.Errorf("calls of %s: got %d captures, %d questions", who, captured, asked)
		}
		if signed && captured < len(writeKinds) {
			t.Errorf("calls of %s: got %d captures of %d kinds of writes", who, captured, len(writeKinds))
		}
	}
}

// asksOf counts the executions of a text on the primary by one application.
func asksOf(t *testing.T, c *pgcluster.Cluster, since pgcluster.Mark, application, text string) int {
	t.Helper()
	statements, err := c.Primary().Statements(since)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range statements {
		if s.Application == application && strings.Contains(s.SQL, text) {
			n++
		}
	}
	return n
}

// TestASessionOfOneNodeFencesAnotherHandle writes with a session through a
// handle of one server, and reads with it through one of all.
func TestASessionOfOneNodeFencesAnotherHandle(t *testing.T) {
	t.Parallel()
	c := startPaused(t, calmSetup)
	writer, _ := open(t, c.Primary().DSN(), "")
	reader, routes := open(t, c.DSN(), "")
	for n := int64(1); n <= 20; n++ {
		ctx := lsn.NewSession(t.Context())
		if _, err := writer.ExecContext(ctx, writeArg, "calm"); err != nil {
			t.Fatal(err)
		}
		if got, err := get(ctx, reader, "calm"); err != nil || got != n {
			t.Errorf("got %d from %s by %s, %v, want %d", got, routes.Last().Label, routes.Last().Reason, err, n)
		}
		if got, err := get(t.Context(), reader, "calm"); err != nil || got != 0 || !routes.Last().Replica() {
			t.Errorf("without the session: got %d from %s, %v", got, routes.Last().Label, err)
		}
	}
}

// TestAStandbyAloneServesReads opens a handle on a standby, which refuses
// writes with its own error.
func TestAStandbyAloneServesReads(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	db, _ := open(t, c.Standby(0).DSN(), "")
	for _, ctx := range []context.Context{t.Context(), lsn.NewSession(t.Context())} {
		for _, k := range readKinds {
			mark := c.Mark()
			comment := fmt.Sprintf("/* %s: %s. */", t.Name(), k.name)
			if err := k.call(ctx, db, comment); err != nil {
				t.Errorf("%s: %v", k.name, err)
				continue
			}
			wantRun(t, c, mark, comment, c.Standby(0))
		}
		for _, k := range writeKinds {
			err := k.call(ctx, db, "")
			if k.name == "read in a Tx" {
				if err != nil {
					t.Errorf("%s: %v", k.name, err)
				}
				continue
			}
			if err := wantState(err, "25006"); err != nil {
				t.Errorf("%s: %v", k.name, err)
			}
		}
		if err := drained(db.QueryContext(ctx, read)); err != nil {
			t.Errorf("after the writes: %v", err)
		}
	}
}
