package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Freeze stops all processes of the node with SIGSTOP: connections stay open,
// new ones are accepted by the kernel, and nothing answers.
//
// Blocks until every process has stopped and ends when ctx does.
func (n *Node) Freeze(ctx context.Context) error {
	n.fault.Lock()
	defer n.fault.Unlock()
	if err := n.responsive(); err != nil {
		return err
	}
	return n.freeze(ctx)
}

// freeze stops the postmaster first, so that the number of its children is
// final. The guard learns every process before it is stopped, to wake it.
func (n *Node) freeze(ctx context.Context) error {
	n.frozen = true
	return poll(ctx, n.Name()+" to freeze", func(ctx context.Context) (bool, string, error) {
		members, err := family(ctx, n.server.pid())
		if err != nil {
			return false, "", err
		}
		if err := n.writeFrozen(members); err != nil {
			return false, "", err
		}
		slices.SortFunc(members, func(a, b process) int {
			return strings.Compare(strconv.FormatBool(a.pid != n.server.pid()), strconv.FormatBool(b.pid != n.server.pid()))
		})
		all := true
		for _, p := range members {
			if p.state == 'T' {
				continue
			}
			all = false
			if err := signal(p.pid, syscall.SIGSTOP); err != nil {
				return false, "", err
			}
		}
		return all, fmt.Sprint(len(members), " processes"), nil
	})
}

// Thaw lets a frozen node go on. It does nothing to one that is not frozen.
func (n *Node) Thaw(ctx context.Context) error {
	n.fault.Lock()
	defer n.fault.Unlock()
	if n.server == nil || !n.frozen {
		return nil
	}
	members, err := family(ctx, n.server.pid())
	if err != nil {
		return err
	}
	for _, p := range members {
		if err := signal(p.pid, syscall.SIGCONT); err != nil {
			return err
		}
	}
	n.frozen = false
	return n.writeFrozen(nil)
}

// writeFrozen tells the guard which processes it has to wake.
func (n *Node) writeFrozen(members []process) error {
	var pids strings.Builder
	for _, p := range members {
		fmt.Fprintln(&pids, p.pid)
	}
	if err := os.WriteFile(n.inDir("frozen"), []byte(pids.String()), 0o600); err != nil {
		return fmt.Errorf("pgcluster: %w", err)
	}
	return nil
}

// Kill ends all processes of the node with SIGKILL, as if its machine had lost
// power.
//
// Blocks until none is left.
func (n *Node) Kill() error {
	n.fault.Lock()
	defer n.fault.Unlock()
	if n.server == nil {
		return fmt.Errorf("pgcluster: %s is not running", n.Name())
	}
	return n.kill()
}

// kill freezes the node first, so that no child can be born that is not known,
// and outlive the postmaster.
func (n *Node) kill() error {
	if n.server == nil || !n.server.alive() {
		n.server = nil
		return nil
	}
	ctx := context.Background() // each wait below is bounded by patience
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
		return goneAll(ctx, members)
	}); err != nil {
		return err
	}
	n.server, n.frozen = nil, false
	return errors.Join(n.writeFrozen(nil), n.removeRemains(ctx))
}

// goneAll says whether all these processes have ended.
func goneAll(ctx context.Context, members []process) (bool, string, error) {
	all, err := processes(ctx)
	if err != nil {
		return false, "", err
	}
	for _, p := range all {
		if p.state != 'Z' && slices.ContainsFunc(members, func(m process) bool { return m.pid == p.pid }) {
			return false, fmt.Sprint("process ", p.pid), nil
		}
	}
	return true, "", nil
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
	for _, path := range []string{n.inData("postmaster.pid"), n.inDir("pid")} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("pgcluster: %w", err)
		}
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

// signal sends a signal to a process, which may have ended.
func signal(pid int, s syscall.Signal) error {
	if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("pgcluster: %s to process %d: %w", s, pid, err)
	}
	return nil
}
