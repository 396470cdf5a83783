package wire

import (
	"errors"
	"fmt"
	"time"
)

// endCapture follows the capture's answer, during which the user's
// ReadyForQuery is held.
func (s *Shim) endCapture(kind byte) error {
	t := &s.trip
	if kind != 'Z' {
		if !t.capture.take(kind, s.body) {
			return s.unexpected(kind)
		}
		return nil
	}
	if !t.capture.over() {
		return s.unexpected(kind)
	}
	s.names.note(s.flight.Capture, t.capture.prepared())
	t.phase = t.cargo.next(phaseCapture)
	_ = s.letGo() // too late for the connection, not for the answer
	return nil
}

// passWhole hands up what the server sent by itself while a ReadyForQuery is
// held. In pieces it must not go up: if the rest did not come, the ReadyForQuery
// would be let go in the middle of it.
//
// Errors: the message is so long that the capture is given up.
func (s *Shim) passWhole(kind byte) error {
	if len(s.body) == maxBodyBytes {
		return errAsyncTooLong
	}
	s.handUp(appendMessage(s.outMem[:0], kind, string(s.body)))
	return nil
}

// letGo hands up the held ReadyForQuery. It returns an error, and the
// connection is out of use, if the time was up.
func (s *Shim) letGo() error {
	t := &s.trip
	t.held = false
	s.handUp(appendReady(s.outMem[:0], t.ready))
	if t.ticking && !s.timer.Stop() {
		// The deadline was moved, or is about to be.
		s.die(errCaptureTimeout)
		return errCaptureTimeout
	}
	return nil
}

// giveUp hands up the held ReadyForQuery without the capture's answer, because
// of err. The connection is of no more use: what is still to come on it would
// be taken for the answers of a later flight.
func (s *Shim) giveUp(err error) {
	t := &s.trip
	t.phase = phaseOver
	if late := s.letGo(); late != nil {
		err = late
	} else {
		s.die(errCaptureGivenUp)
	}
	if t.capture.err == nil {
		t.capture.err = fmt.Errorf("%w: %w", ErrUnanswered, err)
	}
}

var (
	errCaptureTimeout = errors.New("pgryw: the time for a capture was up")
	errCaptureGivenUp = errors.New("pgryw: the connection was given up: a capture was not answered")
	errAsyncTooLong   = errors.New("pgryw: a notice or notification is too long to come before a capture")
)

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// tick starts the time that a ReadyForQuery may be held for. At its end the
// deadline is moved into the past, which is all that may be done to it here: pgx
// moves it too, from another goroutine, when a context ends, and that must not be undone.
func (s *Shim) tick() {
	t := &s.trip
	if t.ticking {
		return
	}
	t.ticking = true
	d := s.flight.Timeout
	if d == 0 {
		d = DefaultTimeout
	}
	if s.timer == nil {
		s.timer = time.AfterFunc(d, s.interrupt)
		return
	}
	s.timer.Reset(d)
}

// interrupt makes a Read under way, and all later ones, return at once.
func (s *Shim) interrupt() {
	_ = s.w.SetReadDeadline(past) // an error means that the connection is closed
}
