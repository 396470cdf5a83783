package wire

import (
	"encoding/binary"
	"math"
)

// headerBytes is the size of a message's header: its type and its length.
const headerBytes = 5

// framer finds where messages end in a stream of them that is cut anywhere.
// The zero framer stands at the start of a message.
type framer struct {
	kind byte    // type of the message under way
	word [4]byte // its length, as far as it has been seen
	seen int     // bytes of the header that have been seen; 0 between messages
	left int     // bytes of the body still to come, once the header is complete
	bad  bool    // a length was impossible: nothing can be found after it
}

// between reports whether the last byte taken was a message's last.
func (f *framer) between() bool { return f.seen == 0 }

// take accounts for the bytes of b, which is not empty, that belong to the
// message under way, or else to the one that begins. There are n of them; those
// from body on are not header; ended says whether they complete the message.
func (f *framer) take(b []byte) (n, body int, ended bool) {
	if f.seen == 0 {
		f.kind = b[0]
		f.seen = 1
		n = 1
	}
	for f.seen < headerBytes {
		if n == len(b) {
			return n, n, false
		}
		f.word[f.seen-1] = b[n]
		f.seen++
		n++
		if f.seen == headerBytes {
			f.left = f.bodyBytes()
		}
	}
	body = n
	k := min(f.left, len(b)-n)
	f.left -= k
	n += k
	if f.left == 0 {
		f.seen = 0
		ended = true
	}
	return n, body, ended
}

// bodyBytes reads the length word, which counts itself. A length that pgx will
// refuse makes the rest of the stream one message.
func (f *framer) bodyBytes() int {
	size := int32(binary.BigEndian.Uint32(f.word[:]))
	if size < 4 {
		f.bad = true
		return math.MaxInt
	}
	return int(size) - 4
}

// skip is take for the common case of a message whose header is all in b and
// whose body nobody wants. It returns false, and takes nothing, in every other
// case.
func (f *framer) skip(b []byte) (n int, ok bool) {
	if f.seen != 0 || len(b) < headerBytes {
		return 0, false
	}
	size := int(int32(binary.BigEndian.Uint32(b[1:]))) + 1
	if size < headerBytes || size > len(b) {
		return 0, false
	}
	return size, true
}
