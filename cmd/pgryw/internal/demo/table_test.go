package demo

import (
	"testing"
	"time"

	"github.com/pgryw/pgryw/router"
)

// results are those of a run as it may be.
func results() []Result {
	return []Result{
		{Way: "all on the primary", Reads: 2871, OwnReads: 522, P50: 341 * time.Microsecond, P95: 812 * time.Microsecond},
		{Way: "naive replica reads", Reads: 2871, OwnReads: 522, StaleReads: 268, StandbyReads: 2871, P50: 330 * time.Microsecond, P95: 12 * time.Millisecond},
		{
			Way: Pgryw, Reads: 1234567, OwnReads: 522, StandbyReads: 617283, P50: 360 * time.Microsecond, P95: 1500 * time.Microsecond,
			Reasons: map[router.Reason]uint64{
				router.ReasonFresh: 1900, router.ReasonWrite: 261, router.ReasonBehind: 700, router.ReasonExpected: 261, router.ReasonReplicaBusy: 1,
			},
		},
	}
}

func TestTheTableIsAligned(t *testing.T) {
	got := Table(results())
	want := `
                           reads  stale reads of own writes  read from replicas      p50       p95
  all on the primary       2,871                   0 of 522               0.0 %  0.34 ms   0.81 ms
  naive replica reads      2,871                 268 of 522             100.0 %  0.33 ms  12.00 ms
  pgryw                1,234,567                   0 of 522              50.0 %  0.36 ms   1.50 ms
`
	if got != want[1:] {
		t.Errorf("got\n%swant%s", got, want)
	}
}

func TestReasonsAreSortedByHowOftenTheyWereGiven(t *testing.T) {
	got := Reasons(results()[2])
	want := `
How pgryw routed its 3,123 statements:
  1,900  replica  fresh         it was known to have replayed what the session had written
    700  primary  behind        no replica had replayed what the session had written
    261  replica  expected      it should have replayed that, and a check ahead of the read proved it
    261  primary  write         a write
      1  primary  replica_busy
`
	if got != want[1:] {
		t.Errorf("got\n%swant%s", got, want)
	}
}
