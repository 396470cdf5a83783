package router

//go:generate go run ./internal/genfunctions internal/genfunctions/pg_proc/15.txt

// effect is what a call of a function means for its statement. A greater effect
// outweighs a smaller one. internal/genfunctions has the letters as well.
type effect byte

const (
	effectAbsent   effect = 0   // no such function is known
	effectNone     effect = '1' // reads, and gives the same on every server with the same data
	effectServer   effect = '2' // answers for the server or connection that it runs on
	effectVolatile effect = '3' // the catalog says that it is volatile
	effectUnknown  effect = '4' // may do anything
	effectOpaque   effect = '5' // may do anything, and is built in
	effectWrites   effect = '6' // writes: a standby refuses it
	effectSetting  effect = '7' // changes a setting of the session
	effectActs     effect = '8' // acts on its server: a standby carries it out silently
	effectUnlocks  effect = '9' // as effectActs: gives up the session's advisory locks
	effectLocks    effect = 'a' // as effectActs: takes an advisory lock of the session
)

// nameLimit is the length of the longest name that PostgreSQL keeps; it cuts
// longer ones off.
const nameLimit = 63

// builtin returns the effect of a built-in function.
func builtin(name []byte) effect { return names.look(name).effect }

// fold writes a word in lower case into b and returns it. A word that PostgreSQL
// would cut off, or fold by rules of its own, has no name: fold returns nil.
func fold(b *[nameLimit]byte, word string) []byte {
	if len(word) > nameLimit {
		return nil
	}
	for i := range len(word) {
		c := word[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c |= 0x20
		case c >= 0x80:
			return nil
		}
		b[i] = c
	}
	return b[:len(word)]
}
