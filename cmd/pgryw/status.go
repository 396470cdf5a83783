package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/pgryw/pgryw/cmd/pgryw/internal/demo"
)

// status is a line on the terminal that says what is going on. Where there is no
// terminal it shows nothing.
//
// Concurrency: safe for use by any number of goroutines.
type status struct {
	mu       sync.Mutex
	terminal *os.File // nil where there is none
	shown    bool     // guarded by mu
}

// newStatus returns a status on file, if that is a terminal that can move its
// cursor.
func newStatus(file *os.File) *status {
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 || os.Getenv("TERM") == "dumb" {
		return &status{}
	}
	return &status{terminal: file}
}

// show replaces the line.
func (s *status) show(line string) {
	if s.terminal == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = fmt.Fprintf(s.terminal, "\r\x1b[K%s", line) // a terminal that is gone needs none
	s.shown = true
}

// progress shows the state of a run.
func (s *status) progress(p demo.Progress) {
	s.show(fmt.Sprintf("%-19s %4.1fs of %s  %6d reads  %5d stale  %6d from replicas",
		p.Way, p.Elapsed.Seconds(), p.Length.Round(time.Millisecond), p.Reads, p.StaleReads, p.StandbyReads))
}

// clear takes the line away.
func (s *status) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown {
		_, _ = fmt.Fprint(s.terminal, "\r\x1b[K")
		s.shown = false
	}
}
