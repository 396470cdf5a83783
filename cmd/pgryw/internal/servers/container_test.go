package servers_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pgryw/pgryw/cmd/pgryw/internal/servers"
)

func TestServersInAContainerAreAPrimaryAndLateStandbys(t *testing.T) {
	tag := buildImage(t)
	var notes []string
	c := start(t, servers.Options{
		Source: servers.Docker, ApplyDelay: 200 * time.Millisecond, MaxConnections: 133,
		Note: func(what string) { notes = append(notes, what) },
	})
	check(t, c, 200*time.Millisecond)
	if got, want := ask[string](t, connect(t, c, 2), "SHOW max_connections"), "133"; got != want {
		t.Errorf("got max_connections %s, want %s", got, want)
	}
	if got, want := c.About, "PostgreSQL in a Docker container of "+tag; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := strings.Join(notes, "\n"), "starting a primary and 2 standbys in a container of "+tag; got != want {
		t.Errorf("got notes %q, want %q", got, want)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if left := docker(t, nil, "ps", "--all", "--quiet", "--filter", "ancestor="+tag); left != "" {
		t.Errorf("got containers %q left, want none", left)
	}
}

func TestTheContainerEndsWhenAServerInItDoes(t *testing.T) {
	tag := buildImage(t)
	c := start(t, servers.Options{Source: servers.Docker})
	container := docker(t, nil, "ps", "--quiet", "--filter", "ancestor="+tag)
	if container == "" {
		t.Fatal("no container of " + tag)
	}
	// The answer, an error or none, is that of a server that is being ended.
	_, _ = connect(t, c, 1).Exec(t.Context(), "COPY (SELECT) TO PROGRAM 'kill -s QUIT $(head -n 1 /pgryw/node1/postmaster.pid)'")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	// Fails if the container is gone already.
	_ = exec.CommandContext(ctx, "docker", "wait", container).Run()
	if ctx.Err() != nil {
		t.Error("the container runs on")
	}
}

// buildImage makes an image, as the official ones are as far as it matters, of
// this machine's PostgreSQL, and returns its name. The program sees no other
// image: one of another test may come and go.
func buildImage(t *testing.T) (tag string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "docker", "version").CombinedOutput(); err != nil {
		t.Skipf("no Docker: %v: %s", err, out)
	}
	bin := binaries(t)
	major := filepath.Base(filepath.Dir(bin))
	var files bytes.Buffer
	archive := tar.NewWriter(&files)
	addFile(t, archive, "etc/passwd", []byte("postgres:x:999:999::/:/bin/sh\n"), 0o644)
	programs := []string{filepath.Join(bin, "postgres"), filepath.Join(bin, "initdb"), "/bin/sh", "/bin/cp", "/bin/cat", "/usr/bin/head"}
	added := slices.Concat(programs, libraries(t, programs))
	for _, tree := range []string{filepath.Join(filepath.Dir(bin), "lib"), filepath.Join("/usr/share/postgresql", major)} {
		err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.Contains(path, "/bitcode/") {
				added = append(added, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(added)
	for _, path := range slices.Compact(added) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		addFile(t, archive, strings.TrimPrefix(path, "/"), content, 0o755)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	tag = fmt.Sprintf("pgryw-test-%d/postgres:%s", os.Getpid(), major)
	docker(t, &files, "import", "--change", "ENV PG_MAJOR="+major, "-", tag)
	t.Cleanup(func() { docker(t, nil, "rmi", tag) })
	client, err := exec.LookPath("docker")
	if err != nil {
		t.Fatal(err)
	}
	fakeDocker(t, fmt.Sprintf(`[ "$1 $2" = "image ls" ] && set -- "$@" %s; exec %s "$@"`, tag, client))
	return tag
}

// addFile adds a file to an archive.
func addFile(t *testing.T, archive *tar.Writer, name string, content []byte, mode int64) {
	t.Helper()
	err := archive.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(content)), Typeflag: tar.TypeReg})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write(content); err != nil {
		t.Fatal(err)
	}
}

// binaries returns the folder of the newest PostgreSQL where Debian puts it.
func binaries(t *testing.T) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/[1-9][0-9]/bin/postgres")
	if len(found) == 0 {
		if os.Getenv("PGRYW_REQUIRE_POSTGRES") == "1" {
			t.Fatal("no PostgreSQL in /usr/lib/postgresql")
		}
		t.Skip("no PostgreSQL in /usr/lib/postgresql")
	}
	return filepath.Dir(slices.Max(found))
}

// libraries returns the shared libraries that programs need.
func libraries(t *testing.T, programs []string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ldd", programs...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for field := range strings.FieldsSeq(string(out)) { // libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x7f)
		if strings.HasPrefix(field, "/") && !strings.HasSuffix(field, ":") {
			paths = append(paths, field)
		}
	}
	return paths
}

// docker runs Docker's client and returns what it printed.
func docker(t *testing.T, stdin io.Reader, args ...string) string {
	t.Helper()
	cmd := exec.Command("docker", args...) // also after the end of the test's context
	cmd.Stdin = stdin
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("docker %s: %v: %s", args[0], err, out)
	}
	return strings.TrimSpace(string(out))
}
