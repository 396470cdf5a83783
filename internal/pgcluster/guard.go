package pgcluster

import (
	_ "embed" // for guardScript
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

//go:embed guard.sh
var guardScript string

// guard is the process that ends the servers and removes the folder once this
// program closes its end of a pipe or dies. It is the only way a cluster ends,
// so that the way taken after a SIGKILL is the one that every test takes.
type guard struct {
	process  *exec.Cmd
	lifeline *os.File
}

// startGuard starts the guard of the cluster in dir.
func startGuard(dir string) (*guard, error) {
	r, w, err := os.Pipe() // close-on-exec: no server holds the lifeline
	if err != nil {
		return nil, fmt.Errorf("pgcluster: guard: %w", err)
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", "-c", guardScript, "pgcluster-guard", dir) //nolint:noctx // it outlives every context
	cmd.Dir = "/"
	cmd.Stdin = r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("pgcluster: guard: %w", err), w.Close())
	}
	return &guard{process: cmd, lifeline: w}, nil
}

// end makes the guard do its work. Blocks until it has.
func (g *guard) end() error {
	err := g.lifeline.Close()
	if waitErr := g.process.Wait(); waitErr != nil {
		err = errors.Join(err, fmt.Errorf("pgcluster: guard: %w", waitErr))
	}
	return err
}
