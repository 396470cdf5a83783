package servers_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pgryw/pgryw/cmd/pgryw/internal/servers"
)

// fakeDocker puts a program named docker, a shell script, ahead on PATH.
func fakeDocker(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte("#!/bin/sh\n"+script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// withImage is a fake Docker that has an image and a way to run it.
const withImage = `case $1 in
version) echo 28.0 ;;
image) case $2 in ls) echo sha256:1; echo sha256:1 ;; inspect) echo '[{"Id": "sha256:1", "RepoTags": ["postgres:17"], "Config": {"Env": ["PG_MAJOR=17"], "Labels": null}}]' ;; esac ;;
run) `

func TestWithoutAnImageDockerIsAbsent(t *testing.T) {
	for name, test := range map[string]struct{ script, want string }{
		"no daemon": {
			"echo 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock.' >&2; exit 1",
			"docker version: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.",
		},
		"a client that only fails": {"exit 3", "docker version: exit status 3"},
		"no image":                 {"[ $1 = image ] || echo 28.0", "Docker has no image"},
		"no image of a server": {
			`case "$1 $2" in "image ls") echo sha256:1 ;; "image inspect") echo '[{"Id": "sha256:1", "RepoTags": ["alpine:3"]}]' ;; *) echo 28.0 ;; esac`,
			"Docker has no image of PostgreSQL 14 or later",
		},
	} {
		t.Run(name, func(t *testing.T) {
			fakeDocker(t, test.script)
			_, err := servers.Start(t.Context(), servers.Options{Source: servers.Docker})
			if want := "no PostgreSQL to run on: " + test.want; !errors.Is(err, servers.ErrAbsent) || err.Error() != want {
				t.Errorf("got error %v, want %q", err, want)
			}
		})
	}
}

func TestWithoutDockersClientDockerIsAbsent(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := servers.Start(t.Context(), servers.Options{Source: servers.Docker})
	if want := "no PostgreSQL to run on: there is no Docker here"; !errors.Is(err, servers.ErrAbsent) || err.Error() != want {
		t.Errorf("got error %v, want %q", err, want)
	}
}

func TestADockerWhoseAnswerIsNotUnderstoodIsAnError(t *testing.T) {
	fakeDocker(t, "echo garbage")
	_, err := servers.Start(t.Context(), servers.Options{Source: servers.Docker})
	if err == nil || errors.Is(err, servers.ErrAbsent) || !strings.Contains(err.Error(), "docker image inspect") {
		t.Errorf("got error %v, want what was not understood", err)
	}
}

func TestAContainerThatEndsIsAnErrorWithWhatItSaid(t *testing.T) {
	fakeDocker(t, withImage+"echo 'initdb: error: no space left' >&2; exit 1 ;; esac")
	begin := time.Now()
	_, err := servers.Start(t.Context(), servers.Options{Source: servers.Docker})
	if want := "the container with the servers ended: initdb: error: no space left"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %q", err, want)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %s, want no wait for servers that cannot come", took)
	}
}

func TestTheContainerIsOfTheImageAndReachableFromHereOnly(t *testing.T) {
	arguments := filepath.Join(t.TempDir(), "arguments")
	fakeDocker(t, withImage+`printf '%s\n' "$@" >`+arguments+"; exit 1 ;; esac")
	_, err := servers.Start(t.Context(), servers.Options{Source: servers.Docker, Standbys: 1, Port: 15999, ApplyDelay: time.Second})
	if err == nil {
		t.Fatal("a container that ended at once is no error")
	}
	content, err := os.ReadFile(arguments)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(string(content)), " ")
	for _, want := range []string{
		"run --rm --interactive ", " --user postgres ", " --env PGPASSWORD ",
		" --publish 127.0.0.1:15999:15999 --publish 127.0.0.1:16000:16000 sha256:1 -c ", " pgryw 15999 1 1000 100",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got docker %s, want it to contain %q", got, want)
		}
	}
}
