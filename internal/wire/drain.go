package wire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

const (
	// drainGrace is how long the answers of a rejected read are read for. Most
	// are on their way already, and a cancel request costs the server a
	// connection and a process.
	drainGrace = 50 * time.Millisecond
	// cancelBound is how long the cancel request may take that follows.
	cancelBound = 5 * time.Second
	// maxStrayBytes bounds the messages kept for pgx while draining.
	maxStrayBytes = 64 << 10
)

var (
	errDrainGrace  = errors.New("pgryw: the connection was given up: a rejected read took too long")
	errDrainStray  = errors.New("pgryw: the connection was given up: too many notifications during a rejected read")
	errDrainStatus = errors.New("pgryw: the connection was given up: a rejected read left another transaction status")
)

// drainer reads the answers of a rejected read.
type drainer struct {
	owed     int  // ReadyForQuery still to come
	want     byte // the transaction status that pgx was told
	status   byte // the one of the last ReadyForQuery
	rollback bool // a rollback was sent
	stray    []byte
	done     chan struct{}
}

// Drain waits until the connection that Finish reported as Draining is usable
// again. It is at once for any other.
//
// The rejected read's answers are read for 50 ms. If that does not suffice, a
// cancel request is sent, within 5 s, and the connection is given up: a cancel
// request has no answer, so nobody can tell when it has stopped being dangerous
// to the next statement. What the server sent by itself meanwhile (notices,
// notifications, parameter statuses) reaches pgx with the next flight. A
// transaction that a rejected BEGIN opened is rolled back.
//
// Blocks until the answers are read or given up, and stops when ctx ends.
// Errors: the context's; otherwise the connection must be closed.
func (s *Shim) Drain(ctx context.Context) error {
	if done := s.drainer.done; done != nil {
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if s.gate.Load() == gateDead {
		return s.err
	}
	return nil
}

// drain takes care of what is still to come after pgx was handed the answers of
// a rejected read.
func (s *Shim) drain() { //nolint:contextcheck // what follows outlives the call, whose context is not its own
	t := &s.trip
	if len(s.out) > 0 {
		s.die(errUnfinished)
		return
	}
	s.drainer = drainer{owed: t.owed, want: t.ready}
	if t.cargo.capture {
		s.drainer.owed++
	}
	t.phase = phaseOver // for pgx it is
	rest := s.in
	s.in = nil
	rest, err := s.drainBytes(rest)
	switch {
	case err != nil:
		s.die(err)
	case s.drainer.finished():
		s.undrain(rest)
	default:
		s.drainer.done = make(chan struct{})
		s.gate.Store(gateDraining)
		go s.drainOn()
	}
}

// finished reports whether everything has come, and pgx was told the truth.
func (d *drainer) finished() bool { return d.owed == 0 && d.status == d.want }

// undrain makes the connection usable again.
func (s *Shim) undrain(rest []byte) {
	s.in = append(s.drainer.stray, rest...)
	s.drainer.stray = nil
	if len(s.in) > 0 {
		s.gate.Store(gateBusy)
	} else {
		s.gate.Store(gateIdle)
	}
}

// drainOn reads on in the background.
func (s *Shim) drainOn() {
	defer close(s.drainer.done)
	timer := time.AfterFunc(drainGrace, s.interrupt)
	rest, err := s.drainConn()
	switch {
	case !timer.Stop():
		s.die(errDrainGrace)
		s.cancelRequest()
	case err != nil:
		s.die(err)
	default:
		s.undrain(rest)
	}
}

// cancelRequest asks the server to stop. Whether it arrives does not matter here:
// the connection is given up.
func (s *Shim) cancelRequest() {
	ctx, cancel := context.WithTimeout(context.Background(), cancelBound)
	defer cancel()
	_ = s.pg.CancelRequest(ctx)
}

// drainConn reads until everything has come.
func (s *Shim) drainConn() (rest []byte, err error) {
	d := &s.drainer
	buf := make([]byte, 8<<10)
	for {
		if d.owed == 0 && d.status != d.want {
			if err := s.rollBack(); err != nil {
				return nil, err
			}
		}
		n, readErr := s.r.Read(buf)
		rest, err = s.drainBytes(buf[:n])
		switch {
		case err != nil:
			return nil, err
		case d.finished():
			return rest, nil
		case readErr != nil:
			return nil, fmt.Errorf("pgryw: the connection was lost during a rejected read: %w", readErr)
		}
	}
}

// rollBack ends the transaction that a rejected BEGIN opened. The write cannot
// block: the server has read all that was sent before.
func (s *Shim) rollBack() error {
	d := &s.drainer
	if d.want != 'I' || d.rollback {
		return errDrainStatus
	}
	d.rollback = true
	d.owed = 1
	_, err := s.w.Write(encode(&pgproto3.Query{String: "rollback"}))
	return err
}

// drainBytes drops the answers in b and keeps what is pgx's. It returns what
// follows the last answer.
func (s *Shim) drainBytes(b []byte) (rest []byte, err error) {
	d := &s.drainer
	for len(b) > 0 && d.owed > 0 {
		if s.frame.between() {
			s.keep, s.collect = async(b[0]), b[0] == 'Z'
			s.body = s.body[:0]
		}
		n, body, ended := s.frame.take(b)
		if s.keep {
			d.stray = append(d.stray, b[:n]...)
		}
		if s.collect {
			s.collectBody(b[body:n])
		}
		b = b[n:]
		switch {
		case s.frame.bad:
			return nil, fmt.Errorf("pgryw: a message %q of impossible length in a rejected read", s.frame.kind)
		case len(d.stray) > maxStrayBytes:
			return nil, errDrainStray
		case ended && s.collect:
			if len(s.body) != 1 {
				return nil, fmt.Errorf("pgryw: a malformed ReadyForQuery in a rejected read")
			}
			d.owed--
			d.status = s.body[0]
		}
	}
	return b, nil
}
