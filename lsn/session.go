package lsn

import (
	"context"
	"sync"
)

// Session is one user's thread of work. Reads made with it see the writes made
// with it, through whatever handle or process, and are not held back by the
// writes of other sessions. It holds one fence per system identifier, so that
// one request may use several clusters.
//
// Concurrency: safe for use by any number of goroutines.
type Session struct {
	mu     sync.RWMutex
	fences map[uint64]*Fence // by system identifier; guarded by mu
}

type sessionKey struct{}

// NewSession returns a context that carries a new Session. Statements that are
// run under it, or under a context derived from it, belong to that session; one
// that ctx already carries is hidden.
//
// Cost: none, until a statement runs.
func NewSession(ctx context.Context) context.Context {
	return context.WithValue(ctx, sessionKey{}, &Session{})
}

// SessionFrom returns the session that ctx carries, or nil.
func SessionFrom(ctx context.Context) *Session {
	s, _ := ctx.Value(sessionKey{}).(*Session)
	return s
}

// Fence returns the session's fence for the cluster with that system
// identifier. It is the same one for every call.
func (s *Session) Fence(system uint64) *Fence {
	s.mu.RLock()
	f := s.fences[system]
	s.mu.RUnlock()
	if f != nil {
		return f
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f = s.fences[system]; f == nil {
		if s.fences == nil {
			s.fences = make(map[uint64]*Fence, 1)
		}
		f = new(Fence)
		s.fences[system] = f
	}
	return f
}
