package pgcluster

import (
	"slices"
	"strings"
	"testing"
)

// asLogged writes a message as a server does.
func asLogged(e entry) string {
	application := e.application
	if application == "" {
		application = "[unknown]"
	}
	prefix := "2026-01-02 03:04:05.678 UTC\t77\t" + e.user + "\t" + e.database + "\t" + application + "\t"
	return prefix + strings.ReplaceAll(e.text, "\n", "\n\t") + "\n"
}

func TestLogIsSplitIntoItsMessages(t *testing.T) {
	first := entry{pid: 77, user: "u", database: "d", application: "a b", text: "LOG:  statement: SELECT\n\n\t1\r\n"}
	second := entry{pid: 77, text: "DETAIL:  x"}
	log := "sh: warning\n" + asLogged(first) + asLogged(second) + "2026-01-02 03:04:05.679 UTC\t77\t\t\t\tLOG:  being wri"
	if got, want := parseLog(log), []entry{first, second}; !slices.Equal(got, want) {
		t.Errorf("got %+q, want %+q", got, want)
	}
}

func TestOnlyExecutionsAreStatements(t *testing.T) {
	for _, test := range []struct {
		text string
		want Statement
		ok   bool
	}{
		{"LOG:  statement: SELECT 1: 2", Statement{SQL: "SELECT 1: 2"}, true},
		{"LOG:  execute <unnamed>: SELECT 1: 2", Statement{SQL: "SELECT 1: 2", Prepared: "<unnamed>"}, true},
		{"LOG:  execute s1/portal: SELECT 1 / 2", Statement{SQL: "SELECT 1 / 2", Prepared: "s1"}, true},
		{"LOG:  execute s1: FETCH c", Statement{SQL: "FETCH c", Prepared: "s1"}, true},
		{"LOG:  execute fetch from <unnamed>: SELECT 1", Statement{}, false},
		{"DETAIL:  parameters: $1 = 'LOG:  statement: SELECT 1'", Statement{}, false},
		{"STATEMENT:  SELECT 1", Statement{}, false},
		{"LOG:  database system is ready to accept connections", Statement{}, false},
	} {
		if got, ok := (entry{text: test.text}).statement(); ok != test.ok || ok && got != test.want {
			t.Errorf("%q: got %+v %t, want %+v %t", test.text, got, ok, test.want, test.ok)
		}
	}
}

func FuzzStatementSurvivesTheLog(f *testing.F) {
	f.Add("SELECT 1", "app")
	f.Add("\n\t\n\nLOG:  statement: x\n\t", "")
	f.Fuzz(func(t *testing.T, sql, application string) {
		if strings.ContainsAny(application, "\t\n") || strings.HasPrefix(application, "[unknown]") || strings.Contains(sql, "\x00") {
			t.Skip("no server logs that")
		}
		e := entry{pid: 77, user: "u", database: "d", application: application, text: "LOG:  statement: " + sql}
		entries := parseLog(asLogged(e) + asLogged(e))
		if len(entries) != 2 || entries[0] != e || entries[1] != e {
			t.Fatalf("got %+q, want %+q twice", entries, e)
		}
		if s, ok := entries[1].statement(); !ok || s.SQL != sql {
			t.Errorf("got %q %t, want %q", s.SQL, ok, sql)
		}
	})
}
