package wire

import (
	"errors"
	"net"
)

// writer is the Shim as the io.Writer under pgx's frontend.
type writer Shim

// Write passes on what pgx writes, and adds to it what the flight carries.
//
// Errors: what the connection returns. It returns an error of its own, having
// written nothing, on a connection that is out of use, and for messages that
// cannot carry the guard that they must have.
func (w *writer) Write(p []byte) (int, error) {
	s := (*Shim)(w)
	if g := s.gate.Load(); g != gateIdle && len(p) > 0 && !alone(p) {
		switch {
		case g == gateDraining:
			return 0, errDraining
		case g == gateDead:
			return 0, errDead
		case s.armed:
			return s.board(p)
		}
	}
	return s.w.Write(p)
}

var (
	errDraining  = errors.New("pgryw: the answers of a rejected read are still on the connection")
	errDead      = errors.New("pgryw: the connection is out of use")
	errUnguarded = errors.New("pgryw: these messages cannot carry a guard")
)

// alone reports whether p begins with a message that never has anything to do
// with a flight: Terminate, and those of a COPY. pgx may write them from other
// goroutines.
func alone(p []byte) bool {
	switch p[0] {
	case 'X', 'd', 'c', 'f':
		return true
	}
	return false
}

// board sends what pgx writes while a flight is armed.
func (s *Shim) board(p []byte) (int, error) {
	if s.trip.phase == phaseRejected {
		return 0, errDraining
	}
	v := look(p)
	if v.whole && v.runs == 0 {
		return s.w.Write(p)
	}
	if s.flight.Guard != nil && !(v.carries() && !v.has(describeStatement)) {
		return 0, errUnguarded
	}
	if s.trip.phase != phaseNone {
		s.report()
		s.trip.clear()
	}
	s.trip.user = v
	s.trip.owed = max(v.groups, 1)
	s.load()
	s.outcome.Ended, s.outcome.Status = false, 0
	n, err := s.send(p)
	if n > 0 || err == nil {
		s.outcome.Sent = true
	}
	return n, err
}

func (v *survey) has(kind byte) bool {
	for _, k := range v.kinds[:v.count] {
		if k == kind {
			return true
		}
	}
	return false
}

// load decides what the flight carries, and expects the answers.
func (s *Shim) load() {
	t, f := &s.trip, &s.flight
	carries := t.user.carries()
	c := cargo{
		guard:    carries && f.Guard != nil,
		capture:  carries && f.Capture != nil,
		extended: carries && f.Extended && t.user.simple() && t.user.parses,
	}
	switch f.AskXID {
	case AskAhead:
		c.ahead = carries && !t.user.borrows
	case AskBehind:
		c.question = carries && (c.extended || t.user.extended())
	}
	if f.AskXID != AskNothing {
		t.xid = XIDUnknown
		t.question.expect(questionScript)
	}
	if c.guard {
		t.verdict = GuardUnanswered
		t.guard.expect(s.names.script(f.Guard))
	}
	if c.capture {
		t.capture.expect(s.names.script(f.Capture))
	}
	t.cargo, t.strict = c, carries
	t.phase = c.next(phaseNone)
}

// joinBytes is how much is copied together so that one Write carries it. More
// than that is several packets anyway.
const joinBytes = 32 << 10

// keptBytes is how much memory is kept for the next Write.
const keptBytes = 8 << 10

// send writes the user's messages with the cargo around them, in one Write.
//
// Errors: as io.Writer; the count is zero only if nothing at all was written,
// because pgx then takes the call for safe to repeat.
func (s *Shim) send(p []byte) (int, error) {
	b := s.buf[:0]
	c, f := s.trip.cargo, &s.flight
	if c.ahead {
		b = appendSync(append(b, question...))
	}
	if c.guard {
		b = s.names.append(b, f.Guard)
	}
	head := len(b)
	user, last := p, []byte(nil) // the part before the question, and the one behind
	switch {
	case c.extended:
		b = appendExtended(b, p)
		user, last = nil, syncMessage
		head = len(b)
	case c.question:
		user, last = p[:len(p)-len(syncMessage)], syncMessage
	}
	if c.question {
		b = append(b, question...)
	}
	b = append(b, last...)
	if c.capture {
		b = s.names.append(b, f.Capture)
	}
	s.buf = b
	var n int64
	var err error
	if len(b)+len(user) <= joinBytes {
		var k int
		k, err = s.w.Write(s.join(head, user))
		n = int64(k)
	} else {
		pieces := net.Buffers{b[:head], user, b[head:]}
		n, err = pieces.WriteTo(s.w)
	}
	if cap(s.buf) > keptBytes {
		s.buf = nil
	}
	if err != nil {
		return min(int(n), len(p)), err
	}
	return len(p), nil
}

// join puts the user's bytes into s.buf at head.
func (s *Shim) join(head int, user []byte) []byte {
	b := append(s.buf, user...)
	if len(user) > 0 {
		copy(b[head+len(user):], s.buf[head:])
		copy(b[head:], user)
	}
	s.buf = b
	return b
}
