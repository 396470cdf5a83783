package lsn_test

import (
	"context"
	"sync"
	"testing"

	"github.com/pgryw/pgryw/lsn"
)

func TestASessionTravelsWithItsContext(t *testing.T) {
	if s := lsn.SessionFrom(t.Context()); s != nil {
		t.Errorf("a plain context carries %v", s)
	}
	ctx := lsn.NewSession(t.Context())
	s := lsn.SessionFrom(ctx)
	if s == nil {
		t.Fatal("NewSession's context carries no session")
	}
	derived, cancel := context.WithCancel(context.WithValue(ctx, contextKey{}, 1))
	defer cancel()
	if got := lsn.SessionFrom(derived); got != s {
		t.Errorf("a derived context carries %p, want %p", got, s)
	}
	if got := lsn.SessionFrom(context.WithoutCancel(ctx)); got != s {
		t.Errorf("a context without cancel carries %p, want %p", got, s)
	}
}

type contextKey struct{}

func TestANewSessionHidesTheOuterOneAndKnowsNothingOfIt(t *testing.T) {
	outer := lsn.NewSession(t.Context())
	lsn.SessionFrom(outer).Fence(1).Raise(at(1, 1, 100), 0)
	inner := lsn.NewSession(outer)
	if lsn.SessionFrom(inner) == lsn.SessionFrom(outer) {
		t.Fatal("the inner context carries the outer session")
	}
	if got := lsn.SessionFrom(inner).Fence(1).Load(); !got.IsZero() {
		t.Errorf("the inner session starts at %v", got)
	}
	if got := lsn.SessionFrom(outer).Fence(1).Load().Position; got != at(1, 1, 100) {
		t.Errorf("the outer session is at %v", got)
	}
}

func TestASessionHoldsOneFencePerSystem(t *testing.T) {
	s := lsn.SessionFrom(lsn.NewSession(t.Context()))
	one, two := s.Fence(1), s.Fence(2)
	if one == two {
		t.Fatal("two systems share a fence")
	}
	one.Raise(at(1, 1, 100), 0)
	two.Doubt(lsn.NextNumber())
	if got, want := s.Fence(1).Load(), (lsn.State{Position: at(1, 1, 100)}); got != want {
		t.Errorf("fence 1 is %v, want %v", got, want)
	}
	if got := s.Fence(2).Load(); !got.Uncertain() || !got.Position.IsZero() {
		t.Errorf("fence 2 is %v, want uncertain, nowhere", got)
	}
}

func TestGoroutinesOfASessionShareItsFences(t *testing.T) {
	const goroutines, systems = 8, 4
	s := lsn.SessionFrom(lsn.NewSession(t.Context()))
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			for system := uint64(1); system <= systems; system++ {
				s.Fence(system).Raise(at(system, 1, lsn.LSN(i)), 0)
			}
		})
	}
	wg.Wait()
	for system := uint64(1); system <= systems; system++ {
		if got, want := s.Fence(system).Load().Position, at(system, 1, goroutines-1); got != want {
			t.Errorf("fence %d is at %v, want %v", system, got, want)
		}
	}
}
