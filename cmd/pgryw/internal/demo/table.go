package demo

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pgryw/pgryw/router"
)

// WriteTable writes the results one below the other.
func WriteTable(w io.Writer, results []Result) error {
	rows := [][]string{{"", "reads", "stale reads of own writes", "read from replicas", "p50", "p95"}}
	for _, r := range results {
		rows = append(rows, []string{
			r.Way, thousands(r.Reads), thousands(r.StaleReads) + " of " + thousands(r.OwnReads),
			percent(r.StandbyReads, r.Reads), milliseconds(r.P50), milliseconds(r.P95),
		})
	}
	width := 0
	for _, row := range rows {
		width = max(width, len(row[0]))
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		fmt.Fprintf(table, "%-*s\t%s\t\n", width, row[0], strings.Join(row[1:], "\t")) // names to the left, numbers to the right
	}
	return table.Flush()
}

// WriteReasons writes why a way routed its statements as it did, the most
// frequent reason first.
func WriteReasons(w io.Writer, r Result) error {
	var total uint64
	for _, n := range r.Reasons {
		total += n
	}
	if _, err := fmt.Fprintf(w, "How %s routed its %s statements:\n", r.Way, thousands(total)); err != nil {
		return err
	}
	reasons := slices.SortedFunc(maps.Keys(r.Reasons), func(a, b router.Reason) int {
		return cmp.Or(cmp.Compare(r.Reasons[b], r.Reasons[a]), cmp.Compare(a, b))
	})
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, reason := range reasons {
		where, why := explain(reason)
		cells := []string{fmt.Sprintf("%*s", 2+len(thousands(total)), thousands(r.Reasons[reason])), where, reason.String()}
		if why != "" {
			cells = append(cells, why)
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	return table.Flush()
}

// explain says to which kind of server a reason leads, and what it means. Those
// that a healthy cluster does not give are left to their names.
func explain(reason router.Reason) (where, why string) {
	switch reason {
	case router.ReasonUnfenced:
		return "replica", "the session had written nothing yet"
	case router.ReasonFresh:
		return "replica", "it was known to have replayed what the session had written"
	case router.ReasonExpected:
		return "replica", "it should have replayed that, and a check ahead of the read proved it"
	case router.ReasonWrite:
		return "primary", "a write"
	case router.ReasonBehind:
		return "primary", "no replica had replayed what the session had written"
	case router.ReasonGuardFailed:
		return "primary", "the replica chosen had not replayed that after all"
	default:
		return "primary", ""
	}
}

// thousands returns a number with its digits in groups of three.
func thousands[N int64 | uint64](n N) string {
	digits := strconv.FormatUint(uint64(n), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// percent returns the share of part in whole; of nothing it is none.
func percent(part, whole int64) string {
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(max(whole, 1)))
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", d.Seconds()*1000)
}
