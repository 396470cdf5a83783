package lsn_test

import (
	"testing"

	"github.com/pgryw/pgryw/lsn"
)

func at(system uint64, timeline uint32, l lsn.LSN) lsn.Position {
	return lsn.Position{System: system, Timeline: timeline, LSN: l}
}

func TestReachesComparesOnlyWithinASystemAndTimeline(t *testing.T) {
	tests := []struct {
		name       string
		have, want lsn.Position
		reaches    bool
	}{
		{"the same position", at(1, 1, 100), at(1, 1, 100), true},
		{"one byte more", at(1, 1, 101), at(1, 1, 100), true},
		{"one byte less", at(1, 1, 99), at(1, 1, 100), false},
		{"a later timeline at a higher LSN", at(1, 2, 200), at(1, 1, 100), false},
		{"an older timeline at a higher LSN", at(1, 1, 200), at(1, 2, 100), false},
		{"another system at a higher LSN", at(2, 1, 200), at(1, 1, 100), false},
		{"an unknown position", lsn.Position{}, at(1, 1, 1), false},
		{"no LSN on the right timeline", at(1, 1, 0), at(1, 1, 1), false},
		{"an LSN past half the range", at(1, 1, 1<<63), at(1, 1, 1<<63-1), true},
	}
	for _, tt := range tests {
		if got := tt.have.Reaches(tt.want); got != tt.reaches {
			t.Errorf("%s: %v.Reaches(%v) = %v, want %v", tt.name, tt.have, tt.want, got, tt.reaches)
		}
	}
}

func TestNothingReachesWhatIsNotKnown(t *testing.T) {
	for _, want := range []lsn.Position{{}, at(0, 1, 1), at(1, 0, 1)} {
		for _, have := range []lsn.Position{want, at(want.System, want.Timeline, 900), at(1, 1, 900)} {
			if have.Reaches(want) {
				t.Errorf("%+v reaches %+v", have, want)
			}
		}
	}
}

func TestALaterTimelineSupersedesAnyLSN(t *testing.T) {
	ordered := []lsn.Position{at(1, 1, 1), at(1, 1, 900), at(1, 2, 5), at(1, 2, 6), at(1, 10, 0)}
	for i, p := range ordered {
		for j, q := range ordered {
			if got, want := p.After(q), i > j; got != want {
				t.Errorf("%v.After(%v) = %v, want %v", p, q, got, want)
			}
		}
	}
}

func TestPositionStringsNameAllThreeParts(t *testing.T) {
	for p, want := range map[lsn.Position]string{
		{}:                                    "unknown",
		at(7301234567890123442, 1, 0x3000060): "7301234567890123442/1@0/3000060",
	} {
		if got := p.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}

func TestRoundDownStepsBackOverPageHeadersOnly(t *testing.T) {
	const (
		page    = 8192
		segment = 1 << 20
	)
	tests := []struct {
		name    string
		l, want lsn.LSN
	}{
		{"no LSN", 0, 0},
		{"a segment's start", 5 * segment, 5 * segment},
		{"past a segment's header", 5*segment + 40, 5 * segment},
		{"inside a segment's first record", 5*segment + 48, 5*segment + 48},
		{"a page's start", 5*segment + page, 5*segment + page},
		{"past a page's header", 5*segment + page + 24, 5*segment + page},
		{"40 bytes into a page that starts no segment", 5*segment + page + 40, 5*segment + page + 40},
		{"8 bytes past a page's header", 5*segment + page + 32, 5*segment + page + 32},
		{"the last page of a segment", 6*segment - page + 24, 6*segment - page},
		{"far into the WAL", 1<<63 + 24, 1 << 63},
	}
	g := lsn.Geometry{PageBytes: page, SegmentBytes: segment}
	for _, tt := range tests {
		if got := g.RoundDown(tt.l); got != tt.want {
			t.Errorf("%s: RoundDown(%v) = %v, want %v", tt.name, tt.l, got, tt.want)
		}
	}
}

func TestRoundDownNeverCrossesARecordsEnd(t *testing.T) {
	// Bytes that can hold the end of a record are those past a page's header,
	// from one 8-byte unit on: rounding may take away header bytes only.
	g := lsn.Geometry{PageBytes: 256, SegmentBytes: 1024}
	for l := lsn.LSN(0); l < 4096; l++ {
		header := lsn.LSN(24)
		if l%1024 < 256 {
			header = 40
		}
		got := g.RoundDown(l)
		switch into := l % 256; {
		case got == l:
		case got == l-into && into == header:
		case got == l-into && into < header: // only a header ends here: nothing is lost
		default:
			t.Errorf("RoundDown(%v) = %v, a record may end between them", l, got)
		}
	}
}

func TestRoundDownOfAnUnknownGeometryChangesNothing(t *testing.T) {
	for _, l := range []lsn.LSN{0, 24, 40, 8192 + 24, 1<<24 + 40} {
		if got := (lsn.Geometry{}).RoundDown(l); got != l {
			t.Errorf("RoundDown(%v) = %v", l, got)
		}
		if got := (lsn.Geometry{SegmentBytes: 1 << 24}).RoundDown(8192 + 24); got != 8192+24 {
			t.Errorf("RoundDown without a page size = %v", got)
		}
	}
}
