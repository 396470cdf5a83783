package oracle

import (
	"os"
	"path/filepath"
	"testing"
)

// scripts returns the folder with the scripts of the installed servers, and
// another if PGRYW_SQL names it: src/test of PostgreSQL's source, say.
func scripts(t *testing.T) []string {
	t.Helper()
	const installed = "/usr/share/postgresql" // as Debian has it
	var dirs []string
	if _, err := os.Stat(installed); err == nil || os.Getenv("PGRYW_REQUIRE_POSTGRES") != "" {
		dirs = append(dirs, installed)
	}
	if dir := os.Getenv("PGRYW_SQL"); dir != "" {
		dirs = append(dirs, dir)
	}
	if dirs == nil {
		t.Skip("there is no " + installed)
	}
	return dirs
}

func TestStatementsInScriptsAreNeverTakenForMoreThanTheyAre(t *testing.T) {
	t.Parallel()
	oracle := New(functions)
	for _, dir := range scripts(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			statements, err := Corpus(dir)
			if err != nil {
				t.Fatal(err)
			}
			var tally Tally
			for _, sql := range statements {
				if why := tally.Compare(oracle, sql); why != "" {
					t.Errorf("%q: %s", sql, why)
				}
			}
			if tally.Parsed < 1000 {
				t.Errorf("got %d statements, want 1000 or more", tally.Parsed)
			}
			report(t, &tally, 2)
		})
	}
}
