package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrNoBinaries says that this machine has no PostgreSQL server to start.
var ErrNoBinaries = errors.New("pgcluster: no PostgreSQL server binaries (initdb, postgres, pg_basebackup) found: " +
	"install PostgreSQL or name their folder in " + binariesVariable)

// binariesVariable names the environment variable with the folder of the
// binaries to use instead of the newest ones.
const binariesVariable = "PGRYW_POSTGRES_BIN"

// binaries is a folder with the programs of one PostgreSQL version.
type binaries struct {
	dir          string
	major, minor int
}

// folderPatterns are where packages put the binaries: Debian, Red Hat (PGDG),
// Alpine, source builds, Homebrew on both Mac architectures, Postgres.app.
var folderPatterns = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/usr/libexec/postgresql*",
	"/usr/local/pgsql/bin",
	"/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// findBinaries returns the folder named by PGRYW_POSTGRES_BIN, or the newest of
// those on PATH, of pg_config and in the usual places.
//
// A folder that is named need not have pg_basebackup, which only Rejoin needs:
// archives for tests often hold the server alone.
//
// Errors: ErrNoBinaries; another error if the variable names a folder without
// binaries.
func findBinaries(ctx context.Context) (binaries, error) {
	if dir := os.Getenv(binariesVariable); dir != "" {
		b, err := inspectBinaries(ctx, dir, "initdb", "postgres")
		if err != nil {
			return binaries{}, fmt.Errorf("pgcluster: %s: %w", binariesVariable, err)
		}
		return b, nil
	}
	var newest binaries
	for _, dir := range binaryFolders(ctx) {
		b, err := inspectBinaries(ctx, dir, "initdb", "postgres", "pg_basebackup")
		if err == nil && (b.major > newest.major || b.major == newest.major && b.minor > newest.minor) {
			newest = b
		}
	}
	if newest.dir == "" {
		return binaries{}, ErrNoBinaries
	}
	return newest, nil
}

// binaryFolders lists the folders that may hold binaries; they need not exist.
func binaryFolders(ctx context.Context) []string {
	folders := filepath.SplitList(os.Getenv("PATH"))
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		folders = append(folders, strings.TrimSpace(string(out)))
	}
	for _, pattern := range folderPatterns {
		matches, _ := filepath.Glob(pattern) // the only error is a malformed pattern
		folders = append(folders, matches...)
	}
	return folders
}

// inspectBinaries returns the version of the binaries in dir.
//
// Errors: one of the programs is missing, or the server does not say its
// version.
func inspectBinaries(ctx context.Context, dir string, programs ...string) (binaries, error) {
	for _, program := range programs {
		if _, err := os.Stat(filepath.Join(dir, program)); err != nil {
			return binaries{}, err
		}
	}
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return binaries{}, err
	}
	major, minor, err := parseVersion(string(out))
	return binaries{dir: dir, major: major, minor: minor}, err
}

// parseVersion reads "postgres (PostgreSQL) 15.18 (Debian 15.18-1)". A beta or
// release candidate, "19rc1", counts as minor version 0.
func parseVersion(s string) (major, minor int, err error) {
	_, version, _ := strings.Cut(s, "(PostgreSQL) ")
	digits := func() int {
		end := 0
		for end < len(version) && version[end] >= '0' && version[end] <= '9' {
			end++
		}
		n, _ := strconv.Atoi(version[:end])
		version = version[end:]
		return n
	}
	major = digits()
	if major == 0 {
		return 0, 0, fmt.Errorf("pgcluster: no PostgreSQL version in %q", s)
	}
	if strings.HasPrefix(version, ".") {
		version = version[1:]
		minor = digits()
	}
	return major, minor, nil
}

// program returns the path of one of the binaries.
func (b binaries) program(name string) string { return filepath.Join(b.dir, name) }
