package lsn

import "sync/atomic"

// Number orders uncertainty against captures. Numbers are handed out by one
// counter of the process, because a session may meet several handles.
// Zero is before every number.
type Number uint64

var lastNumber atomic.Uint64

// NextNumber hands out a number greater than all before it. Take it when the
// flight of an uncertain write has ended, or at the instant it is given up.
func NextNumber() Number { return Number(lastNumber.Add(1)) }

// LastNumber returns the newest number handed out. Take it before the first
// byte of a capture's flight is written: what was numbered by then had happened
// by then, so the capture's position covers it.
func LastNumber() Number { return Number(lastNumber.Load()) }

// State is what a fence asks of a read: to see Position, and, while Doubt is
// not zero, something that nobody could locate, which only the primary is sure
// to show. The zero State asks for nothing.
type State struct {
	Position Position
	Doubt    Number
}

// IsZero reports whether the state asks for nothing.
func (s State) IsZero() bool { return s == State{} }

// Uncertain reports whether only the primary can satisfy the state.
func (s State) Uncertain() bool { return s.Doubt != 0 }

// Max returns the state that satisfies both. Positions of different systems
// cannot be put in order: the result is then uncertain.
func (s State) Max(t State) State {
	m := State{Position: s.Position, Doubt: max(s.Doubt, t.Doubt)}
	switch {
	case t.Position.IsZero():
	case s.Position.IsZero():
		m.Position = t.Position
	case s.Position.System != t.Position.System:
		m.Doubt = foreverDoubt
		if t.Position.System > s.Position.System { // either would do: be commutative
			m.Position = t.Position
		}
	case t.Position.After(s.Position):
		m.Position = t.Position
	}
	return m
}

// foreverDoubt is a doubt that no capture can lift.
const foreverDoubt = ^Number(0)

// Raise returns the state after a capture at p whose flight began when before
// was the newest number: the position rises to p, never falls, and a doubt
// that was numbered by then is lifted. A position of an older timeline, or of
// another system, says nothing about this state and changes nothing.
func (s State) Raise(p Position, before Number) State {
	if p.IsZero() {
		return s
	}
	if !s.Position.IsZero() {
		if s.Position.System != p.System || p.Timeline < s.Position.Timeline {
			return s
		}
	}
	if s.Doubt <= before {
		s.Doubt = 0
	}
	if s.Position.IsZero() || p.After(s.Position) {
		s.Position = p
	}
	return s
}

// WithDoubt returns the state made uncertain by what was numbered n.
func (s State) WithDoubt(n Number) State {
	s.Doubt = max(s.Doubt, n)
	return s
}

// Fence is a State that goroutines share. The zero Fence asks for nothing.
//
// Concurrency: safe for use by any number of goroutines; a Load is one atomic
// read. A Fence must not be copied after first use.
type Fence struct {
	state atomic.Pointer[State]
}

// Load returns the fence's state now.
func (f *Fence) Load() State {
	if s := f.state.Load(); s != nil {
		return *s
	}
	return State{}
}

// Raise applies State.Raise.
func (f *Fence) Raise(p Position, before Number) {
	f.update(func(s State) State { return s.Raise(p, before) })
}

// Doubt applies State.WithDoubt.
func (f *Fence) Doubt(n Number) {
	f.update(func(s State) State { return s.WithDoubt(n) })
}

func (f *Fence) update(change func(State) State) {
	for {
		old := f.state.Load()
		var was State
		if old != nil {
			was = *old
		}
		now := change(was)
		if now == was {
			return
		}
		next := now // allocated only when there is something to store
		if f.state.CompareAndSwap(old, &next) {
			return
		}
	}
}
