package lsn

import (
	sqldriver "database/sql/driver"
	"fmt"
	"strconv"
)

// LSN is a write-ahead log sequence number: a count of bytes into the WAL.
// The zero LSN is invalid on every server and stands for "none".
//
// Source: https://www.postgresql.org/docs/18/datatype-pg-lsn.html
type LSN uint64

// ParseError says why a text is not an LSN. It never holds more of the input
// than its first 40 bytes.
type ParseError struct {
	Input  string
	Reason string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("pgryw: invalid LSN %q: %s", e.Input, e.Reason)
}

const parseErrorInputBytes = 40

func parseError(s, reason string) error {
	if len(s) > parseErrorInputBytes {
		s = s[:parseErrorInputBytes]
	}
	return &ParseError{Input: s, Reason: reason}
}

// Parse reads the text form of pg_lsn: two hexadecimal numbers of one to eight
// digits each, separated by a slash. It accepts exactly what the server's own
// input function accepts, so trailing bytes, blanks, signs and longer numbers
// are errors. Text is not canonical (PostgreSQL 19 pads the second half):
// compare LSNs, never their texts.
//
// Errors: returns a *ParseError.
// Source: src/backend/utils/adt/pg_lsn.c, pg_lsn_in_internal.
func Parse(s string) (LSN, error) {
	hi, rest, ok := parseHex(s)
	if !ok {
		return 0, parseError(s, "want one to eight hexadecimal digits before the slash")
	}
	if rest == "" || rest[0] != '/' {
		return 0, parseError(s, "want a slash after the first number")
	}
	lo, rest, ok := parseHex(rest[1:])
	if !ok {
		return 0, parseError(s, "want one to eight hexadecimal digits after the slash")
	}
	if rest != "" {
		return 0, parseError(s, "unexpected bytes after the second number")
	}
	return LSN(hi<<32 | lo), nil
}

// parseHex reads one to eight hexadecimal digits from the start of s.
func parseHex(s string) (value uint64, rest string, ok bool) {
	i := 0
	for ; i < len(s) && i < 8; i++ {
		digit, isHex := hexDigit(s[i])
		if !isHex {
			break
		}
		value = value<<4 | digit
	}
	return value, s[i:], i > 0
}

func hexDigit(c byte) (uint64, bool) {
	switch {
	case '0' <= c && c <= '9':
		return uint64(c - '0'), true
	case 'a' <= c && c <= 'f':
		return uint64(c-'a') + 10, true
	case 'A' <= c && c <= 'F':
		return uint64(c-'A') + 10, true
	}
	return 0, false
}

// String prints the LSN as PostgreSQL up to 18 does: upper-case hexadecimal
// without leading zeros. Every version accepts it.
func (l LSN) String() string {
	return string(l.appendText(make([]byte, 0, 17)))
}

func (l LSN) appendText(b []byte) []byte {
	b = appendUpperHex(b, uint64(l>>32))
	b = append(b, '/')
	return appendUpperHex(b, uint64(l&0xFFFFFFFF))
}

func appendUpperHex(b []byte, v uint64) []byte {
	start := len(b)
	b = strconv.AppendUint(b, v, 16)
	for i := start; i < len(b); i++ {
		if b[i] >= 'a' {
			b[i] -= 'a' - 'A'
		}
	}
	return b
}

// MarshalText implements encoding.TextMarshaler.
func (l LSN) MarshalText() ([]byte, error) {
	return l.appendText(make([]byte, 0, 17)), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
//
// Errors: returns a *ParseError and leaves the LSN as it was.
func (l *LSN) UnmarshalText(text []byte) error {
	v, err := Parse(string(text))
	if err != nil {
		return err
	}
	*l = v
	return nil
}

// Scan implements sql.Scanner for columns of type pg_lsn.
//
// Errors: a *ParseError for a text that is no LSN; an error for NULL and for
// every other type: a position that is not known must not become the zero LSN,
// which every replica has replayed. Scan NULLs into sql.Null[lsn.LSN].
func (l *LSN) Scan(src any) error {
	switch v := src.(type) {
	case string:
		return l.UnmarshalText([]byte(v))
	case []byte:
		return l.UnmarshalText(v)
	case nil:
		return fmt.Errorf("pgryw: cannot scan NULL into an LSN")
	default:
		return fmt.Errorf("pgryw: cannot scan %T into an LSN", src)
	}
}

// Value implements driver.Valuer.
func (l LSN) Value() (sqldriver.Value, error) {
	return l.String(), nil
}
