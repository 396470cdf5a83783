package wire

import "fmt"

// phase is whose answers are being read; see the package's documentation.
type phase uint8

const (
	phaseNone phase = iota
	phaseAhead
	phaseGuard
	phaseUser
	phaseQuestion
	phaseCapture
	phaseOver
	phaseRejected
)

func (p phase) String() string {
	return [...]string{"none", "ahead", "guard", "user", "question", "capture", "over", "rejected"}[p]
}

// trip is one flight proper on its way.
type trip struct {
	phase phase
	cargo cargo
	user  survey // what pgx wrote
	// strict is set if the user's group is known to have one answer, so that a
	// ReadyForQuery before it must be left over from somewhere else.
	strict bool

	guard    answer
	verdict  Verdict
	question answer // ahead or behind
	xid      XID
	capture  answer

	owed    int  // ReadyForQuery of the user's that are still to come
	ran     bool // the user's Execute or Query has an answer
	undone  bool // the question behind the Execute failed
	ready   byte // the transaction status of the held ReadyForQuery
	held    bool
	ticking bool // the timer of the held ReadyForQuery runs
}

// clear makes the trip one that has not begun, and keeps its memory.
func (t *trip) clear() {
	guard, question, capture := t.guard, t.question, t.capture
	guard.expect("")
	question.expect("")
	capture.expect("")
	*t = trip{guard: guard, question: question, capture: capture}
}

// cargo is what a flight carries besides the user's messages.
type cargo struct {
	ahead, guard, question, capture, extended bool
}

// next returns the phase that follows p.
func (c cargo) next(p phase) phase {
	switch {
	case p < phaseAhead && c.ahead:
		return phaseAhead
	case p < phaseGuard && c.guard:
		return phaseGuard
	case p < phaseUser:
		return phaseUser
	case p < phaseCapture && c.capture:
		return phaseCapture
	}
	return phaseOver
}

// async reports whether the server may send messages of a kind at any time.
// They are pgx's, whoever's answers they stand between.
func async(kind byte) bool {
	return kind == 'N' || kind == 'A' || kind == 'S'
}

// begin decides on the message that begins: whether pgx is to see it, and
// whether its body is needed when it ends.
func (s *Shim) begin(kind byte) (keep, collect bool) {
	t := &s.trip
	if async(kind) {
		return !t.held, t.held
	}
	switch t.phase {
	case phaseAhead, phaseGuard, phaseCapture:
		return false, true
	case phaseQuestion:
		switch kind {
		case 'E':
			return true, false
		case 'Z':
			return !t.cargo.capture, true
		}
		return false, true
	case phaseUser:
		switch kind {
		case 'Z':
			return !t.cargo.capture && (t.ran || !t.strict), true
		case '1', '2', 'n':
			return !t.cargo.extended, false
		}
	}
	return true, kind == 'C' || kind == 'Z'
}

// end acts on a message that is complete.
//
// Errors: the message is not one that the protocol calls for here.
func (s *Shim) end() error {
	kind := s.frame.kind
	t := &s.trip
	switch {
	case async(kind) && t.held:
		return s.passWhole(kind)
	case async(kind):
		return nil
	}
	switch t.phase {
	case phaseAhead:
		return s.endAhead(kind)
	case phaseGuard:
		return s.endGuard(kind)
	case phaseUser:
		return s.endUser(kind)
	case phaseQuestion:
		return s.endQuestion(kind)
	case phaseCapture:
		return s.endCapture(kind)
	}
	s.note(kind)
	return nil
}

// endUser follows the answers to the user's messages.
func (s *Shim) endUser(kind byte) error {
	t := &s.trip
	s.note(kind)
	switch kind {
	case 'C':
		s.outcome.Tags = append(s.outcome.Tags, tagString(s.body))
		fallthrough
	case 'I', 's':
		t.ran = true
		if t.cargo.question {
			t.phase = phaseQuestion
		}
	case 'E':
		t.ran = true
	case 'Z':
		return s.endUserGroup()
	}
	return nil
}

// endUserGroup acts on a ReadyForQuery of the user's.
func (s *Shim) endUserGroup() error {
	t := &s.trip
	if t.strict && !t.ran || len(s.body) != 1 {
		return s.unexpected('Z')
	}
	s.outcome.Status = s.body[0]
	t.owed--
	if t.owed > 0 {
		return nil
	}
	s.outcome.Ended = true
	if t.cargo.capture {
		t.ready, t.held = s.body[0], true
	}
	t.phase = t.cargo.next(phaseUser)
	return nil
}

// unexpected is the error for a message that cannot stand where it does.
func (s *Shim) unexpected(kind byte) error {
	return fmt.Errorf("pgryw: unexpected message %q among the answers in phase %s", kind, s.trip.phase)
}
