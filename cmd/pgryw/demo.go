package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pgryw/pgryw/cmd/pgryw/internal/demo"
	"github.com/pgryw/pgryw/cmd/pgryw/internal/servers"
)

// standbyCount is the number of standbys of the demo.
const standbyCount = 2

// runDemo is the command demo.
//
// Errors: usageError if it could not begin; an error too if pgryw had a stale
// read.
func runDemo(ctx context.Context, args []string, stdout, stderr *os.File) (err error) {
	flags, err := parseDemoFlags(args, stdout)
	if err != nil || flags.help {
		return err
	}
	if err := forgetPostgresEnvironment(); err != nil {
		return err
	}
	status := newStatus(stderr)
	defer status.clear()

	cluster, err := startServers(ctx, flags, status)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Close()) }()
	status.clear()
	if err := introduce(stdout, flags, cluster); err != nil {
		return err
	}
	results, err := demo.Run(ctx, cluster, demo.Options{
		Seed: flags.seed, Users: flags.users, Length: flags.duration, Progress: status.progress,
	})
	status.clear()
	if err != nil {
		return err
	}
	return conclude(stdout, results)
}

// startServers starts the servers of the demo.
func startServers(ctx context.Context, flags demoFlags, status *status) (*servers.Cluster, error) {
	cluster, err := servers.Start(ctx, servers.Options{
		Source: flags.servers, Standbys: standbyCount, ApplyDelay: flags.delay, Port: flags.port,
		MaxConnections: 2*flags.users + 20, Note: status.show,
	})
	switch {
	case errors.Is(err, servers.ErrAbsent):
		return nil, usageError(err.Error() + "; install PostgreSQL, or pull its Docker image")
	case errors.Is(err, servers.ErrPortTaken):
		return nil, usageError(err.Error() + "; choose another with --port")
	}
	return cluster, err
}

// introduce writes what will be run, and on which servers.
func introduce(w io.Writer, flags demoFlags, c *servers.Cluster) error {
	_, err := fmt.Fprintf(w, "Servers: %s\n         primary %s, standbys %s and %s, %s late\nUsers:   %d, %s each way, seed %d\n",
		c.About, c.Addr(0), c.Addr(1), c.Addr(2), flags.delay, flags.users, flags.duration, flags.seed)
	return err
}

// conclude writes what came of the runs.
//
// Errors: pgryw had a stale read.
func conclude(w io.Writer, results []demo.Result) error {
	text := "\n" + demo.Table(results)
	var staleReads int64
	for _, r := range results {
		if r.Way == demo.Pgryw {
			text += "\n" + demo.Reasons(r)
			staleReads = r.StaleReads
		}
	}
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	if staleReads > 0 {
		return fmt.Errorf("%d reads through pgryw missed a write of their own user", staleReads)
	}
	return nil
}

// forgetPostgresEnvironment takes the variables that steer PostgreSQL's clients
// out of the environment: they are meant for other servers than the demo's.
func forgetPostgresEnvironment() error {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "PG") && !strings.HasPrefix(name, "PGRYW_") {
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	return nil
}
