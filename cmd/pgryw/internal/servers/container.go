package servers

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// endPatience is how long a container may take to end by itself.
const endPatience = 10 * time.Second

// container is one that runs until its standard input ends. Docker's client
// holds that, and this program the client's, so that the container ends with
// this program even when it is killed.
type container struct {
	name     string
	lifeline io.Closer
	output   *tail
	exited   chan struct{} // closed once the client has been waited for
}

// startContainer runs Docker's client with args, and variable in its
// environment.
func startContainer(name string, args []string, variable string) (*container, error) {
	c := &container{name: name, output: &tail{}, exited: make(chan struct{})}
	cmd := exec.Command("docker", args...) //nolint:noctx // its lifeline ends it
	cmd.Env = append(os.Environ(), variable)
	cmd.Stdout, cmd.Stderr = c.output, c.output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a terminal's Ctrl-C does not reach it
	var err error
	if c.lifeline, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // how it ended is in its output
		close(c.exited)
	}()
	return c, nil
}

// waitReady blocks until a server in the container accepts connections, and
// stops when ctx ends or the container does.
func (c *container) waitReady(ctx context.Context, dsn string) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		conn, err := pgx.Connect(ctx, dsn)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("the servers in the container do not answer: %w (last: %s)", context.Cause(ctx), oneLine(err.Error()))
		case <-c.exited:
			return fmt.Errorf("the container with the servers ended: %s", oneLine(c.output.String()))
		}
	}
}

// end ends the container.
//
// Blocks until it is gone, for endPatience and an answer of Docker's at most.
func (c *container) end() error {
	_ = c.lifeline.Close() // fails only if the client is gone already
	timer := time.NewTimer(endPatience)
	defer timer.Stop()
	select {
	case <-c.exited:
		return nil
	case <-timer.C:
		_, err := docker(context.Background(), "rm", "--force", c.name)
		return err
	}
}

// tail keeps the end of what is written to it.
//
// Concurrency: safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte // guarded by mu
}

// tailBytes is how much a tail keeps.
const tailBytes = 400

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailBytes):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// oneLine returns text as one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
