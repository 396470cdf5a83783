package router

import (
	"errors"
	"strings"
	"time"
)

// Policy is what the options of a handle say about routing. The zero Policy is
// that of a DSN without options.
type Policy struct {
	Route      Route
	Mode       Mode
	Scope      Scope
	ReadOnlyTx ReadOnlyTx
	Volatile   Volatile
	// MaxStaleness is how old the data of a replica may be; zero is no bound.
	MaxStaleness time.Duration
	// Wait is how long a fenced read may wait for a replica; zero is not at all.
	Wait time.Duration
	// Monotonic is set if the reads of a session may never go back in time.
	Monotonic bool
}

// Route says which reads may leave the primary.
type Route uint8

// The routes.
const (
	RouteAuto   Route = iota // every read
	RouteHinted              // the reads that ask for it
	RouteOff                 // none
)

var routeNames = [...]string{"auto", "hinted", "off"}

// String returns "auto", "hinted" or "off".
func (r Route) String() string { return name(routeNames[:], r) }

// MarshalText implements encoding.TextMarshaler.
func (r Route) MarshalText() ([]byte, error) { return marshal(routeNames[:], r) }

// UnmarshalText implements encoding.TextUnmarshaler. The error lists the
// routes and does not repeat the text.
func (r *Route) UnmarshalText(text []byte) error { return unmarshal(routeNames[:], text, r) }

// Mode says what a replica must have replayed to serve a read.
type Mode uint8

// The modes.
const (
	ModeStrict  Mode = iota // the fence of the read
	ModeBounded             // what is older than the staleness bound
	ModeRelaxed             // nothing in particular
)

var modeNames = [...]string{"strict", "bounded", "relaxed"}

// String returns "strict", "bounded" or "relaxed".
func (m Mode) String() string { return name(modeNames[:], m) }

// MarshalText implements encoding.TextMarshaler.
func (m Mode) MarshalText() ([]byte, error) { return marshal(modeNames[:], m) }

// UnmarshalText implements encoding.TextUnmarshaler. The error lists the modes
// and does not repeat the text.
func (m *Mode) UnmarshalText(text []byte) error { return unmarshal(modeNames[:], text, m) }

// Scope says whose writes fence a read that has no session.
type Scope uint8

// The scopes.
const (
	ScopeDB   Scope = iota // those of the handle and of the read's connection
	ScopeConn              // those of the read's connection
)

var scopeNames = [...]string{"db", "conn"}

// String returns "db" or "conn".
func (s Scope) String() string { return name(scopeNames[:], s) }

// MarshalText implements encoding.TextMarshaler.
func (s Scope) MarshalText() ([]byte, error) { return marshal(scopeNames[:], s) }

// UnmarshalText implements encoding.TextUnmarshaler. The error lists the scopes
// and does not repeat the text.
func (s *Scope) UnmarshalText(text []byte) error { return unmarshal(scopeNames[:], text, s) }

// ReadOnlyTx says where a transaction begun as read-only may run.
type ReadOnlyTx uint8

// The places of a read-only transaction.
const (
	ReadOnlyTxReplica ReadOnlyTx = iota
	ReadOnlyTxPrimary
)

var readOnlyTxNames = [...]string{"replica", "primary"}

// String returns "replica" or "primary".
func (r ReadOnlyTx) String() string { return name(readOnlyTxNames[:], r) }

// MarshalText implements encoding.TextMarshaler.
func (r ReadOnlyTx) MarshalText() ([]byte, error) { return marshal(readOnlyTxNames[:], r) }

// UnmarshalText implements encoding.TextUnmarshaler. The error lists the places
// and does not repeat the text.
func (r *ReadOnlyTx) UnmarshalText(text []byte) error {
	return unmarshal(readOnlyTxNames[:], text, r)
}

// Volatile says where a statement of ClassVolatile runs.
type Volatile uint8

// The places of a volatile read.
const (
	VolatilePrimary Volatile = iota
	VolatileReplica
)

var volatileNames = [...]string{"primary", "replica"}

// String returns "primary" or "replica".
func (v Volatile) String() string { return name(volatileNames[:], v) }

// MarshalText implements encoding.TextMarshaler.
func (v Volatile) MarshalText() ([]byte, error) { return marshal(volatileNames[:], v) }

// UnmarshalText implements encoding.TextUnmarshaler. The error lists the places
// and does not repeat the text.
func (v *Volatile) UnmarshalText(text []byte) error { return unmarshal(volatileNames[:], text, v) }

// name returns the word for v, or "invalid".
func name[T ~uint8](words []string, v T) string {
	if int(v) < len(words) {
		return words[v]
	}
	return "invalid"
}

// marshal returns the word for v. Errors: v has none.
func marshal[T ~uint8](words []string, v T) ([]byte, error) {
	if int(v) < len(words) {
		return []byte(words[v]), nil
	}
	return nil, notOneOf(words)
}

// unmarshal sets v to what text is the word for. Errors: text is none of the
// words; v is left alone.
func unmarshal[T ~uint8](words []string, text []byte, v *T) error {
	for i, word := range words {
		if string(text) == word {
			*v = T(i)
			return nil
		}
	}
	return notOneOf(words)
}

func notOneOf(words []string) error {
	return errors.New("pgryw: the value must be one of " + strings.Join(words, ", "))
}
