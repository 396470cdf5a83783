package conn

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/internal/wire"
	"github.com/pgryw/pgryw/router"
)

// TestALostConnectionEndsItsTransaction loses a connection in a call. What is
// done next on the logical one must fail if it was meant for a transaction that
// is gone, and need not if that had ended.
func TestALostConnectionEndsItsTransaction(t *testing.T) {
	commit := router.Classify("COMMIT")
	for _, tt := range []struct {
		name         string
		open         *transaction
		stmt         router.Statement
		out          wire.Outcome
		broken, left bool // left: in doubt
	}{
		{"a write", nil, aWrite, wire.Outcome{Sent: true}, false, true},
		{"a setting", nil, aSetting, wire.Outcome{Sent: true}, false, false},
		{"in a transaction that has read", &transaction{}, aRead, wire.Outcome{Sent: true}, true, false},
		{"in one that has written", &transaction{wrote: true}, aRead, wire.Outcome{Sent: true}, true, true},
		{"in its commit", &transaction{wrote: true}, commit, wire.Outcome{Sent: true}, true, true},
		{"in the commit of one that may have written", &transaction{}, commit, wire.Outcome{Sent: true, XID: wire.XIDUnknown}, true, true},
		{"in the commit of one that has not", &transaction{}, commit, wire.Outcome{Sent: true, XID: wire.XIDNone}, true, false},
		{"in the capture behind its commit", &transaction{wrote: true}, commit, wire.Outcome{Sent: true, Ended: true, Status: 'I'}, false, true},
		{"behind a chained commit", &transaction{wrote: true}, commit, wire.Outcome{Sent: true, Ended: true, Status: 'T'}, true, true},
	} {
		h := newHandle(t, router.Policy{}, "a", "b")
		c := h.Connect()
		c.tx = tt.open
		f := &flight{c: c, call: &call{stmt: tt.stmt}, p: new(topology.Conn), out: tt.out, lost: true}
		f.settleLost()
		if c.broken != tt.broken || h.all.Load().Uncertain() != tt.left || c.tx != nil {
			t.Errorf("%s: got broken %t, in doubt %t, want %t, %t", tt.name, c.broken, h.all.Load().Uncertain(), tt.broken, tt.left)
		}
	}
}

// TestOnlyAnAnswerOfTheServerUndoesACall goes through what may be said of a call
// that has an error.
func TestOnlyAnAnswerOfTheServerUndoesACall(t *testing.T) {
	for _, tt := range []struct {
		name string
		out  wire.Outcome
		err  error
		lost bool
		want bool
	}{
		{"no error", wire.Outcome{Sent: true}, nil, false, false},
		{"the server's", wire.Outcome{Sent: true}, &pgconn.PgError{Code: "22012"}, false, true},
		{"the server's last one", wire.Outcome{Sent: true}, &pgconn.PgError{Code: "22012"}, true, false},
		{"one of a value that cannot be read", wire.Outcome{Sent: true}, errLost, false, false},
		{"one before anything was sent", wire.Outcome{}, errLost, false, true},
	} {
		f := &flight{out: tt.out, lost: tt.lost}
		if got := f.failed(tt.err); got != tt.want {
			t.Errorf("%s: got %t, want %t", tt.name, got, tt.want)
		}
	}
}
