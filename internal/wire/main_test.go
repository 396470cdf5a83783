package wire

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain fails if goroutines of this package, or of pgx on its behalf, are
// left when all tests have ended.
func TestMain(m *testing.M) {
	code := m.Run()
	if cluster.c != nil {
		if err := cluster.c.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if left := leftGoroutines(5 * time.Second); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines left behind:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// leftGoroutines waits until no goroutine is left, and returns those that are
// after the time given. Closed connections take a moment to end theirs.
func leftGoroutines(patience time.Duration) string {
	deadline := time.Now().Add(patience)
	buf := make([]byte, 1<<20)
	for {
		var left []string
		for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if (strings.Contains(g, "internal/wire.") || strings.Contains(g, "jackc/pgx")) && !strings.Contains(g, "TestMain") {
				left = append(left, g)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return strings.Join(left, "\n\n")
		}
		runtime.Gosched()
	}
}
