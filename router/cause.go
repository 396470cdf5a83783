package router

// Cause is what made a statement its class.
type Cause uint8

// The causes.
const (
	CauseNone      Cause = iota
	CauseVerb            // its first word
	CauseEmpty           // there is no statement
	CauseSeveral         // there is more than one
	CauseUnclosed        // a string, comment or parenthesis does not end
	CauseUnknown         // its first word is not known
	CauseWriting         // it holds INSERT, UPDATE, DELETE, MERGE or INTO
	CauseLocking         // a locking clause
	CauseFunction        // it calls a function that is not known to be stable
	CauseEffect          // it calls a function that a standby carries out silently
	CauseSequence        // it calls a function that writes or reads a session's sequence state
	CauseSetting         // it calls a function that changes a setting
	CauseServer          // it asks what differs from server to server
	CauseBackslash       // a backslash may hide the end of a string
	CauseEncoding        // it is not UTF-8, or holds a zero byte
	CauseName            // a name is written in U&"" notation
	CauseLength          // it is longer than a server takes
	causeCount
)

var causeNames = [causeCount]string{
	"none", "verb", "empty", "several", "unclosed", "unknown", "writing", "locking",
	"function", "effect", "sequence", "setting", "server", "backslash", "encoding", "name", "length",
}

// String returns the cause as one lower-case word.
func (c Cause) String() string { return name(causeNames[:], c) }
