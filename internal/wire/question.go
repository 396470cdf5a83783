package wire

import "github.com/jackc/pgx/v5/pgproto3"

// questionSQL asks whether the transaction has been assigned an ID. It names
// everything by schema and calls no operator, so that no setting of the session
// changes what it means or makes it fail.
const questionSQL = "select pg_catalog.pg_current_xact_id_if_assigned() is not null"

// question is the unnamed Parse, Bind and Execute that ask it, and
// questionScript the types of the first answers.
var question = encode(
	&pgproto3.Parse{Query: questionSQL},
	&pgproto3.Bind{},
	&pgproto3.Execute{},
)

const questionScript = "12"

var syncMessage = encode(&pgproto3.Sync{})

func appendSync(b []byte) []byte { return append(b, syncMessage...) }

// encode returns the bytes of messages that are known to have an encoding.
func encode(msgs ...pgproto3.FrontendMessage) []byte {
	var b []byte
	for _, m := range msgs {
		var err error
		if b, err = m.Encode(b); err != nil {
			panic("bug: " + err.Error())
		}
	}
	return b
}

// endAhead follows the answer to the question ahead of the user's messages.
func (s *Shim) endAhead(kind byte) error {
	t := &s.trip
	if kind != 'Z' {
		if !t.question.take(kind, s.body) {
			return s.unexpected(kind)
		}
		s.passFatal(kind, t.question.err)
		return nil
	}
	if !t.question.over() {
		return s.unexpected(kind)
	}
	t.readXID()
	t.phase = t.cargo.next(phaseAhead)
	return nil
}

// endQuestion follows the answer to the question behind the user's Execute, and
// the end of the group that both stand in.
func (s *Shim) endQuestion(kind byte) error {
	t := &s.trip
	switch {
	case kind == 'E':
		t.undone = true
	case kind == 'Z' && (t.question.over() || t.undone):
		t.readXID()
		s.note(kind)
		return s.endUserGroup()
	case t.undone || !t.question.take(kind, s.body):
		return s.unexpected(kind)
	}
	return nil
}

// readXID takes the question's answer for what it is; anything but a plain yes
// or no leaves the ID unknown.
func (t *trip) readXID() {
	row, err := t.question.result()
	if err != nil || len(row) != 1 {
		return
	}
	switch string(row[0]) {
	case "t":
		t.xid = XIDAssigned
	case "f":
		t.xid = XIDNone
	}
}
