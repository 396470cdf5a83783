package main

import (
	"bufio"
	"net"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pgryw/pgryw/internal/pgcluster"
)

// needServers skips the test if there is no PostgreSQL on this machine.
func needServers(t *testing.T) {
	t.Helper()
	pgcluster.New(t, pgcluster.Options{})
}

// serverAddr matches the address of a server.
var serverAddr = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// checkGone checks that nobody answers at the addresses any more, or soon.
func checkGone(t *testing.T, addrs []string) {
	t.Helper()
	if got, want := len(addrs), 3; got != want {
		t.Fatalf("got the addresses %s, want %d", addrs, want)
	}
	limit := time.Now().Add(20 * time.Second)
	for _, addr := range addrs {
		for {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				break
			}
			conn.Close()
			if time.Now().After(limit) {
				t.Fatalf("%s still answers", addr)
			}
		}
	}
}

func TestDemoShowsThatOnlyNaiveReadsAreStale(t *testing.T) {
	needServers(t)
	begin := time.Now()
	cmd, stdout, stderr := program(t, []string{"PGHOST=/nowhere", "PGTARGETSESSIONATTRS=read-write"},
		"demo", "--duration", "2s", "--users", "10", "--seed", "3")
	if got := exitCodeOf(t, cmd.Run()); got != 0 || stderr.Len() > 0 {
		t.Fatalf("got exit code %d and %q, want success", got, stderr)
	}
	if took := time.Since(begin); took > 25*time.Second {
		t.Errorf("took %s", took)
	}
	for _, want := range []string{
		`^Servers: PostgreSQL \d+, installed here
         primary 127\.0\.0\.1:\d+, standbys 127\.0\.0\.1:\d+ and 127\.0\.0\.1:\d+, 250ms late
Users:   10, 2s each way, seed 3

 +reads  stale reads of own writes  read from replicas +p50 +p95
`,
		`\n  all on the primary +\d+ +0 of \d+ +0\.0 %`,
		`\n  naive replica reads +\d+ +[1-9]\d* of \d+ +100\.0 %`,
		`\n  pgryw +\d+ +0 of \d+ +[1-9]\d\.\d %`,
		`\nHow pgryw routed its \d+ statements:\n +\d+  `,
		`\n +\d+  replica  fresh `,
		`\n +\d+  primary  write `,
	} {
		if !regexp.MustCompile(want).MatchString(stdout.String()) {
			t.Errorf("got\n%s\nwant it to match %s", stdout, want)
		}
	}
	checkGone(t, serverAddr.FindAllString(stdout.String(), -1))
}

func TestASignalEndsTheDemoAndItsServers(t *testing.T) {
	needServers(t)
	for _, test := range []struct {
		signal syscall.Signal
		code   int // -1 for a program that was killed
		stderr string
	}{
		{syscall.SIGINT, exitInterrupted, "pgryw: interrupted\n"},
		{syscall.SIGTERM, exitInterrupted, "pgryw: interrupted\n"},
		{syscall.SIGKILL, -1, ""},
	} {
		t.Run(test.signal.String(), func(t *testing.T) {
			cmd, _, stderr := program(t, nil, "demo", "--duration", "30s")
			cmd.Stdout = nil
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var begun strings.Builder
			for lines := bufio.NewScanner(stdout); !strings.Contains(begun.String(), "Users:") && lines.Scan(); {
				begun.WriteString(lines.Text() + "\n")
			}
			if err := cmd.Process.Signal(test.signal); err != nil {
				t.Fatal(err)
			}
			if got := exitCodeOf(t, cmd.Wait()); got != test.code {
				t.Errorf("got exit code %d, want %d", got, test.code)
			}
			if got := stderr.String(); got != test.stderr {
				t.Errorf("got %q, want %q", got, test.stderr)
			}
			checkGone(t, serverAddr.FindAllString(begun.String(), -1))
		})
	}
}
