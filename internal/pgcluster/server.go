package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// errPortTaken says that another process listens on the node's port.
var errPortTaken = errors.New("pgcluster: port is taken")

// server is a running postmaster.
type server struct {
	process *exec.Cmd
	exited  chan struct{} // closed once the process has been waited for
}

// pid returns that of the postmaster.
func (s *server) pid() int { return s.process.Process.Pid }

// alive says whether the postmaster has not exited.
func (s *server) alive() bool {
	select {
	case <-s.exited:
		return false
	default:
		return true
	}
}

// startFirst starts the node for the first time, on the port that it is told or
// else on one that it finds.
func (n *Node) startFirst(ctx context.Context) error {
	n.fault.Lock()
	defer n.fault.Unlock()
	if first := n.cluster.options.Port; first != 0 {
		n.port = first + n.number
		return n.launch(ctx)
	}
	var err error
	for range 10 {
		if n.port, err = freePort(ctx); err != nil {
			return err
		}
		if err = n.launch(ctx); !errors.Is(err, errPortTaken) {
			return err
		}
	}
	return err
}

// Start starts a stopped or killed node again, on its port.
//
// Blocks until it accepts connections and stops when ctx ends; the node is
// stopped then.
func (n *Node) Start(ctx context.Context) error {
	n.fault.Lock()
	defer n.fault.Unlock()
	return n.start(ctx)
}

// start is Start for a caller that holds n.fault. It waits for a port that
// somebody else has taken meanwhile.
func (n *Node) start(ctx context.Context) error {
	if n.isUp() {
		return fmt.Errorf("pgcluster: %s is running", n.Name())
	}
	return poll(ctx, n.Name()+" to start", func(ctx context.Context) (bool, string, error) {
		err := n.launch(ctx)
		if errors.Is(err, errPortTaken) {
			return false, err.Error(), nil
		}
		return err == nil, "", err
	})
}

// launch starts the postmaster and waits until it is ready.
//
// The shell writes the pid file of the guard before it becomes the postmaster,
// so that no postmaster is ever unknown to the guard. Standard error is the log.
func (n *Node) launch(ctx context.Context) error {
	if err := n.writeConfig(); err != nil {
		return err
	}
	log, err := os.OpenFile(n.inDir("log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("pgcluster: %w", err)
	}
	defer log.Close()
	mark, err := n.logSize()
	if err != nil {
		return err
	}
	cmd := n.cluster.account.command(context.WithoutCancel(ctx), n.dir, "/bin/sh", "-c", `echo $$ >pid && exec "$@"`, "sh",
		n.cluster.binaries.program("postgres"), "-D", n.data, "-c", "config_file="+n.inDir("postgresql.conf"))
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("pgcluster: %s: %w", n.Name(), err)
	}
	s := &server{process: cmd, exited: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in the log
		close(s.exited)
	}()
	n.server, n.frozen = s, false
	err = poll(ctx, n.Name()+" to accept connections", func(context.Context) (bool, string, error) {
		if !s.alive() {
			return false, "", n.exitError(mark)
		}
		status := n.postmasterStatus(s.pid())
		return status == "ready", status, nil
	})
	if err != nil && n.isUp() {
		err = errors.Join(err, n.stop(context.WithoutCancel(ctx), syscall.SIGQUIT))
	}
	return err
}

// exitError tells from the log since mark why the server did not start.
func (n *Node) exitError(mark int64) error {
	n.server = nil
	text, err := n.readLog(mark)
	if err != nil {
		return err
	}
	if strings.Contains(text, "Address already in use") {
		return fmt.Errorf("%w: %s", errPortTaken, n.Addr())
	}
	return fmt.Errorf("pgcluster: %s did not start: %s", n.Name(), text)
}

// Lines of postmaster.pid, from 0.
//
// Source: src/include/utils/pidfile.h, PostgreSQL 15.
const (
	pidLine          = 0
	sharedMemoryLine = 6
	statusLine       = 7
)

// postmasterStatus returns the state that the postmaster with this pid has
// written to its lock file: "ready" once it accepts connections, on a standby
// too; "" if it has not written any.
func (n *Node) postmasterStatus(pid int) string {
	lines := n.lockFile()
	if len(lines) <= statusLine || lines[pidLine] != strconv.Itoa(pid) {
		return ""
	}
	return strings.TrimSpace(lines[statusLine])
}

// lockFile returns the lines of postmaster.pid, none if there is none.
func (n *Node) lockFile() []string {
	content, _ := os.ReadFile(n.inData("postmaster.pid"))
	return strings.Split(string(content), "\n")
}

// isUp says whether there is a server, frozen or not.
func (n *Node) isUp() bool { return n.server != nil && n.server.alive() }

// responsive returns an error if the node is stopped or frozen.
func (n *Node) responsive() error {
	switch {
	case !n.isUp():
		return fmt.Errorf("pgcluster: %s is not running", n.Name())
	case n.frozen:
		return fmt.Errorf("pgcluster: %s is frozen", n.Name())
	default:
		return nil
	}
}

// Stop shuts the node down in the fast mode: sessions are ended, a checkpoint
// is written, and a primary sends all WAL to its standbys.
//
// Blocks until the server is gone and stops when ctx ends.
func (n *Node) Stop(ctx context.Context) error {
	n.fault.Lock()
	defer n.fault.Unlock()
	return n.stop(ctx, syscall.SIGINT)
}

// StopImmediate shuts the node down without a checkpoint: it recovers at its
// next start.
//
// Blocks until the server is gone and stops when ctx ends.
func (n *Node) StopImmediate(ctx context.Context) error {
	n.fault.Lock()
	defer n.fault.Unlock()
	return n.stop(ctx, syscall.SIGQUIT)
}

// stop sends the postmaster a signal that ends it.
func (n *Node) stop(ctx context.Context, signal syscall.Signal) error {
	if err := n.responsive(); err != nil {
		return err
	}
	if err := n.server.process.Process.Signal(signal); err != nil {
		return fmt.Errorf("pgcluster: %s: %w", n.Name(), err)
	}
	if err := poll(ctx, n.Name()+" to stop", func(context.Context) (bool, string, error) {
		return !n.server.alive(), n.postmasterStatus(n.server.pid()), nil
	}); err != nil {
		return err
	}
	n.server = nil
	return nil
}

// Restart is Stop and Start.
func (n *Node) Restart(ctx context.Context) error {
	n.fault.Lock()
	defer n.fault.Unlock()
	if err := n.stop(ctx, syscall.SIGINT); err != nil {
		return err
	}
	return n.start(ctx)
}

// reap waits for the postmaster, which the guard has ended.
func (n *Node) reap() {
	n.fault.Lock()
	defer n.fault.Unlock()
	if n.server != nil {
		<-n.server.exited
		n.server = nil
	}
}
