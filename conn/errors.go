package conn

import (
	"errors"

	"github.com/pgryw/pgryw/router"
)

// ErrReplicaTransaction is returned in a read-only transaction that runs on a
// replica for a statement that a standby would carry out without an error but
// only for itself: advisory locks, snapshot exports, signals to backends.
var ErrReplicaTransaction = errors.New("pgryw: the read-only transaction runs on a replica, where this statement would have no effect on the primary; use pgryw.readonly_tx=primary")

// ErrFallbackLimit is returned for a read that no replica could serve while
// pgryw.max_fallback other reads had fallen back to the primary already.
var ErrFallbackLimit = errors.New("pgryw: no replica has replayed the read's fence, and pgryw.max_fallback reads are on the primary already")

// errNested is returned by BeginTx beside a read-only transaction on a replica.
// On the primary pgx has its way, and the server warns.
var errNested = errors.New("pgryw: a read-only transaction is open on this connection")

// errLost stands for an error that pgx has replaced by a claim that nothing was
// sent, when something was.
var errLost = errors.New("pgryw: the connection was lost after the statement was sent")

// wrongOnReplica reports whether a standby would carry out the statement
// silently, on the wrong server.
func wrongOnReplica(s router.Statement) bool {
	return s.Why == router.CauseEffect
}
