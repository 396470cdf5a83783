package demo

import (
	"testing"
	"time"
)

func TestPercentilesAreValuesThatWereMeasured(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for _, test := range []struct {
		sorted []time.Duration
		p      int
		want   time.Duration
	}{
		{nil, 50, 0},
		{hundred[:1], 50, 1},
		{hundred[:1], 95, 1},
		{hundred[:3], 50, 2},
		{hundred[:4], 50, 2},
		{hundred[:19], 95, 19},
		{hundred, 50, 50},
		{hundred, 95, 95},
	} {
		if got := percentile(test.sorted, test.p); got != test.want {
			t.Errorf("p%d of %d values: got %d, want %d", test.p, len(test.sorted), got, test.want)
		}
	}
}
