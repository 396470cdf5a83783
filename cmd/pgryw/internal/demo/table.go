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

// Table returns the results one below the other.
func Table(results []Result) string {
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
	for _, row := range rows {
		row[0] = fmt.Sprintf("%-*s", width, row[0]) // names to the left, numbers to the right
	}
	return align(rows, tabwriter.AlignRight)
}

// Reasons returns why a way routed its statements as it did, the most frequent
// reason first.
func Reasons(r Result) string {
	var total uint64
	for _, n := range r.Reasons {
		total += n
	}
	reasons := slices.SortedFunc(maps.Keys(r.Reasons), func(a, b router.Reason) int {
		return cmp.Or(cmp.Compare(r.Reasons[b], r.Reasons[a]), cmp.Compare(a, b))
	})
	var rows [][]string
	for _, reason := range reasons {
		count := fmt.Sprintf("%*s", 2+len(thousands(total)), thousands(r.Reasons[reason]))
		where, why := explain(reason)
		rows = append(rows, []string{count, where, reason.String(), why})
	}
	return fmt.Sprintf("How %s routed its %s statements:\n", r.Way, thousands(total)) + align(rows, 0)
}

// align returns rows of cells as lines with columns.
func align(rows [][]string, flags uint) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', flags)
	for _, row := range rows {
		_, _ = io.WriteString(table, strings.Join(row, "\t")+"\t\n")
	}
	_ = table.Flush() // a Builder takes everything
	lines := strings.Split(text.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
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
