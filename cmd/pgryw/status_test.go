package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pgryw/pgryw/cmd/pgryw/internal/demo"
)

func TestTheStatusIsOneLineThatIsTakenAway(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := &status{terminal: file}
	s.clear()
	s.show("starting")
	s.progress(demo.Progress{Way: "naive replica reads", Elapsed: 2340 * time.Millisecond, Length: 5 * time.Second, Reads: 1204, StaleReads: 37, StandbyReads: 1204})
	s.clear()
	s.clear()
	got, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	want := "\r\x1b[Kstarting" +
		"\r\x1b[Knaive replica reads  2.3s of 5s    1204 reads     37 stale    1204 from replicas" +
		"\r\x1b[K"
	if string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestWithoutATerminalThereIsNoStatus(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := newStatus(file)
	s.show("starting")
	s.clear()
	if info, err := file.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("got %d bytes, %v, want none", info.Size(), err)
	}
}
