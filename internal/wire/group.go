package wire

import "encoding/binary"

// A group asks a named statement under its own Sync. If the statement is not
// known to be prepared, the group prepares it first; it closes the name before,
// which succeeds whether or not it exists.
const (
	coldScript = "312" // CloseComplete, ParseComplete, BindComplete
	warmScript = "2"
)

// script returns the types of the messages that come first in q's answer.
func (n *names) script(q *Query) string {
	if n.has(q) {
		return warmScript
	}
	return coldScript
}

// append adds q's group to b. It is written out here, and not by pgproto3,
// because it is done for each flight and must not allocate.
func (n *names) append(b []byte, q *Query) []byte {
	if !n.has(q) {
		b = appendMessage(b, 'C', "S", q.Name, "\x00")
		b = appendMessage(b, 'P', q.Name, "\x00", q.SQL, "\x00\x00\x00")
	}
	// Unnamed portal; no parameter formats, no parameters, no result formats.
	b = appendMessage(b, 'B', "\x00", q.Name, "\x00\x00\x00\x00\x00\x00\x00")
	// Unnamed portal, all rows.
	b = appendMessage(b, 'E', "\x00\x00\x00\x00\x00")
	return appendSync(b)
}

// appendMessage adds a message of the parts given.
func appendMessage(b []byte, kind byte, parts ...string) []byte {
	start := len(b)
	b = append(b, kind, 0, 0, 0, 0)
	for _, part := range parts {
		b = append(b, part...)
	}
	setLength(b, start)
	return b
}

// setLength writes the length of the message that is b from start on.
func setLength(b []byte, start int) {
	binary.BigEndian.PutUint32(b[start+1:], uint32(len(b)-start-1))
}
