package conn

import (
	sqldriver "database/sql/driver"
	"errors"
	"slices"

	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/internal/wire"
	"github.com/pgryw/pgryw/lsn"
)

// flight follows one call on one connection, from before its first byte to
// after its last answer. What it asks the server rides with the call's own
// messages.
type flight struct {
	c    *Conn
	call *call
	p    *topology.Conn

	// kept is set for a call in a read-only transaction on a replica: the
	// connection stays with the transaction.
	kept bool
	// borrowed is set for a read on a replica: the connection goes back when the
	// flight lands.
	borrowed bool
	// guarded is set if a replica is asked, ahead of the read, how far it is.
	guarded bool
	// asks is set if a read on the primary is asked whether it wrote.
	asks bool

	// before is the transaction status when the call began.
	before byte
	// number is the newest one when the call began: see lsn.LastNumber.
	number lsn.Number
	// out is what was learnt; set by land.
	out wire.Outcome
	// lost is set by land if the connection is of no more use.
	lost bool
	// landed is set once everything has been concluded.
	landed bool
}

// Transaction statuses.
//
// Source: https://www.postgresql.org/docs/18/protocol-message-formats.html,
// ReadyForQuery.
const (
	statusIdle = 'I'
	statusInTx = 'T'
)

// errGuard is how a guarded read that was rejected fails; it never reaches the
// user.
var errGuard = errors.New("pgryw: the replica has not replayed the fence")

// launch begins a flight on the primary's connection.
//
// Cost: none: what is asked is sent with the call's own messages.
func (c *Conn) launch(p *topology.Conn, call *call) *flight {
	f := &flight{c: c, call: call, p: p, before: p.TxStatus(), number: lsn.LastNumber()}
	p.Shim().Arm(f.cargo())
	return f
}

// launchOnReplica begins the flight of a read on a replica, guarded unless the
// replica is known fresh on this very connection.
//
// Cost: none: the guard is sent ahead of the read's own messages.
func (c *Conn) launchOnReplica(p *topology.Conn, call *call, need lsn.Position) *flight {
	f := &flight{c: c, call: call, p: p, borrowed: true}
	if need.IsZero() || p.Fresh(need) {
		p.Shim().Arm(wire.Flight{})
		return f
	}
	f.guarded = true
	p.Shim().Arm(guardFlight(p, need))
	return f
}

// launchInReplicaTx begins the flight of a call in the read-only transaction
// that is open on a replica.
//
// Cost: none.
func (c *Conn) launchInReplicaTx(call *call) *flight {
	p := c.tx.replica
	p.Shim().Arm(wire.Flight{})
	return &flight{c: c, call: call, p: p, kept: true}
}

// rejected reports whether the rows that pgx has returned are not the
// replica's.
func (f *flight) rejected() bool {
	return f.guarded && f.p.Shim().Verdict() != wire.GuardPassed
}

// carry has pgx make a call. If it panics, as a user's tracer or argument may,
// nobody knows what has become of it, and its connection is given up.
func (f *flight) carry(call attempt) error {
	returned := false
	defer func() {
		if !returned {
			f.crash()
		}
	}()
	err := call(f.p, f)
	returned = true
	return err
}

// crash concludes from a call that has panicked.
func (f *flight) crash() {
	f.c.fellBack(f.call)
	switch {
	case f.landed:
	case f.borrowed:
		f.p.Destroy()
	case f.kept:
		f.p.Shim().Finish()
	default:
		f.out = f.p.Shim().Finish()
		f.lost = true
		f.conclude(errPanic)
		f.c.discard()
	}
}

// land ends a flight whose call ended with err, and returns what the caller is
// told. A committed write stays a success.
func (f *flight) land(err error) error {
	f.out = f.p.Shim().Finish()
	f.c.fellBack(f.call)
	f.lost = f.out.Broken || f.p.Closed()
	switch {
	case f.kept:
		f.forget(err)
		return err
	case f.borrowed:
		f.forget(err)
		f.landed = true
		f.p.Release()
		if err == nil && f.guarded && f.out.Guard != wire.GuardPassed {
			return errGuard
		}
		return err
	case err != nil && !f.out.Sent && unsent(err):
		return sqldriver.ErrBadConn
	case errors.Is(err, sqldriver.ErrBadConn):
		err = errLost // pgx says that nothing was sent, and is wrong
	}
	f.conclude(err)
	if f.out.Broken {
		f.c.discard()
	} else {
		f.forget(err)
	}
	f.landed = true
	return err
}

// forget has pgx forget the statements that its server has dropped, or no longer
// runs.
func (f *flight) forget(err error) {
	switch {
	case f.lost || f.call == nil:
	case dropsAll(f.out.Tags):
		forgetAll(f.p, f.call)
	case err != nil:
		forgetText(f.p, f.call, err)
	}
}

// dropsAll reports whether one of the commands has dropped all prepared
// statements: at once, also where a later command fails.
//
// Source: https://www.postgresql.org/docs/18/sql-deallocate.html
func dropsAll(tags []string) bool {
	return slices.Contains(tags, "DISCARD ALL") || slices.Contains(tags, "DEALLOCATE ALL")
}
