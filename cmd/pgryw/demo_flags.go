package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/pgryw/pgryw/cmd/pgryw/internal/servers"
)

// demoFlags are the flags of the command demo.
type demoFlags struct {
	help     bool // the usage was asked for and has been written
	seed     uint64
	duration time.Duration
	users    int
	delay    time.Duration
	port     int
	servers  servers.Source
}

// The limits of the flags.
const (
	minDuration = time.Second
	maxUsers    = 200
	maxDelay    = 10 * time.Second
	minPort     = 1024
)

// parseDemoFlags parses the arguments of the command demo.
//
// Errors: usageError.
func parseDemoFlags(args []string, stdout io.Writer) (demoFlags, error) {
	f := demoFlags{servers: servers.Auto}
	set := flag.NewFlagSet("pgryw demo", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {} // main says what is wrong, in one sentence
	set.Uint64Var(&f.seed, "seed", 1, "`number` that decides what the users do")
	set.DurationVar(&f.duration, "duration", 5*time.Second, "how long each of the three ways runs")
	set.IntVar(&f.users, "users", 40, "how many users there are at once")
	set.DurationVar(&f.delay, "delay", 250*time.Millisecond, "by how much the standbys are late")
	set.IntVar(&f.port, "port", 0, "port of the primary; the standbys have the next two (default: free ones)")
	set.Func("servers", "where PostgreSQL comes from: `auto, local, docker or download`; auto is the first\n"+
		"of the others that there is; "+servers.RepositoryVariable+" names the repository to\n"+
		"download from, laid out as Maven's (default: auto)", f.setServers)
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		f.help = true
		return f, demoUsage(set, stdout)
	case err != nil:
		return f, usageError(err.Error() + "; pgryw demo -h lists the flags")
	case set.NArg() > 0:
		return f, usageError(fmt.Sprintf("demo takes flags only, not %q; pgryw demo -h lists them", set.Arg(0)))
	}
	return f, f.check()
}

// setServers sets the flag servers.
func (f *demoFlags) setServers(value string) error {
	if f.servers = servers.Source(value); !slices.Contains(servers.Sources, f.servers) {
		return errors.New("not auto, local, docker or download")
	}
	return nil
}

// check reports the first flag that is out of its limits.
func (f *demoFlags) check() error {
	switch {
	case f.duration < minDuration:
		return usageError(fmt.Sprintf("--duration must be %s at least, not %s", minDuration, f.duration))
	case f.users < 1 || f.users > maxUsers:
		return usageError(fmt.Sprintf("--users must be from 1 to %d, not %d", maxUsers, f.users))
	case f.delay < 0 || f.delay > maxDelay:
		return usageError(fmt.Sprintf("--delay must be from 0s to %s, not %s", maxDelay, f.delay))
	case f.port != 0 && (f.port < minPort || f.port > 65535-standbyCount):
		return usageError(fmt.Sprintf("--port must be from %d to %d, not %d", minPort, 65535-standbyCount, f.port))
	}
	return nil
}

// demoUsage writes what the command does and its flags.
func demoUsage(set *flag.FlagSet, w io.Writer) error {
	_, err := fmt.Fprint(w, `Usage: pgryw demo [flags]

Starts a PostgreSQL primary and two standbys that are late, and lets the same
users do the same reads and writes on them three ways: all on the primary, with
naive reads from the standbys, and through pgryw. Exits with 1 if a read through
pgryw missed a write of its own user.

`)
	set.SetOutput(w)
	set.PrintDefaults()
	return err
}
