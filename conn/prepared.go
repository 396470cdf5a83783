package conn

import (
	"container/list"

	"github.com/pgryw/pgryw/internal/topology"
)

// preparedMax is how many texts stay prepared on a server connection: as many as
// pgx caches by default.
const preparedMax = 512

// prepared are the texts that are prepared on one server connection, in the
// order of their last use. The statements of a Stmt stay when it is closed: its
// text may be another's, on any logical connection.
//
// Concurrency: as the connection, whose user has it alone.
type prepared struct {
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
		known = &prepared{at: make(map[string]*list.Element)}
		data[preparedKey] = known
	}
	return known
}

// use notes that a text is used. It returns another, which is one too many now
// and has not been used for the longest time, or "".
func (s *prepared) use(text string) (victim string) {
	if e := s.at[text]; e != nil {
		s.texts.MoveToFront(e)
		return ""
	}
	s.at[text] = s.texts.PushFront(text)
	if len(s.at) <= preparedMax {
		return ""
	}
	victim = s.texts.Back().Value.(string)
	s.forget(victim)
	return victim
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
