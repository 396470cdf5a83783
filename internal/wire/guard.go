package wire

// Verdict returns what has become of the guard by now. Once pgx's call has
// returned, with rows or without, the guard has been decided; Finish reports the
// same.
//
// Cost: none.
// Concurrency: as Arm.
func (s *Shim) Verdict() Verdict { return s.trip.verdict }

// endGuard follows the guard's answer, and decides at its ReadyForQuery: the
// server sends a group's answers together, so nothing is lost by waiting for
// it, and its transaction status is known.
func (s *Shim) endGuard(kind byte) error {
	t := &s.trip
	if kind != 'Z' {
		if !t.guard.take(kind, s.body) {
			return s.unexpected(kind)
		}
		s.passFatal(kind, t.guard.err)
		return nil
	}
	if !t.guard.over() || len(s.body) != 1 {
		return s.unexpected(kind)
	}
	s.names.note(s.flight.Guard, t.guard.prepared())
	row, err := t.guard.result()
	if err == nil && s.flight.Pass != nil && s.flight.Pass(row) {
		t.verdict = GuardPassed
		t.phase = t.cargo.next(phaseGuard)
		return nil
	}
	t.verdict = GuardRejected
	t.phase = phaseRejected
	t.ready = s.body[0]
	s.handUp(t.user.answerEmpty(s.outMem[:0], t.ready))
	return nil
}

// answerEmpty adds the answers that the messages would have had from a read
// without rows.
func (v *survey) answerEmpty(b []byte, status byte) []byte {
	const tag = "SELECT 0\x00"
	for _, kind := range v.kinds[:v.count] {
		switch kind {
		case 'P':
			b = appendMessage(b, '1')
		case 'B':
			b = appendMessage(b, '2')
		case 'C':
			b = appendMessage(b, '3')
		case 'D':
			b = appendMessage(b, 'n')
		case 'E':
			b = appendMessage(b, 'C', tag)
		case 'Q':
			b = appendMessage(b, 'C', tag)
			b = appendReady(b, status)
		case 'S':
			b = appendReady(b, status)
		}
	}
	return b
}

func appendReady(b []byte, status byte) []byte {
	return append(b, 'Z', 0, 0, 0, 5, status)
}
