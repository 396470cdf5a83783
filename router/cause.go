package router

// Cause is what made a statement its class.
type Cause uint8

// The causes.
const (
	CauseNone     Cause = iota
	CauseVerb           // its first word
	CauseEmpty          // there is no statement
	CauseSeveral        // there is more than one
	CauseUnclosed       // a string or comment does not end, or a backslash may hide its end
	CauseUnknown        // its first word is not known
	CauseWriting        // it holds a word that may begin a data-modifying CTE, or INTO
	CauseLocking        // a locking clause
	CauseFunction       // it calls a function that is not known to be stable
	CauseEffect         // it calls a function that acts on the server that it runs on
	CauseSequence       // it calls a function that writes or reads a session's sequence state
	CauseSetting        // it calls a function that changes a setting
	CauseServer         // it asks what differs from server to server
	causeCount
)

var causeNames = [causeCount]string{
	"none", "verb", "empty", "several", "unclosed", "unknown", "writing", "locking",
	"function", "effect", "sequence", "setting", "server",
}

// String returns the cause as one lower-case word.
func (c Cause) String() string { return name(causeNames[:], c) }
