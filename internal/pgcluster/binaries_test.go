package pgcluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestVersionIsReadFromWhatTheServerPrints(t *testing.T) {
	for _, test := range []struct {
		text         string
		major, minor int
	}{
		{"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n", 15, 18},
		{"postgres (PostgreSQL) 19rc1\n", 19, 0},
		{"postgres (PostgreSQL) 20devel\n", 20, 0},
	} {
		major, minor, err := parseVersion(test.text)
		if err != nil || major != test.major || minor != test.minor {
			t.Errorf("%q: got %d.%d, %v, want %d.%d", test.text, major, minor, err, test.major, test.minor)
		}
	}
	for _, text := range []string{"", "postgres", "postgres (PostgreSQL) ", "postgres (PostgreSQL) x1"} {
		if major, minor, err := parseVersion(text); err == nil {
			t.Errorf("%q: got %d.%d, want an error", text, major, minor)
		}
	}
}

// fakeTB records how a test ended. Skip and Fatal do not return.
type fakeTB struct {
	TB
	context context.Context
	skipped error
	failed  error
}

func (f *fakeTB) Helper()                  {}
func (f *fakeTB) Context() context.Context { return f.context }
func (f *fakeTB) Skip(args ...any)         { f.skipped = args[0].(error); panic(f) }
func (f *fakeTB) Fatal(args ...any)        { f.failed = args[0].(error); panic(f) }

func TestWithoutBinariesATestIsSkippedUnlessPostgresIsRequired(t *testing.T) {
	patterns := folderPatterns
	folderPatterns = nil
	t.Cleanup(func() { folderPatterns = patterns })
	t.Setenv("PATH", t.TempDir())
	t.Setenv(binariesVariable, "")

	run := func() (f *fakeTB) {
		f = &fakeTB{context: t.Context()}
		defer func() {
			if recover() != any(f) {
				t.Error("the test went on")
			}
		}()
		New(f, Options{})
		return f
	}

	t.Setenv("PGRYW_REQUIRE_POSTGRES", "")
	if f := run(); !errors.Is(f.skipped, ErrNoBinaries) || f.failed != nil {
		t.Errorf("got skipped by %v, failed by %v, want skipped by %v", f.skipped, f.failed, ErrNoBinaries)
	}
	t.Setenv("PGRYW_REQUIRE_POSTGRES", "1")
	if f := run(); !errors.Is(f.failed, ErrNoBinaries) || f.skipped != nil {
		t.Errorf("got skipped by %v, failed by %v, want failed by %v", f.skipped, f.failed, ErrNoBinaries)
	}
	t.Setenv(binariesVariable, t.TempDir())
	t.Setenv("PGRYW_REQUIRE_POSTGRES", "")
	if f := run(); f.failed == nil {
		t.Error("a folder without binaries that was asked for did not fail the test")
	}
}

func TestANamedFolderNeedNotHavePgBasebackup(t *testing.T) {
	t.Setenv(binariesVariable, "")
	found, err := findBinaries(t.Context())
	if errors.Is(err, ErrNoBinaries) && os.Getenv("PGRYW_REQUIRE_POSTGRES") != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Setenv(binariesVariable, dir)
	for _, program := range []string{"initdb", "postgres"} {
		if _, err := findBinaries(t.Context()); err == nil {
			t.Errorf("a folder without %s was accepted", program)
		}
		if err := os.Symlink(found.program(program), filepath.Join(dir, program)); err != nil {
			t.Fatal(err)
		}
	}
	if named, err := findBinaries(t.Context()); err != nil || named.dir != dir || named.major != found.major {
		t.Errorf("got %v, %v, want version %d in %s", named, err, found.major, dir)
	}
	t.Setenv(binariesVariable, "")
	t.Setenv("PATH", dir)
	if again, err := findBinaries(t.Context()); err == nil && again.dir == dir {
		t.Error("a folder without pg_basebackup was found, and not named")
	}
}
