package pgcluster

import (
	"context"
	"errors"
	"os"
)

// TB is what New needs of a testing.TB.
type TB interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Failed() bool
	Logf(format string, args ...any)
	Skip(args ...any)
	Fatal(args ...any)
	Errorf(format string, args ...any)
}

// New starts a cluster for a test and closes it at the test's end. If the test
// has failed, the ends of the servers' logs are logged then.
//
// Without PostgreSQL on this machine it skips the test; with
// PGRYW_REQUIRE_POSTGRES=1 in the environment it fails it instead.
func New(t TB, options Options) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), options)
	if errors.Is(err, ErrNoBinaries) && os.Getenv("PGRYW_REQUIRE_POSTGRES") != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, n := range c.nodes {
				t.Logf("end of the log of %s:\n%s", n.Name(), n.logTail(8<<10))
			}
		}
		if err := c.Close(); err != nil {
			t.Errorf("%v", err)
		}
	})
	return c
}

// logTail returns the last bytes of the log.
func (n *Node) logTail(sizeBytes int) string {
	text, err := n.readLog(0)
	if err != nil {
		return err.Error()
	}
	return text[max(0, len(text)-sizeBytes):]
}
