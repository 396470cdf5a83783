package servers

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed" // for containerScript
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

//go:embed docker.sh
var containerScript string

// dockerPatience bounds a question to Docker.
const dockerPatience = 10 * time.Second

// docker runs Docker's client to its end and returns what it printed.
//
// Errors: one sentence with what the client complained about.
func docker(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, dockerPatience, fmt.Errorf("no answer within %s", dockerPatience))
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case err == nil:
		return strings.TrimSpace(stdout.String()), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("there is no Docker here")
	case ctx.Err() != nil:
		return "", fmt.Errorf("docker %s: %w", args[0], context.Cause(ctx))
	case stderr.Len() > 0:
		return "", fmt.Errorf("docker %s: %s", args[0], oneLine(stderr.String()))
	default:
		return "", fmt.Errorf("docker %s: %w", args[0], err)
	}
}

// startDocker starts the servers in one container of an image that Docker has
// at hand: its one lifeline ends them all, and Docker forgets the container.
// Only 127.0.0.1 reaches them, with a password made for this cluster.
func startDocker(ctx context.Context, o Options) (*Cluster, error) {
	ctx, cancel := o.limit(ctx)
	defer cancel()
	img, err := findImage(ctx)
	if err != nil {
		return nil, err
	}
	if o.Port == 0 {
		if o.Port, err = freePorts(ctx, o.Standbys+1); err != nil {
			return nil, err
		}
	}
	o.note("starting a primary and %d standbys in a container of %s", o.Standbys, img.name())
	password := rand.Text()
	started := &Cluster{
		About: fmt.Sprintf("PostgreSQL in a Docker container of %s", img.name()),
		user:  url.UserPassword("postgres", password),
	}
	name := "pgryw-" + strings.ToLower(rand.Text())
	args := []string{
		"run", "--rm", "--interactive", "--name", name, "--user", "postgres",
		"--tmpfs", "/pgryw:mode=1777", "--env", "PGPASSWORD", "--entrypoint", "/bin/sh",
	}
	for i := range o.Standbys + 1 {
		args = append(args, "--publish", fmt.Sprintf("%s:%d", addr(o.Port+i), o.Port+i))
		started.addrs = append(started.addrs, addr(o.Port+i))
	}
	args = append(args, img.ID, "-c", containerScript, "pgryw", strconv.Itoa(o.Port), strconv.Itoa(o.Standbys),
		strconv.FormatInt(o.ApplyDelay.Milliseconds(), 10), o.maxConnections())

	c, err := startContainer(name, args, "PGPASSWORD="+password)
	if err != nil {
		return nil, err
	}
	started.close = c.end
	for i := range started.addrs {
		if err := c.waitReady(ctx, started.NodeDSN(i)); err != nil {
			return nil, errors.Join(err, c.end())
		}
	}
	return started, nil
}
