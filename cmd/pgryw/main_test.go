package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// asProgram is the environment variable that makes the test binary the program.
const asProgram = "PGRYW_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// program prepares a run of the program, with more environment.
func program(t *testing.T, environment []string, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	cmd = exec.Command(os.Args[0], args...) // tests end it with signals
	cmd.Env = append(append(os.Environ(), asProgram+"=1"), environment...)
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

// exitCodeOf returns the code that a program has ended with.
func exitCodeOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	default:
		t.Fatal(err)
		return -1
	}
}

func TestBadInputGetsOneSentence(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, taken, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	const flags = "; pgryw demo -h lists the flags"
	const install = "; install PostgreSQL, or pull its Docker image"
	noImage := fakeDocker(t, "[ $1 = image ] || echo 28.0")
	for name, test := range map[string]struct {
		environment []string
		args        string
		want        string
		code        int
	}{
		"unknown command":     {nil, "dmeo", `there is no command "dmeo"; pgryw help lists them`, exitUsage},
		"unknown flag":        {nil, "demo --sed 1", "flag provided but not defined: -sed" + flags, exitUsage},
		"flag without value":  {nil, "demo --seed", "flag needs an argument: -seed" + flags, exitUsage},
		"bad seed":            {nil, "demo --seed -1", `invalid value "-1" for flag -seed: parse error` + flags, exitUsage},
		"bad duration":        {nil, "demo --duration 5", `invalid value "5" for flag -duration: parse error` + flags, exitUsage},
		"short duration":      {nil, "demo --duration 1ms", "--duration must be 1s at least, not 1ms", exitUsage},
		"no users":            {nil, "demo --users 0", "--users must be from 1 to 200, not 0", exitUsage},
		"too many users":      {nil, "demo --users 201", "--users must be from 1 to 200, not 201", exitUsage},
		"negative delay":      {nil, "demo --delay -1ms", "--delay must be from 0s to 10s, not -1ms", exitUsage},
		"privileged port":     {nil, "demo --port 1023", "--port must be from 1024 to 65533, not 1023", exitUsage},
		"no room for ports":   {nil, "demo --port 65534", "--port must be from 1024 to 65533, not 65534", exitUsage},
		"unknown source":      {nil, "demo --servers cloud", `invalid value "cloud" for flag -servers: not auto, local, docker or download` + flags, exitUsage},
		"an argument":         {nil, "demo now", `demo takes flags only, not "now"; pgryw demo -h lists them`, exitUsage},
		"port taken":          {nil, "demo --port " + taken, "port " + taken + " is taken on 127.0.0.1; choose another with --port", exitUsage},
		"no image":            {noImage, "demo --servers docker", "no PostgreSQL to run on: Docker has no image" + install, exitUsage},
		"no such binaries":    {[]string{"PGRYW_POSTGRES_BIN=/nonexistent"}, "demo --servers local", "pgcluster: PGRYW_POSTGRES_BIN: stat /nonexistent/initdb: no such file or directory", exitFailed},
		"nothing to download": {unreachableRepository(t), "demo --servers download", "no PostgreSQL to run on: PostgreSQL 18.3.0 cannot be downloaded: unable to connect to http://127.0.0.1:1" + install, exitUsage},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, stdout, stderr := program(t, test.environment, strings.Fields(test.args)...)
			if got := exitCodeOf(t, cmd.Run()); got != test.code {
				t.Errorf("got exit code %d, want %d", got, test.code)
			}
			if got, want := stderr.String(), "pgryw: "+test.want+"\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if stdout.Len() > 0 {
				t.Errorf("got %q on standard output, want nothing", stdout)
			}
		})
	}
}

// fakeDocker returns an environment with a program named docker, a shell script.
func fakeDocker(t *testing.T, script string) []string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/docker", []byte("#!/bin/sh\n"+script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	return []string{"PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")}
}

// unreachableRepository returns an environment with a repository that nobody
// serves, and nothing downloaded before.
func unreachableRepository(t *testing.T) []string {
	t.Helper()
	return []string{"PGRYW_POSTGRES_REPOSITORY=http://127.0.0.1:1", "HOME=" + t.TempDir(), "XDG_CACHE_HOME=" + t.TempDir()}
}

func TestHelpListsTheCommandsAndTheirFlags(t *testing.T) {
	for args, want := range map[string]string{
		"":           "  demo    run the same reads and writes three ways",
		"help":       "  demo    run the same reads and writes three ways",
		"--help":     "  demo    run the same reads and writes three ways",
		"demo -h":    "-duration duration\n    \thow long each of the three ways runs (default 5s)",
		"demo -help": "PGRYW_POSTGRES_REPOSITORY",
	} {
		cmd, stdout, stderr := program(t, nil, strings.Fields(args)...)
		if got := exitCodeOf(t, cmd.Run()); got != 0 || stderr.Len() > 0 {
			t.Errorf("%q: got exit code %d and %q, want success", args, got, stderr)
		}
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%q: got %q, want it to contain %q", args, stdout, want)
		}
	}
}
