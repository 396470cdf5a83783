package wire

// reader is the Shim as the io.Reader under pgx's frontend.
type reader Shim

// Read hands up what the server sent, less what belongs to the flight.
//
// Errors: what the connection returns; one of its own if the server's answers
// make no sense, or if the connection is out of use.
func (r *reader) Read(p []byte) (int, error) {
	s := (*Shim)(r)
	switch s.gate.Load() {
	case gateIdle:
		n, err := s.r.Read(p)
		s.skim(p[:n])
		s.lost(err)
		return n, err
	case gateDraining:
		return 0, errDraining
	}
	if len(p) == 0 {
		return 0, nil
	}
	return s.readBusy(p)
}

// readBusy is Read while a flight is armed or bytes are kept back.
func (s *Shim) readBusy(p []byte) (int, error) {
	for {
		if n := s.unload(p); n > 0 {
			return n, nil
		}
		switch {
		case s.gate.Load() == gateDead:
			return 0, s.err
		case s.trip.phase == phaseRejected:
			return 0, errDraining
		}
		n, err := s.fill(p)
		n = s.filter(p[:n])
		s.lost(err)
		if err != nil && s.trip.held {
			s.giveUp(err)
			err = nil
		}
		n += s.unload(p[n:])
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// handUp has b, which was appended to outMem, handed up before anything else.
func (s *Shim) handUp(b []byte) { s.out, s.outMem = b, b }

// unload hands up what waits in out.
func (s *Shim) unload(p []byte) int {
	n := copy(p, s.out)
	s.out = s.out[n:]
	if n > 0 && !s.armed && s.gate.Load() == gateBusy {
		s.idle()
	}
	return n
}

// fill reads from what was kept back, or else from the connection.
func (s *Shim) fill(p []byte) (int, error) {
	if len(s.in) > 0 {
		n := copy(p, s.in)
		s.in = s.in[n:]
		if !s.armed {
			s.idle()
		}
		return n, nil
	}
	if s.trip.held {
		s.tick()
	}
	return s.r.Read(p)
}

// filter takes what is ours out of b, in place, and returns how many bytes are
// left. When something has to be handed up before the rest of b, the rest is
// put back.
func (s *Shim) filter(b []byte) int {
	kept, i := 0, 0
	for i < len(b) {
		if s.frame.between() {
			if n := s.wholeRow(b[i:]); n > 0 {
				kept += move(b, kept, i, n)
				i += n
				continue
			}
			s.keep, s.collect = s.begin(b[i])
			s.body = s.body[:0]
		}
		n, body, ended := s.frame.take(b[i:])
		if s.collect { // before its place may be overwritten
			s.collectBody(b[i+body : i+n])
		}
		if s.keep {
			kept += move(b, kept, i, n)
		}
		i += n
		if s.frame.bad && !s.keep {
			s.refuse(s.unexpected(s.frame.kind))
		} else if ended {
			if err := s.end(); err != nil {
				s.refuse(err)
			}
		}
		if len(s.out) > 0 || s.gate.Load() == gateDead {
			s.putBack(b[i:])
			break
		}
	}
	return kept
}

// wholeRow returns the size of the user's DataRow that b begins with, or 0 if it
// begins with anything else. Most of what is read is that.
func (s *Shim) wholeRow(b []byte) int {
	if b[0] != 'D' || s.trip.phase != phaseUser {
		return 0
	}
	n, _ := s.frame.skip(b)
	return n
}

// move moves n bytes of b down to a place that is free, and returns n.
func move(b []byte, to, from, n int) int {
	if to != from {
		copy(b[to:], b[from:from+n])
	}
	return n
}

// maxBodyBytes bounds what is collected of one message. Our questions have
// short answers, and a command tag has less than 64 bytes.
const maxBodyBytes = 64 << 10

// collectBody adds to body. What is too long is cut off, and cannot be read then.
func (s *Shim) collectBody(b []byte) {
	s.body = append(s.body, b[:min(len(b), maxBodyBytes-len(s.body))]...)
}

// putBack keeps the rest of what was read for the next fill.
func (s *Shim) putBack(rest []byte) {
	if len(rest) > 0 {
		s.in = append(append([]byte(nil), rest...), s.in...)
	}
}

// refuse ends all reading, because the server's answers make no sense. A held
// ReadyForQuery was not touched by that.
func (s *Shim) refuse(err error) {
	if s.trip.held {
		s.giveUp(err)
		return
	}
	s.die(err)
}

// skim follows the stream while nothing is armed: it finds where messages begin,
// and looks at command tags.
func (s *Shim) skim(b []byte) {
	for len(b) > 0 {
		if b[0] != 'C' && (b[0] != 'Z' || s.watch == nil) {
			if n, ok := s.frame.skip(b); ok {
				b = b[n:]
				continue
			}
		}
		if s.frame.between() {
			s.keep = true
			s.collect = b[0] == 'C' || b[0] == 'Z'
			s.body = s.body[:0]
		}
		n, body, ended := s.frame.take(b)
		if s.collect {
			s.collectBody(b[body:n])
		}
		if ended {
			s.note(s.frame.kind)
		}
		b = b[n:]
	}
}
