package router

import (
	"strings"
	"time"
)

// Class says what a statement may do, as far as its text tells.
type Class uint8

// The classes. The zero Class is the one that doubt leads to.
const (
	// ClassUnknown is everything that is not one of the others: treated as a
	// write. Texts of several statements are unknown.
	ClassUnknown Class = iota
	// ClassWrite is known to change data or schema, or to have an effect that
	// only the primary may have.
	ClassWrite
	// ClassRead is a single statement that only reads, and gives the same rows
	// on every server that holds the same data.
	ClassRead
	// ClassVolatile would be a read but for a function that is not known to be
	// stable or immutable: where it runs is the policy's choice.
	ClassVolatile
	// ClassLocal reads, but answers for the server or connection that it runs
	// on (SHOW, pg_stat_*, current_setting): the primary's, with no capture.
	ClassLocal
	// ClassSession changes or creates state of its connection only (SET,
	// RESET, LISTEN, UNLISTEN, PREPARE, DEALLOCATE, DECLARE, FETCH, MOVE, CLOSE,
	// DISCARD, LOAD): the primary's, with no capture.
	ClassSession
	// ClassControl begins, ends or divides a transaction.
	ClassControl
)

// Control tells the transaction-control statements apart.
type Control uint8

// The transaction-control statements.
const (
	ControlNone             Control = iota
	ControlBegin                    // BEGIN, START TRANSACTION
	ControlCommit                   // COMMIT, END
	ControlRollback                 // ROLLBACK, ABORT
	ControlSavepoint                // SAVEPOINT, RELEASE, ROLLBACK TO
	ControlPrepare                  // PREPARE TRANSACTION
	ControlCommitPrepared           // COMMIT PREPARED
	ControlRollbackPrepared         // ROLLBACK PREPARED
	ControlSet                      // SET TRANSACTION, SET CONSTRAINTS
)

// Pin is a set of reasons why a checkout must keep its primary connection:
// session state that a statement may leave on it.
type Pin uint16

// The pins.
const (
	PinSet      Pin = 1 << iota // SET, RESET, set_config outside a transaction; LOAD
	PinTemp                     // temporary table, view, sequence or schema
	PinListen                   // LISTEN
	PinAdvisory                 // session-level advisory lock
	PinPrepare                  // PREPARE
	PinCursor                   // DECLARE ... WITH HOLD
	PinCall                     // CALL, DO
	PinRaw                      // the connection was handed out by Raw or Unwrap
	PinVolatile                 // a function that is not known to be stable
	PinUnknown                  // a statement that was not recognised
	PinTx                       // a transaction is open
	PinRole                     // as PinSet, where RESET ALL does not undo it: a role, LOAD
)

// Hint is what a comment in the statement, or its context, asks for.
type Hint uint8

// The hints.
const (
	HintNone    Hint = iota
	HintPrimary      // pgryw:primary, WithPrimary
	HintReplica      // pgryw:replica, WithReplica
)

// Statement is what Classify found out about one text.
type Statement struct {
	// Class decides where the statement may run.
	Class Class
	// Control is set for ClassControl.
	Control Control
	// Chain is set for COMMIT AND CHAIN and ROLLBACK AND CHAIN.
	Chain bool
	// Single is set when the text holds exactly one statement.
	Single bool
	// Hint is the hint in the text's comments.
	Hint Hint
	// MaxStaleness is the bound in the text's comments; zero is none.
	MaxStaleness time.Duration
	// Starts is the session state that the statement may start. Starts is also
	// set for what a multi-statement text may hold.
	Starts Pin
	// Ends is the session state that the statement surely ends.
	Ends Pin
	// Why is what made the statement its class.
	Why Cause
}

var classNames = [...]string{"unknown", "write", "read", "volatile", "local", "session", "control"}

// String returns the class as one lower-case word.
func (c Class) String() string { return name(classNames[:], c) }

var controlNames = [...]string{
	"none", "begin", "commit", "rollback", "savepoint", "prepare", "commit_prepared", "rollback_prepared", "set",
}

// String returns the kind of control in lower case, words joined by underscores.
func (c Control) String() string { return name(controlNames[:], c) }

var hintNames = [...]string{"none", "primary", "replica"}

// String returns the hint as one lower-case word.
func (h Hint) String() string { return name(hintNames[:], h) }

var pinNames = [...]string{
	"set", "temp", "listen", "advisory", "prepare", "cursor", "call", "raw", "volatile", "unknown", "transaction", "role",
}

// String returns the pins as lower-case words, joined by "+", or "none".
func (p Pin) String() string {
	var words []string
	for i, word := range pinNames {
		if p&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	if words == nil {
		return "none"
	}
	return strings.Join(words, "+")
}

// Captures reports whether the statement, run on the primary outside a
// transaction, must be followed by a capture. The query of a cursor WITH HOLD is
// run by the commit, behind which alone it can be told whether it wrote.
func (s Statement) Captures() bool {
	switch s.Class {
	case ClassRead, ClassLocal:
		return false
	case ClassSession:
		return s.Starts&PinCursor != 0
	case ClassControl:
		switch s.Control {
		case ControlPrepare, ControlCommitPrepared, ControlRollbackPrepared:
			return true
		}
		return false
	}
	return true
}
