package servers_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pgryw/pgryw/cmd/pgryw/internal/servers"
)

func TestDownloadedServersAreAPrimaryAndLateStandbys(t *testing.T) {
	r := newRepository(t, jar(t))
	for round := range 2 {
		c := start(t, servers.Options{Source: servers.Download, ApplyDelay: 200 * time.Millisecond})
		check(t, c, 200*time.Millisecond)
		if !strings.HasPrefix(c.About, "PostgreSQL ") || !strings.HasSuffix(c.About, ", downloaded") {
			t.Errorf("got %q, want it to say where the servers come from", c.About)
		}
		if got, want := r.downloads, 1; got != want {
			t.Errorf("round %d: got %d downloads, want %d", round, got, want)
		}
	}
	r.checkNothingPartial(t)
}

func TestADownloadThatCannotBeIsAbsent(t *testing.T) {
	for name, test := range map[string]struct {
		jar  []byte
		want string
	}{
		"the repository has no such version": {nil, "no version found matching"},
		"the archive is damaged":             {[]byte("PK"), "zip: not a valid zip file"},
		"the archive holds no binaries":      {zipped(t, "README", nil), "cannot find binary"},
		"the binaries are damaged":           {zipped(t, "postgres.txz", []byte("no xz")), "xz"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t, test.jar)
			_, err := servers.Start(t.Context(), servers.Options{Source: servers.Download})
			if !errors.Is(err, servers.ErrAbsent) || !strings.Contains(err.Error(), "cannot be downloaded: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want that the download failed: %s", err, test.want)
			}
			r.checkNothingPartial(t)
		})
	}
}

func TestADownloadThatDoesNotMatchItsChecksumIsAbsent(t *testing.T) {
	r := newRepository(t, zipped(t, "postgres.txz", nil))
	r.checksum = strings.Repeat("0", 64)
	_, err := servers.Start(t.Context(), servers.Options{Source: servers.Download})
	if !errors.Is(err, servers.ErrAbsent) || !strings.Contains(err.Error(), "checksums do not match") {
		t.Errorf("got error %v, want that the checksums do not match", err)
	}
	r.checkNothingPartial(t)
}

func TestADownloadEndsWithItsContext(t *testing.T) {
	r := newRepository(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	r.asked = func(request context.Context) {
		cancel(why)
		<-request.Done() // answers nothing
	}
	if _, err := servers.Start(ctx, servers.Options{Source: servers.Download}); !errors.Is(err, why) {
		t.Errorf("got error %v, want %v", err, why)
	}
	r.server.CloseClientConnections()
}

// repository is one of binaries on this machine, laid out as Maven's.
type repository struct {
	server    *httptest.Server
	checksum  string
	asked     func(context.Context) // called by each request for an archive
	downloads int
	cache     string // where the program keeps what it downloads
}

// layout is how archives are named: by system, architecture and version, twice.
var layout = regexp.MustCompile(`^/io/zonky/test/postgres/embedded-postgres-binaries-([a-z]+)-([a-z0-9-]+)/([0-9.]+)/embedded-postgres-binaries-([a-z]+)-([a-z0-9-]+)-([0-9.]+)\.jar$`)

// newRepository returns one with that archive, none if it is nil, and makes the
// program use it, with empty caches.
func newRepository(t *testing.T, jar []byte) *repository {
	t.Helper()
	sum := sha256.Sum256(jar)
	r := &repository{checksum: hex.EncodeToString(sum[:]), asked: func(context.Context) {}, cache: reachableFolder(t)}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		path, isChecksum := strings.CutSuffix(request.URL.Path, ".sha256")
		name := layout.FindStringSubmatch(path)
		switch {
		case name == nil || name[1] != name[4] || name[2] != name[5] || name[3] != name[6]:
			t.Errorf("%s is none of the repository's names", request.URL.Path)
			http.NotFound(w, request)
		case isChecksum:
			_, _ = w.Write([]byte(r.checksum)) // the client notices
		default:
			r.asked(request.Context())
			if jar == nil {
				http.NotFound(w, request)
				return
			}
			r.downloads++
			_, _ = w.Write(jar) // the client notices
		}
	}))
	t.Cleanup(r.server.Close)
	t.Setenv(servers.RepositoryVariable, r.server.URL)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", r.cache)
	t.Setenv("PGRYW_POSTGRES_BIN", "") // set by the program
	return r
}

// checkNothingPartial checks that all folders in the cache are complete.
func (r *repository) checkNothingPartial(t *testing.T) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(r.cache, "pgryw", "partial-*")); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

// reachableFolder returns a folder that the servers' user can reach.
func reachableFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pgryw-test-") //nolint:usetesting // t.TempDir lies in a folder of root's alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the servers run as another user
		t.Fatal(err)
	}
	return dir
}

// jar returns an archive of this machine's binaries, with the programs of a real
// one and no others. Moved away from their place, they still find what they share.
func jar(t *testing.T) []byte {
	t.Helper()
	bin := binaries(t)
	var files bytes.Buffer
	archive := tar.NewWriter(&files)
	home := filepath.Dir(bin)
	added, err := filepath.Glob(filepath.Join(home, "lib", "*.so"))
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"initdb", "pg_ctl", "postgres"} {
		added = append(added, filepath.Join(bin, program))
	}
	for _, path := range added {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		addFile(t, archive, strings.TrimPrefix(path, home+"/"), content, 0o755)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return zipped(t, "postgres-"+filepath.Base(home)+".txz", storedXZ(files.Bytes()))
}

// zipped returns a zip archive of one file.
func zipped(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	var jar bytes.Buffer
	archive := zip.NewWriter(&jar)
	file, err := archive.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return jar.Bytes()
}
