package wire

import (
	"bytes"
	"errors"
	"net"
)

// Watcher is told what the server answers to messages that nobody armed, for as
// long as the user has the connection itself in hand. Its methods are called
// from within Read, before pgx sees the message, and must not use the Shim.
type Watcher interface {
	// Tag is called for each command that completed. The tag is only valid during
	// the call.
	Tag(tag []byte)
	// Ready is called for each ReadyForQuery, with its transaction status.
	Ready(status byte)
	// Lost is called when reading fails, other than by a deadline.
	Lost(err error)
}

// Watch has w told from now on; nil ends it.
//
// Concurrency: as Arm.
func (s *Shim) Watch(w Watcher) { s.watch = w }

// note looks at a CommandComplete or a ReadyForQuery of the user's, which is in
// body.
func (s *Shim) note(kind byte) {
	switch kind {
	case 'C':
		tag := trimTag(s.body)
		s.names.forgetBy(tag)
		if s.watch != nil {
			s.watch.Tag(tag)
		}
	case 'Z':
		if s.watch != nil && len(s.body) == 1 {
			s.watch.Ready(s.body[0])
		}
	}
}

// lost tells the watcher of an error that ends the connection.
func (s *Shim) lost(err error) {
	if err == nil || s.watch == nil {
		return
	}
	var netErr net.Error
	if errors.As(err, &netErr) && netErr.Timeout() {
		return
	}
	s.watch.Lost(err)
}

// trimTag returns the tag in a CommandComplete's body.
func trimTag(body []byte) []byte { return bytes.TrimSuffix(body, zero) }

// tagString returns the tag in a CommandComplete's body, without allocating for
// the most frequent ones.
func tagString(body []byte) string {
	tag := trimTag(body)
	switch string(tag) {
	case "INSERT 0 1":
		return "INSERT 0 1"
	case "UPDATE 1":
		return "UPDATE 1"
	case "DELETE 1":
		return "DELETE 1"
	case "SELECT 1":
		return "SELECT 1"
	case "COMMIT":
		return "COMMIT"
	case "BEGIN":
		return "BEGIN"
	}
	return string(tag)
}
