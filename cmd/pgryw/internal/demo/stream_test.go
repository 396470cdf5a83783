package demo

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestASeedAlwaysGivesTheSameStream(t *testing.T) {
	var lines []string
	for _, s := range stream(1, 0, 1200*time.Millisecond) {
		lines = append(lines, fmt.Sprintf("%s %s %d", s.at.Round(time.Microsecond), [...]string{"write", "own", "other"}[s.kind], s.product))
	}
	want := "239.304ms write 0\n239.304ms own 0\n639.279ms other 132\n891.571ms other 75\n1.156168s other 556\n1.174228s own 0"
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAnotherSeedOrUserHasAnotherStream(t *testing.T) {
	one := stream(1, 0, time.Minute)
	for _, other := range [][]step{stream(2, 0, time.Minute), stream(1, 1, time.Minute)} {
		if slices.Equal(one, other) {
			t.Error("got the same stream")
		}
	}
}

func TestALongerRunBeginsAsAShorterOne(t *testing.T) {
	long := stream(7, 3, time.Minute)
	for _, length := range []time.Duration{0, time.Millisecond, time.Second, 5 * time.Second, 30 * time.Second} {
		short := stream(7, 3, length)
		if !slices.Equal(short, long[:len(short)]) {
			t.Errorf("%s: got no beginning of the run of a minute", length)
		}
		if next := long[len(short)]; next.at < length {
			t.Errorf("%s: got %d steps, the next is due at %s", length, len(short), next.at)
		}
	}
}

func TestEachWriteIsReadAtOnceAndOnceMoreLater(t *testing.T) {
	for user := range 50 {
		steps := stream(1, user, time.Minute)
		if !slices.IsSortedFunc(steps, func(a, b step) int { return int(a.at - b.at) }) {
			t.Fatalf("user %d: the steps are not in the order in which they are due", user)
		}
		ownReads := 0
		for i, s := range steps {
			switch s.kind {
			case writeProfile:
				if i > 0 && ownReads != 2 {
					t.Fatalf("user %d: got %d reads of the profile before step %d, want 2", user, ownReads, i)
				}
				ownReads = 0
				if i+1 < len(steps) && (steps[i+1].kind != readProfile || steps[i+1].at != s.at) {
					t.Fatalf("user %d: the write of step %d is not read at once", user, i)
				}
			case readProfile:
				ownReads++
			case readProduct:
				if s.product < 1 || s.product > productCount {
					t.Fatalf("user %d: got product %d, want one of %d", user, s.product, productCount)
				}
			}
		}
	}
}
