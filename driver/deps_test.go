package driver_test

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// linked are the modules that may be part of a program because it imports the
// driver: this one, pgx, and what pgx needs.
var linked = []string{
	"github.com/jackc/pgpassfile",
	"github.com/jackc/pgservicefile",
	"github.com/jackc/pgx/v5",
	"github.com/jackc/puddle/v2",
	"github.com/pgryw/pgryw",
	"golang.org/x/sync",
	"golang.org/x/text",
}

func TestTheDriverLinksPgxAndNothingElse(t *testing.T) {
	packages := dependencies(t)
	for _, path := range slices.Sorted(maps.Keys(packages)) {
		module := packages[path]
		if module != "" && !slices.Contains(linked, module) {
			t.Errorf("package %s of module %s is linked", path, module)
		}
	}
	if packages["github.com/jackc/pgx/v5/pgconn"] != "github.com/jackc/pgx/v5" {
		t.Error("pgx is not linked, this test sees the wrong packages")
	}
}

func TestTheDriverLinksNoTestAids(t *testing.T) {
	packages := dependencies(t)
	for _, path := range []string{
		"testing", "github.com/pgryw/pgryw/internal/pgcluster", "github.com/pgryw/pgryw/sqlmockcompat",
	} {
		if _, found := packages[path]; found {
			t.Errorf("%s is linked", path)
		}
	}
}

// dependencies returns the packages that the driver links, with their modules,
// none for those of the standard library.
func dependencies(t *testing.T) map[string]string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps",
		"-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", "github.com/pgryw/pgryw/driver")
	list.Stderr = t.Output()
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, module, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		packages[path] = module
	}
	return packages
}
