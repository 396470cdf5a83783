package router

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// described is a text and what is found in it.
type described struct {
	class, why, starts string
	sql                string
}

// describedStatements reads testdata/statements.txt.
func describedStatements(tb testing.TB) []described {
	tb.Helper()
	file, err := os.ReadFile("testdata/statements.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var all []described
	for line := range strings.Lines(string(file)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 4 {
			tb.Fatalf("%q has %d fields, want 4", line, len(fields))
		}
		sql := fields[3]
		if strings.HasPrefix(sql, `"`) {
			if sql, err = strconv.Unquote(sql); err != nil {
				tb.Fatalf("%q: %v", line, err)
			}
		}
		all = append(all, described{fields[0], fields[1], fields[2], sql})
	}
	if len(all) < 250 {
		tb.Fatalf("got %d statements, want 250 or more", len(all))
	}
	return all
}

func TestStatementsAreWhatTheyAreDescribedAs(t *testing.T) {
	for _, want := range describedStatements(t) {
		s := Classify(want.sql, nil)
		got := described{s.Class.String(), s.Why.String(), s.Starts.String(), want.sql}
		if got != want {
			t.Errorf("got %s %s %s, want %s %s %s: %q",
				got.class, got.why, got.starts, want.class, want.why, want.starts, want.sql)
		}
	}
}
