package pgcluster

import (
	"context"
	"fmt"
	"os"
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

// freeze stops the postmaster first, so that it forks no more. The guard learns
// of every process before it is stopped, to wake it.
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
	if !n.isUp() || !n.frozen {
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
