package wire

import (
	"bytes"
	"encoding/binary"
)

// maxKinds is how many messages a flight may have that carries anything. pgx's
// own have five.
const maxKinds = 12

// survey is what a Write of pgx's consists of.
type survey struct {
	kinds  [maxKinds]byte // types of the messages; for Describe see describeStatement
	count  int
	whole  bool // whole messages, no more than maxKinds, of types known here
	runs   int  // Execute and Query
	groups int  // messages that the server answers with a ReadyForQuery
	// borrows is set if an unnamed statement is bound that an earlier Write
	// parsed.
	borrows bool
	// copies is set if a text may be a COPY from or to the client.
	copies bool
	// parses is set if a simple Query means the same as a Parse of its text.
	parses bool
}

// describeStatement stands in survey.kinds for a Describe of a statement, which
// has one answer more than that of a portal.
const describeStatement = 'd'

// look surveys what pgx writes.
func look(p []byte) survey {
	var v survey
	v.whole = true
	parsed := false // the unnamed statement is parsed here
	for len(p) > 0 {
		kind, body, rest, ok := cut(p)
		if !ok || v.count == maxKinds {
			v.whole = false
			return v
		}
		p = rest
		switch kind {
		case 'P':
			name, text, _ := bytes.Cut(body, zero)
			parsed = parsed || len(name) == 0
			v.copies = v.copies || mayCopy(text)
		case 'B':
			_, statement, _ := bytes.Cut(body, zero) // after the portal's name
			if len(statement) > 0 && statement[0] == 0 && !parsed {
				v.borrows = true
			}
		case 'D':
			if len(body) > 0 && body[0] == 'S' {
				kind = describeStatement
			}
		case 'E':
			v.runs++
		case 'Q':
			v.runs++
			v.groups++
			v.copies = v.copies || mayCopy(body)
			v.parses = parsesAlike(body)
		case 'S':
			v.groups++
		case 'C':
		default:
			v.whole = false
		}
		v.kinds[v.count] = kind
		v.count++
	}
	return v
}

var zero = []byte{0}

// cut splits the first message off p.
func cut(p []byte) (kind byte, body, rest []byte, ok bool) {
	if len(p) < headerBytes {
		return 0, nil, nil, false
	}
	size := int(int32(binary.BigEndian.Uint32(p[1:]))) + 1
	if size < headerBytes || size > len(p) {
		return 0, nil, nil, false
	}
	return p[0], p[headerBytes:size], p[size:], true
}

// simple reports whether this is one simple Query.
func (v *survey) simple() bool { return v.whole && v.count == 1 && v.kinds[0] == 'Q' }

// extended reports whether this is one Execute, and what leads up to it, under
// one Sync.
func (v *survey) extended() bool {
	return v.whole && v.runs == 1 && v.groups == 1 && v.kinds[v.count-1] == 'S' && v.kinds[v.count-2] == 'E'
}

// carries reports whether questions can be added.
func (v *survey) carries() bool { return (v.simple() || v.extended()) && !v.copies }
