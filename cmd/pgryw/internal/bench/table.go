package bench

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// Table returns the results as aligned text: medians of single calls, and
// ratios to plain pgx in the same run.
func Table(results []Result) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, "\tpgx\ttrips\tby hand\ttrips\tpgryw\ttrips\tby hand/pgx\tpgryw/pgx\t")
	for _, r := range results {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", r.Case,
			micros(r.Plain), trips(r.Plain, r.PlainTrips), micros(r.ByHand), trips(r.ByHand, r.ByHandTrips),
			micros(r.Pgryw), trips(r.Pgryw, r.PgrywTrips), ratio(r.ByHand, r.Plain), ratio(r.Pgryw, r.Plain))
	}
	_ = w.Flush() // a strings.Builder takes everything
	for _, r := range results {
		if r.Guarded > 0 {
			fmt.Fprintf(&b, "%s: %.0f %% of pgryw's reads carried a guard\n", r.Case, 100*r.Guarded)
		}
	}
	return b.String()
}

func micros(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprintf("%d µs", d.Microseconds())
}

func trips(d time.Duration, n float64) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", n)
}

func ratio(d, base time.Duration) string {
	if d == 0 || base == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(d)/float64(base))
}
