package wire

import "time"

// Query is a question of ours that is asked through a named prepared statement.
// Its parameters, if any, are part of its text; its results come as text.
// Neither string may hold a zero byte. A Query whose text differs from the one
// last prepared under its name is prepared anew in the flight that asks it.
type Query struct {
	Name string
	SQL  string
}

// AskXID says where in a flight it is asked whether the transaction was
// assigned a transaction ID, which is to say: whether it wrote.
type AskXID uint8

const (
	// AskNothing asks nothing.
	AskNothing AskXID = iota
	// AskBehind asks behind the user's Execute, under the user's Sync: of the
	// transaction in which the statement runs. It cannot ride on a simple Query
	// unless Flight.Extended is set.
	AskBehind
	// AskAhead asks ahead of the user's messages, under a Sync of its own: of
	// the open transaction that a COMMIT is about to end.
	AskAhead
)

// Flight is what to add to the flights of one call.
type Flight struct {
	// Guard is asked ahead of the user's messages. Nil asks nothing.
	Guard *Query
	// Pass decides on the guard's one row, where NULL is a nil cell, whether the
	// answer of the user's messages may be handed up. The row is only valid
	// during the call. Pass must not use the Shim.
	Pass func(row [][]byte) bool

	// AskXID asks whether the transaction wrote.
	AskXID AskXID
	// Extended sends a simple Query as unnamed extended messages, so that the
	// question can stand behind it. The text must be one statement. A text that
	// says something else there, such as one with a parameter, stays a Query.
	Extended bool

	// Capture is asked behind the user's messages, after their transaction has
	// ended. Nil asks nothing. It runs inside the transaction if the user's
	// messages leave one open: its answer is then of no use, and in a transaction
	// that has only begun it takes the snapshot, so do not ask where that may
	// happen.
	Capture *Query
	// Timeout is how long the user's ReadyForQuery may be held for the capture.
	// Zero means DefaultTimeout.
	Timeout time.Duration
}

// DefaultTimeout is the Flight.Timeout of a flight that has none.
const DefaultTimeout = time.Second

// Verdict is what became of a guard.
type Verdict uint8

const (
	// GuardNotAsked means that no guard was sent.
	GuardNotAsked Verdict = iota
	// GuardPassed means that the answer that pgx handed up may be believed.
	GuardPassed
	// GuardRejected means that pgx was handed an answer made up here, without
	// rows.
	GuardRejected
	// GuardUnanswered means that the flight ended before the guard was decided.
	GuardUnanswered
)

// XID is what is known of a transaction's ID. The values are in the order of
// what outweighs what when a call makes several flights.
type XID uint8

const (
	// XIDNotAsked means that no question was sent, nor meant to be.
	XIDNotAsked XID = iota
	// XIDNone means that the transaction had not written.
	XIDNone
	// XIDUnknown means that the question could not be sent or had no answer.
	XIDUnknown
	// XIDAssigned means that the transaction has written, or meant to.
	XIDAssigned
)

// Outcome is what was learnt from a flight, or from the last one of a call that
// made several. Its slices are only valid until the connection is next armed.
type Outcome struct {
	// Sent is set once bytes of an Execute or a Query may have left. Until then
	// the server has run nothing for the user.
	Sent bool
	// Ended is set once the flight's last ReadyForQuery was read. A flight that
	// was sent and has not ended has an unknown outcome.
	Ended bool
	// Status is the transaction status of the flight's last ReadyForQuery: 'I',
	// 'T' or 'E'; 0 before.
	Status byte
	// Tags are the command tags of all flights of the call, in order.
	Tags []string

	// Guard is what became of the guard.
	Guard Verdict
	// GuardRow is the guard's row, also when it was rejected. Nil if none came.
	GuardRow [][]byte
	// GuardErr is why the guard has no row: a *pgconn.PgError if the server
	// refused it.
	GuardErr error

	// XID is what AskXID learnt.
	XID XID
	// XIDErr is the *pgconn.PgError of a question ahead. One behind the user's
	// Execute has its error returned by pgx.
	XIDErr error

	// CaptureRow is the capture's row, if it can be used: it was asked outside
	// any transaction, behind all that the user sent.
	CaptureRow [][]byte
	// CaptureErr is why a capture that was armed has no row: a *pgconn.PgError,
	// ErrNotCarried, ErrInTransaction, ErrNoRow, or an error that wraps
	// ErrUnanswered.
	CaptureErr error

	// Broken is set if the connection must be closed. It refuses all writes but
	// Terminate.
	Broken bool
	// Draining is set if the answers of a rejected read are still being read in
	// the background; see Shim.Drain.
	Draining bool
}

// Arm has everything that pgx writes on this connection until Finish carry f.
// A call that makes several flights, such as one whose tracer runs statements,
// has it carried by each.
//
// Cost: none, no allocation.
// Concurrency: for the connection's user, while no pgx call is under way.
func (s *Shim) Arm(f Flight) {
	if s.armed {
		s.Finish()
	}
	s.armed = true
	s.flight = f
	s.trip.clear()
	s.outcome = Outcome{Tags: s.tags[:0]}
	s.gate.CompareAndSwap(gateIdle, gateBusy)
}

// Finish disarms the connection and returns what the flight learnt. Call it
// when the pgx call has ended; for rows, when they are closed.
//
// Cost: none. If the guard was not passed and the real answers are not at hand,
// they are read by a goroutine that ends within the bounds named at Drain.
// Concurrency: as Arm.
func (s *Shim) Finish() Outcome {
	if s.armed {
		s.armed = false
		s.report()
		s.land()
	}
	o := s.outcome
	g := s.gate.Load()
	o.Broken = g == gateDead
	o.Draining = g == gateDraining
	s.flight, s.outcome = Flight{}, Outcome{}
	return o
}

// land brings the connection from the end of a call to where the next may
// begin, or out of use.
func (s *Shim) land() {
	if g := s.gate.Load(); g == gateDead || g == gateDraining {
		return
	}
	switch over := s.trip.phase == phaseNone || s.trip.phase == phaseOver; {
	case over && len(s.out) == 0 && (s.frame.between() || async(s.frame.kind)):
		s.idle()
	case s.trip.phase == phaseRejected:
		s.drain()
	default:
		if s.trip.ticking {
			s.timer.Stop()
		}
		s.die(errUnfinished)
	}
}
