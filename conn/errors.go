package conn

import (
	"errors"

	"github.com/pgryw/pgryw/router"
)

// ErrReplicaTransaction is returned in a read-only transaction that runs on a
// replica for a statement that a standby would carry out without an error but
// only for itself: advisory locks, snapshot exports, signals to backends. Also
// for a text that would end the transaction, which Tx does.
var ErrReplicaTransaction = errors.New("pgryw: a read-only transaction on a replica cannot have this statement; use pgryw.readonly_tx=primary")

// ErrFallbackLimit is returned for a read that no replica could serve while
// pgryw.max_fallback other reads had fallen back to the primary already.
var ErrFallbackLimit = errors.New("pgryw: no replica has replayed the read's fence, and pgryw.max_fallback reads are on the primary already")

// errNested is returned by BeginTx beside a read-only transaction on a replica.
// On the primary pgx has its way, and the server warns.
var errNested = errors.New("pgryw: a read-only transaction is open on this connection")

// errLost stands for an error that pgx has replaced by a claim that nothing was
// sent, when something was.
var errLost = errors.New("pgryw: the connection was lost after the statement was sent")

// errForeign is why a position that was captured says nothing of the others.
var errForeign = errors.New("pgryw: the server is of another cluster")

// errPanic stands for the error of a call that has panicked.
var errPanic = errors.New("pgryw: the call has panicked")

// wrongOnReplica reports whether a transaction on a replica cannot have the
// statement: a standby would carry it out silently, on the wrong server, or what
// follows it would be outside the transaction, where no fence was asked for.
func wrongOnReplica(s router.Statement) bool {
	switch s.Control {
	case router.ControlCommit, router.ControlRollback, router.ControlPrepare:
		return true
	}
	return s.Why == router.CauseEffect
}
