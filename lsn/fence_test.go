package lsn_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/pgryw/pgryw/lsn"
)

// someStates returns every state that can be made of two systems, two
// timelines, two LSNs and three doubts, and the states without a position.
func someStates() []lsn.State {
	positions := []lsn.Position{{}}
	for system := uint64(1); system <= 2; system++ {
		for timeline := uint32(1); timeline <= 2; timeline++ {
			for l := lsn.LSN(0); l <= 2; l++ {
				positions = append(positions, at(system, timeline, l))
			}
		}
	}
	var states []lsn.State
	for _, p := range positions {
		for doubt := lsn.Number(0); doubt <= 2; doubt++ {
			states = append(states, lsn.State{Position: p, Doubt: doubt})
		}
	}
	return states
}

// satisfies reports whether a server at p, or only the primary if p is unknown,
// may answer a read that is fenced by s.
func satisfies(p lsn.Position, s lsn.State) bool {
	return s.IsZero() || !s.Uncertain() && p.Reaches(s.Position)
}

func TestMaxIsCommutativeAssociativeAndIdempotent(t *testing.T) {
	states := someStates()
	for _, a := range states {
		if got := a.Max(a); got != a {
			t.Fatalf("%v.Max(itself) = %v", a, got)
		}
		if l, r := a.Max(lsn.State{}), (lsn.State{}).Max(a); l != a || r != a {
			t.Fatalf("Max of %v and nothing = %v, %v", a, l, r)
		}
		for _, b := range states {
			if l, r := a.Max(b), b.Max(a); l != r {
				t.Fatalf("%v.Max(%v) = %v, the other way round %v", a, b, l, r)
			}
			for _, c := range states {
				if l, r := a.Max(b).Max(c), a.Max(b.Max(c)); l != r {
					t.Fatalf("Max of %v, %v, %v = %v or %v", a, b, c, l, r)
				}
			}
		}
	}
}

func TestWhoSatisfiesTheMaxSatisfiesTheNewerOfBoth(t *testing.T) {
	states := someStates()
	for _, a := range states {
		for _, b := range states {
			both := a.Max(b)
			for _, server := range states {
				if !satisfies(server.Position, both) {
					continue
				}
				if !a.Position.IsZero() && !b.Position.IsZero() && a.Position.System != b.Position.System {
					t.Fatalf("%v satisfies the max of %v and %v", server.Position, a, b)
				}
				// A position of an older timeline is covered by one of a later.
				older := !b.Position.IsZero() && b.Position.Timeline > a.Position.Timeline
				if !satisfies(server.Position, a) && (!older || a.Uncertain()) {
					t.Fatalf("%v satisfies the max of %v and %v, but not the first", server.Position, a, b)
				}
			}
		}
	}
}

func TestMaxOfTwoSystemsIsUncertainForEver(t *testing.T) {
	s := lsn.State{Position: at(1, 1, 5)}.Max(lsn.State{Position: at(2, 1, 5)})
	for _, p := range []lsn.Position{at(1, 9, 900), at(2, 9, 900)} {
		if s = s.Raise(p, lsn.LastNumber()); !s.Uncertain() {
			t.Errorf("a capture at %v made it certain: %v", p, s)
		}
	}
}

func TestRaiseOnlyRises(t *testing.T) {
	states := someStates()
	for _, s := range states {
		for _, capture := range states {
			for before := lsn.Number(0); before <= 2; before++ {
				got := s.Raise(capture.Position, before)
				if s.Position != got.Position && !s.Position.IsZero() {
					if got.Position.System != s.Position.System || !got.Position.After(s.Position) {
						t.Fatalf("%v.Raise(%v) = %v: the position fell", s, capture.Position, got)
					}
				}
				if got.Doubt != s.Doubt && (got.Doubt != 0 || s.Doubt > before) {
					t.Fatalf("%v.Raise(%v, %d) = %v: a doubt was changed that it cannot judge", s, capture.Position, before, got)
				}
			}
		}
	}
}

func TestRaiseFollowsTheTimeline(t *testing.T) {
	tests := []struct {
		name string
		have lsn.Position
		p    lsn.Position
		want lsn.Position
	}{
		{"the first capture", lsn.Position{}, at(1, 3, 50), at(1, 3, 50)},
		{"a higher LSN", at(1, 1, 100), at(1, 1, 101), at(1, 1, 101)},
		{"a lower LSN", at(1, 1, 100), at(1, 1, 99), at(1, 1, 100)},
		{"a later timeline at a lower LSN", at(1, 1, 100), at(1, 2, 90), at(1, 2, 90)},
		{"an older timeline at a higher LSN", at(1, 2, 90), at(1, 1, 100), at(1, 2, 90)},
		{"another system", at(1, 1, 100), at(2, 9, 900), at(1, 1, 100)},
		{"an unknown position", at(1, 1, 100), lsn.Position{}, at(1, 1, 100)},
	}
	for _, tt := range tests {
		var f lsn.Fence
		f.Raise(tt.have, 0)
		f.Raise(tt.p, 0)
		if got := f.Load().Position; got != tt.want {
			t.Errorf("%s: %v raised to %v is %v, want %v", tt.name, tt.have, tt.p, got, tt.want)
		}
	}
}

func TestOnlyACaptureThatBeganAfterwardsLiftsADoubt(t *testing.T) {
	began := lsn.LastNumber()
	doubt := lsn.NextNumber()
	var f lsn.Fence
	f.Raise(at(1, 2, 100), began)
	f.Doubt(doubt)
	for _, tt := range []struct {
		name   string
		p      lsn.Position
		before lsn.Number
	}{
		{"that began before it", at(1, 2, 101), began},
		{"of an older timeline", at(1, 1, 900), doubt},
		{"of another system", at(2, 9, 900), doubt},
		{"at an unknown position", lsn.Position{}, doubt},
	} {
		if f.Raise(tt.p, tt.before); !f.Load().Uncertain() {
			t.Fatalf("a capture %s lifted the doubt: %v", tt.name, f.Load())
		}
	}
	f.Raise(at(1, 2, 101), lsn.LastNumber())
	if got, want := f.Load(), (lsn.State{Position: at(1, 2, 101)}); got != want {
		t.Errorf("after a capture that began afterwards: %v, want %v", got, want)
	}
}

func TestANewerDoubtOutlivesTheCaptureOfAnOlderOne(t *testing.T) {
	var f lsn.Fence
	first := lsn.NextNumber()
	f.Doubt(first)
	began := lsn.LastNumber()
	second := lsn.NextNumber()
	f.Doubt(second)
	f.Doubt(first) // told late
	f.Raise(at(1, 1, 5), began)
	if got := f.Load(); got.Doubt != second || got.Position != at(1, 1, 5) {
		t.Errorf("state = %v, want the second doubt, %d, and the position", got, second)
	}
}

func TestTheZeroFenceAsksForNothing(t *testing.T) {
	var f lsn.Fence
	f.Raise(lsn.Position{}, 0)
	if got := f.Load(); !got.IsZero() || got.Uncertain() {
		t.Errorf("state = %v", got)
	}
	f.Doubt(lsn.NextNumber())
	if f.Load().IsZero() {
		t.Error("a doubt without a position asks for nothing")
	}
}

func TestNumbersOrderWhatHappensOneAfterTheOther(t *testing.T) {
	const goroutines, each = 8, 1000
	var wg sync.WaitGroup
	numbers := make([][]lsn.Number, goroutines)
	for i := range goroutines {
		wg.Go(func() {
			for range each {
				before := lsn.LastNumber()
				n := lsn.NextNumber()
				if n <= before || lsn.LastNumber() < n {
					t.Errorf("numbers out of order: %d after %d", n, before)
				}
				numbers[i] = append(numbers[i], n)
			}
		})
	}
	wg.Wait()
	all := slices.Concat(numbers...)
	slices.Sort(all)
	if got := len(slices.Compact(all)); got != goroutines*each {
		t.Errorf("%d different numbers, want %d", got, goroutines*each)
	}
}

func TestConcurrentRaisesEndAtTheHighest(t *testing.T) {
	const goroutines, each = 8, 500
	var (
		f    lsn.Fence
		want lsn.State
		wg   sync.WaitGroup
		stop = make(chan struct{})
	)
	rng := rand.New(rand.NewPCG(1, 2))
	for range goroutines {
		raises := make([]lsn.Position, each)
		for i := range raises {
			raises[i] = at(1, 1+rng.Uint32N(3), lsn.LSN(rng.Uint64N(1000)))
			want = want.Max(lsn.State{Position: raises[i]})
		}
		wg.Go(func() {
			for _, p := range raises {
				f.Raise(p, 0)
			}
		})
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		var last lsn.Position
		for {
			now := f.Load().Position
			if last.After(now) {
				t.Errorf("a reader saw the fence fall from %v to %v", last, now)
			}
			last = now
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	wg.Wait()
	close(stop)
	<-watched
	if got := f.Load(); got != want {
		t.Errorf("the fence ended at %v, want %v", got, want)
	}
}

func TestRaisingToWhatIsKnownDoesNotAllocate(t *testing.T) {
	var f lsn.Fence
	f.Raise(at(1, 1, 100), 0)
	if n := testing.AllocsPerRun(100, func() {
		f.Raise(at(1, 1, 99), lsn.LastNumber())
		_ = f.Load()
	}); n != 0 {
		t.Errorf("allocates %v times, want 0", n)
	}
}
