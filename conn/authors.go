package conn

import "github.com/pgryw/pgryw/lsn"

// authors is whose a statement or a transaction is: the sessions of its
// contexts, and whether some of it had none.
type authors struct {
	first    *lsn.Session
	more     []*lsn.Session
	unsigned bool
}

// authorOf returns the author of one statement.
func authorOf(s *lsn.Session) authors {
	return authors{first: s, unsigned: s == nil}
}

// sign adds a session; nil adds nothing.
func (a *authors) sign(s *lsn.Session) {
	switch {
	case s == nil || s == a.first:
	case a.first == nil:
		a.first = s
	default:
		for _, known := range a.more {
			if known == s {
				return
			}
		}
		a.more = append(a.more, s)
	}
}

// signed reports whether any session is among the authors.
func (a *authors) signed() bool { return a.first != nil }

// each calls f with every session.
func (a *authors) each(f func(*lsn.Session)) {
	if a.first == nil {
		return
	}
	f(a.first)
	for _, s := range a.more {
		f(s)
	}
}
