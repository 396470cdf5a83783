package wire

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Reasons why a question of ours has no usable answer.
var (
	// ErrNotCarried means that the flight had a form that nothing can be added
	// to, such as a COPY.
	ErrNotCarried = errors.New("pgryw: the flight could not carry the question")
	// ErrInTransaction means that the capture ran inside a transaction, because
	// the user's messages did not end it.
	ErrInTransaction = errors.New("pgryw: the capture ran inside an open transaction")
	// ErrNoRow means that the answer was not exactly one row.
	ErrNoRow = errors.New("pgryw: the answer is not one row")
	// ErrUnanswered means that the flight ended before the answer came. An error
	// that wraps it says how.
	ErrUnanswered = errors.New("pgryw: the question was not answered")
)

// answer collects what comes back for one question of ours. Its memory is used
// again by the next.
type answer struct {
	script string // the types of message that come first, in order
	step   int    // how many of them have come
	done   bool   // the command is complete
	rows   int
	row    [][]byte // the first row; its cells lie in mem
	mem    []byte
	err    error
}

// expect prepares for the answer to a question whose first messages are script.
func (a *answer) expect(script string) {
	*a = answer{script: script, row: a.row[:0], mem: a.mem[:0]}
}

// take adds a message to the answer. It returns false if the protocol does not
// call for it.
func (a *answer) take(kind byte, body []byte) bool {
	switch {
	case kind == 'E':
		a.err = serverError(body)
	case a.err != nil:
		return false
	case a.step < len(a.script):
		if kind != a.script[a.step] {
			return false
		}
		a.step++
	case a.done:
		return false
	case kind == 'D':
		a.rows++
		return a.rows > 1 || a.split(body)
	case kind == 'C':
		a.done = true
	default:
		return false
	}
	return true
}

// over reports whether the group's ReadyForQuery may come now.
func (a *answer) over() bool { return a.done || a.err != nil }

// prepared reports whether the named statement exists after the group: all that
// can fail for the want of it has succeeded.
func (a *answer) prepared() bool { return a.step == len(a.script) }

// result returns the one row, or why there is none.
func (a *answer) result() ([][]byte, error) {
	switch {
	case a.err != nil:
		return nil, a.err
	case !a.done:
		return nil, ErrUnanswered
	case a.rows != 1:
		return nil, ErrNoRow
	}
	return a.row, nil
}

// split cuts a DataRow's body into cells. It returns false if that is not what
// the body is.
func (a *answer) split(body []byte) bool {
	if len(body) < 2 {
		return false
	}
	a.mem = append(a.mem, body...)
	cells := int(binary.BigEndian.Uint16(a.mem))
	rest := a.mem[2:]
	for range cells {
		if len(rest) < 4 {
			return false
		}
		size := int(int32(binary.BigEndian.Uint32(rest)))
		rest = rest[4:]
		if size == -1 {
			a.row = append(a.row, nil)
			continue
		}
		if size < 0 || size > len(rest) {
			return false
		}
		a.row = append(a.row, rest[:size:size])
		rest = rest[size:]
	}
	return len(rest) == 0
}

// passFatal hands up a message that came where one of our answers was due if it
// is an error that ends the connection: that is not about our question, and pgx
// would have seen it without us. err is the error so far.
func (s *Shim) passFatal(kind byte, err error) {
	if kind == 'E' && fatal(err) {
		s.handUp(appendMessage(s.outMem[:0], kind, string(s.body)))
	}
}

// fatal reports whether the server ends the connection with err.
func fatal(err error) bool {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return false
	}
	severity := pgErr.SeverityUnlocalized
	if severity == "" {
		severity = pgErr.Severity
	}
	return severity == "FATAL" || severity == "PANIC"
}

// serverError reads an ErrorResponse.
func serverError(body []byte) error {
	var msg pgproto3.ErrorResponse
	if err := msg.Decode(body); err != nil {
		return fmt.Errorf("pgryw: the server's error cannot be read: %w", err)
	}
	return pgconn.ErrorResponseToPgError(&msg)
}
