package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// Kill ends all processes of the node with SIGKILL, frozen or not. Clients see
// their connections closed; the node recovers at its next start.
//
// Blocks until no process is left and stops when ctx ends.
func (n *Node) Kill(ctx context.Context) error {
	n.fault.Lock()
	defer n.fault.Unlock()
	if !n.isUp() {
		return fmt.Errorf("pgcluster: %s is not running", n.Name())
	}
	return n.kill(ctx)
}

// end is Kill for a node that need not run.
func (n *Node) end(ctx context.Context) error {
	n.fault.Lock()
	defer n.fault.Unlock()
	return n.kill(ctx)
}

// kill freezes the node first, so that no child can be born that is not known,
// and outlive the postmaster.
func (n *Node) kill(ctx context.Context) error {
	if !n.isUp() {
		n.server = nil
		return nil
	}
	if err := n.freeze(ctx); err != nil {
		return err
	}
	members, err := family(ctx, n.server.pid())
	if err != nil {
		return err
	}
	for _, p := range members {
		if err := signal(p.pid, syscall.SIGKILL); err != nil {
			return err
		}
	}
	<-n.server.exited
	if err := poll(ctx, n.Name()+" to be gone", func(ctx context.Context) (bool, string, error) {
		return haveEnded(ctx, members)
	}); err != nil {
		return err
	}
	n.server, n.frozen = nil, false
	return errors.Join(n.writeFrozen(nil), n.removeRemains(ctx))
}

// removeRemains removes what a killed postmaster leaves and a power failure
// would not: its lock file, whose pid may soon be another process's, and its
// System V shared memory segment, which nobody would remove if the node is not
// started again.
func (n *Node) removeRemains(ctx context.Context) error {
	lines := n.lockFile()
	if len(lines) > sharedMemoryLine {
		if fields := strings.Fields(lines[sharedMemoryLine]); len(fields) == 2 {
			// No ipcrm on this machine: 56 bytes stay until the next boot.
			_ = exec.CommandContext(ctx, "ipcrm", "-m", fields[1]).Run()
		}
	}
	if err := os.Remove(n.inData("postmaster.pid")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("pgcluster: %w", err)
	}
	return nil
}

// KillBackend ends one backend with SIGKILL. The postmaster then ends all
// others, as shared memory may be corrupt, and recovers: every connection is
// lost, and the replay of a standby goes back to its last restartpoint.
//
// Blocks until the node accepts connections again and stops when ctx ends.
//
// Errors: pid is no process of this node.
func (n *Node) KillBackend(ctx context.Context, pid int) error {
	n.fault.Lock()
	defer n.fault.Unlock()
	if err := n.responsive(); err != nil {
		return err
	}
	members, err := family(ctx, n.server.pid())
	if err != nil {
		return err
	}
	if pid == n.server.pid() || !slices.ContainsFunc(members, func(p process) bool { return p.pid == pid }) {
		return fmt.Errorf("pgcluster: process %d is no backend of %s", pid, n.Name())
	}
	mark, err := n.logSize()
	if err != nil {
		return err
	}
	if err := signal(pid, syscall.SIGKILL); err != nil {
		return err
	}
	return poll(ctx, n.Name()+" to recover", func(context.Context) (bool, string, error) {
		text, err := n.readLog(mark)
		return strings.Contains(text, "database system is ready to accept"), "", err
	})
}
