package topology

import (
	"slices"
	"testing"
	"time"

	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

func sampleAt(at int, l lsn.LSN) router.Sample { return router.Sample{At: ms(at), LSN: l} }

// TestASampleIsKeptIfItSaysMore has one of position 100, seen at 100 ms.
func TestASampleIsKeptIfItSaysMore(t *testing.T) {
	old := []router.Sample{sampleAt(100, 100)}
	for name, c := range map[string]struct {
		at   int
		l    lsn.LSN
		want bool
	}{
		"further on":                      {102, 101, true},
		"too soon":                        {101, 101, false},
		"an answer that was overtaken":    {90, 101, false},
		"the same position":               {200, 100, false},
		"an earlier position":             {200, 99, false},
		"further on, a long time after":   {100_000, 101, true},
		"further on, at the same instant": {100, 101, false},
	} {
		want := old
		if c.want {
			want = []router.Sample{old[0], sampleAt(c.at, c.l)}
		}
		if got := sample(old, ms(c.at), c.l); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if got := sample(nil, ms(1), 1); len(got) != 1 {
		t.Errorf("the first sample is not kept: %v", got)
	}
}

// TestTheHistoryReachesFarBackAndIsFineNearItsEnd adds 10,000 samples, and holds
// on to one state, as a snapshot does.
func TestTheHistoryReachesFarBackAndIsFineNearItsEnd(t *testing.T) {
	var history, held, copied []router.Sample
	for i := 1; i <= 10_000; i++ {
		history = sample(history, ms(10*i), lsn.LSN(i))
		if i == 5000 {
			held, copied = history, slices.Clone(history)
		}
		if len(history) > historySize {
			t.Fatalf("%d samples", len(history))
		}
	}
	if !slices.Equal(held, copied) {
		t.Error("a state that is held has changed")
	}
	for i, s := range history[len(history)-historyKept:] {
		if want := lsn.LSN(10_000 - historyKept + 1 + i); s.LSN != want {
			t.Errorf("sample %d of the newest is of %v, want %v", i, s.LSN, want)
		}
	}
	if !slices.IsSortedFunc(history, func(a, b router.Sample) int { return a.At.Compare(b.At) }) {
		t.Errorf("not in order: %v", history)
	}
	if history[0].LSN != 1 {
		t.Errorf("it begins at %v, want 1", history[0].LSN)
	}
}

// TestAPrimaryThatHasGoneBackBeginsANewHistory has a sample of position 100, seen
// at 100 ms.
func TestAPrimaryThatHasGoneBackBeginsANewHistory(t *testing.T) {
	old := []router.Sample{sampleAt(50, 50), sampleAt(100, 100)}
	for name, c := range map[string]struct {
		asked int
		l     lsn.LSN
		want  []router.Sample
	}{
		"it is further on":             {110, 101, old},
		"it stands still":              {110, 100, old},
		"it has lost what it had":      {110, 99, nil},
		"it was asked before the last": {90, 99, old},
		"it was asked at that instant": {100, 99, old},
	} {
		if got := regress(old, ms(c.asked), c.l); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// TestTheFirstSampleBeyondAReplicaTellsForHowLongItIsBehind has three.
func TestTheFirstSampleBeyondAReplicaTellsForHowLongItIsBehind(t *testing.T) {
	history := []router.Sample{sampleAt(10, 10), sampleAt(20, 20), sampleAt(30, 30)}
	for replayed, want := range map[lsn.LSN]time.Duration{
		5: 90 * time.Millisecond, 10: 80 * time.Millisecond, 15: 80 * time.Millisecond, 29: 70 * time.Millisecond, 30: 0, 99: 0,
	} {
		if got := beyondFor(history, replayed, ms(100)); got != want {
			t.Errorf("replayed %d: got %s, want %s", replayed, got, want)
		}
	}
	if got := beyondFor(history, 29, ms(15)); got != 0 {
		t.Errorf("asked before the primary was there: got %s", got)
	}
	if got := beyondFor(nil, 29, ms(100)); got != 0 {
		t.Errorf("without a sample: got %s", got)
	}
}
