package wire

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

var update = flag.Bool("update", false, "write testdata/*.golden from the real server")

// transcripts are the flights whose messages are in testdata, by file.
var transcripts = []struct {
	file   string
	paths  []path
	flight Flight
	check  func(t *testing.T, o *Outcome)
}{
	{"capture", writePaths, Flight{Capture: captureQuery}, wantCapture},
	{"guard", readPaths, Flight{Guard: guardQuery, Pass: notInRecovery}, wantGuard},
	{"question", readPaths, Flight{AskXID: AskBehind, Extended: true}, wantNoXID},
	{"ahead", writePaths[4:6], Flight{AskXID: AskAhead, Capture: captureQuery}, wantCapture},
	{"everything", readPaths, Flight{
		Guard: guardQuery, Pass: notInRecovery, AskXID: AskBehind, Extended: true, Capture: captureQuery,
	}, wantEverything},
}

func notInRecovery(row [][]byte) bool { return len(row) == 1 && string(row[0]) == "f" }

func wantCapture(t *testing.T, o *Outcome) {
	t.Helper()
	if o.CaptureErr != nil || len(o.CaptureRow) != 1 || !strings.Contains(string(o.CaptureRow[0]), "/") {
		t.Errorf("capture: got %q, %v", o.CaptureRow, o.CaptureErr)
	}
}

func wantGuard(t *testing.T, o *Outcome) {
	t.Helper()
	if o.Guard != GuardPassed || o.GuardErr != nil {
		t.Errorf("guard: got %d, %v", o.Guard, o.GuardErr)
	}
}

func wantNoXID(t *testing.T, o *Outcome) {
	t.Helper()
	if o.XID != XIDNone {
		t.Errorf("xid: got %d, want XIDNone", o.XID)
	}
}

func wantEverything(t *testing.T, o *Outcome) {
	t.Helper()
	wantCapture(t, o)
	wantGuard(t, o)
	wantNoXID(t, o)
}

func TestTheScriptedServersTranscriptsAreTheGoldenOnes(t *testing.T) {
	server := newScripted(t, scriptedReply)
	compareTranscripts(t, server.config, false)
}

func TestTheRealServersTranscriptsAreTheGoldenOnes(t *testing.T) {
	compareTranscripts(t, realServer(t), *update)
}

func TestAFlightTakesAsManyWritesAsPlainPgx(t *testing.T) {
	server := newScripted(t, scriptedReply)
	for _, tr := range transcripts {
		for _, p := range tr.paths {
			for _, mode := range modes {
				want := writesOf(t, server.config(mode), p, nil)
				if got := writesOf(t, server.config(mode), p, &tr.flight); got != want {
					t.Errorf("%s, %s, %s: got %v Writes, cold and warm, want %v", tr.file, p.name, mode, got, want)
				}
			}
		}
	}
}

// writesOf returns the numbers of Writes of a path's first and second run.
func writesOf(t *testing.T, cfg *pgx.ConnConfig, p path, f *Flight) (writes [2]int) {
	t.Helper()
	var rec recorder
	rec.dial(&cfg.Config)
	open := connect
	if f == nil {
		open = plainConnect
	}
	c := open(t, cfg)
	for i := range writes {
		prepare(t, c, p)
		rec.start()
		if f != nil {
			c.shim.Arm(*f)
		}
		err := p.run(t.Context(), c)
		if f != nil {
			c.shim.Finish()
		}
		_, writes[i] = rec.stop()
		if err != nil {
			t.Fatal(err)
		}
	}
	return writes
}

func compareTranscripts(t *testing.T, config func(pgx.QueryExecMode) *pgx.ConnConfig, write bool) {
	t.Helper()
	for _, tr := range transcripts {
		t.Run(tr.file, func(t *testing.T) {
			var all strings.Builder
			for _, p := range tr.paths {
				for _, mode := range modes {
					fmt.Fprintf(&all, "## %s, %s\n", p.name, mode)
					all.WriteString(transcript(t, config(mode), p, tr.flight, tr.check))
				}
			}
			compareGolden(t, tr.file, all.String(), write)
		})
	}
}

// transcript runs a path twice on a new connection.
func transcript(t *testing.T, cfg *pgx.ConnConfig, p path, f Flight, check func(*testing.T, *Outcome)) string {
	t.Helper()
	var rec recorder
	rec.dial(&cfg.Config)
	c := connect(t, cfg)
	var all strings.Builder
	for _, run := range []string{"cold", "warm"} {
		prepare(t, c, p)
		rec.start()
		c.shim.Arm(f)
		err := p.run(t.Context(), c)
		o := c.shim.Finish()
		text, _ := rec.stop()
		if err != nil {
			t.Fatal(err)
		}
		if !o.Sent || !o.Ended || o.Status != 'I' || o.Broken || o.Draining {
			t.Errorf("%s, %s: got %+v", p.name, run, o)
		}
		check(t, &o)
		fmt.Fprintf(&all, "# %s\n%s\n", run, text)
	}
	return all.String()
}

func compareGolden(t *testing.T, name, got string, write bool) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if write {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range gotLines {
		if i >= len(wantLines) || gotLines[i] != wantLines[i] {
			t.Fatalf("%s line %d:\ngot  %s\nwant %s\nafter\n%s", file, i+1, gotLines[i],
				strings.Join(wantLines[min(i, len(wantLines)):min(i+1, len(wantLines))], ""),
				strings.Join(gotLines[max(0, i-8):i], "\n"))
		}
	}
	if len(gotLines) != len(wantLines) {
		t.Fatalf("%s: got %d lines, want %d", file, len(gotLines), len(wantLines))
	}
}
