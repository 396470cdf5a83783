package conn

import (
	"cmp"
	"container/list"

	"github.com/pgryw/pgryw/internal/topology"
)

// preparedMax is how many texts stay prepared on a server connection whose pgx
// caches none.
const preparedMax = 512

// prepared are the texts that are prepared on one server connection, in the
// order of their last use. The statements of a Stmt stay when it is closed: its
// text may be another's, on any logical connection.
//
// Concurrency: as the connection, whose user has it alone.
type prepared struct {
	max   int
	texts list.List // of string; the latest first
	at    map[string]*list.Element
}

// preparedKey is the place of a connection's prepared in PgConn.CustomData.
const preparedKey = "github.com/pgryw/pgryw/conn"

// preparedOn returns what is prepared on a connection.
func preparedOn(p *topology.Conn) *prepared {
	data := p.Pgx().PgConn().CustomData()
	known, _ := data[preparedKey].(*prepared)
	if known == nil {
		known = &prepared{
			max: cmp.Or(p.Pgx().Config().StatementCacheCapacity, preparedMax), // as many as pgx caches
			at:  make(map[string]*list.Element),
		}
		data[preparedKey] = known
	}
	return known
}

// has reports whether a text is prepared, as far as is known.
func (s *prepared) has(text string) bool { return s.at[text] != nil }

// use notes that a text is used.
func (s *prepared) use(text string) {
	if e := s.at[text]; e != nil {
		s.texts.MoveToFront(e)
		return
	}
	s.at[text] = s.texts.PushFront(text)
}

// victim returns the text that has not been used for the longest time, if there
// is one too many.
func (s *prepared) victim() (text string, ok bool) {
	if len(s.at) <= s.max {
		return "", false
	}
	return s.texts.Back().Value.(string), true
}

// forget notes that a text is not prepared any more.
func (s *prepared) forget(text string) {
	if e := s.at[text]; e != nil {
		s.texts.Remove(e)
		delete(s.at, text)
	}
}

// forgetAll notes that no text is.
func (s *prepared) forgetAll() {
	s.texts.Init()
	clear(s.at)
}
