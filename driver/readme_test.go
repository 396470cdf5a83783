package driver

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeListsEveryOption compares the table in README with the options that
// a DSN may have, and their defaults.
func TestReadmeListsEveryOption(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for line := range strings.Lines(string(readme)) {
		cells := strings.Split(line, " | ")
		if key, ok := strings.CutPrefix(cells[0], "| `pgryw."); ok && len(cells) == 4 {
			listed["pgryw."+strings.TrimSuffix(key, "`")] = cells[2]
		}
	}
	for _, o := range options {
		shown, ok := listed[o.key]
		if !ok {
			t.Errorf("README does not list %s", o.key)
		}
		if want := "`" + o.initial + "`"; !strings.HasPrefix(shown, want) {
			t.Errorf("%s: README says %s by default, want %s", o.key, shown, want)
		}
		delete(listed, o.key)
	}
	for key := range listed {
		t.Errorf("README lists %s, which is no option", key)
	}
}

// TestReadmeNamesTheCommands holds README to the two commands that CI runs.
func TestReadmeNamesTheCommands(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	ci, err := os.ReadFile("../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "\ngo run ./cmd/pgryw demo\nmake test\n") {
		t.Error("README does not name the two commands")
	}
	for _, step := range []string{"step make test", "step make demo"} {
		if !strings.Contains(string(ci), step) {
			t.Errorf(".ci/run does not %s", step)
		}
	}
}
