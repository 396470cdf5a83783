package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/pgryw/pgryw/cmd/pgryw/internal/bench"
	"github.com/pgryw/pgryw/internal/pgcluster"
)

// benchFlags are the flags of the command bench.
type benchFlags struct {
	help      bool // the usage was asked for and has been written
	roundTrip time.Duration
	rounds    int
}

// runBench is the command bench.
//
// Errors: usageError if it could not begin.
func runBench(ctx context.Context, args []string, stdout, stderr *os.File) error {
	flags, err := parseBenchFlags(args, stdout)
	if err != nil || flags.help {
		return err
	}
	if err := forgetPostgresEnvironment(); err != nil {
		return err
	}
	status := newStatus(stderr)
	defer status.clear()
	results, err := bench.Run(ctx, bench.Options{
		RoundTrip: flags.roundTrip, Rounds: flags.rounds,
		Progress: func(done, total int) { status.show(fmt.Sprintf("%d of %d cases measured", done, total)) },
	})
	status.clear()
	switch {
	case errors.Is(err, pgcluster.ErrNoBinaries):
		return usageError("no PostgreSQL server is installed here; bench runs on local servers only")
	case err != nil:
		return err
	}
	_, err = fmt.Fprintf(stdout, "One call, median of %d, with a round trip of %s:\n\n%s", flags.rounds, flags.roundTrip, bench.Table(results))
	return err
}

// parseBenchFlags parses the arguments of the command bench.
//
// Errors: usageError.
func parseBenchFlags(args []string, stdout io.Writer) (benchFlags, error) {
	var f benchFlags
	set := flag.NewFlagSet("pgryw bench", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {} // main says what is wrong, in one sentence
	set.DurationVar(&f.roundTrip, "rtt", time.Millisecond, "how long a round trip to a server takes; 0 adds nothing to the loopback's")
	set.IntVar(&f.rounds, "rounds", 500, "how often each call is measured, each way")
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		f.help = true
		set.SetOutput(stdout)
		_, err := fmt.Fprintln(stdout, "Usage: pgryw bench [flags]")
		set.PrintDefaults()
		return f, err
	case err != nil:
		return f, usageError(err.Error() + "; pgryw bench -h lists the flags")
	case set.NArg() > 0:
		return f, usageError(fmt.Sprintf("bench takes no argument %q; pgryw bench -h lists the flags", set.Arg(0)))
	case f.roundTrip < 0 || f.roundTrip > time.Second:
		return f, usageError("--rtt must lie between 0 and 1s")
	case f.rounds < 1 || f.rounds > 100_000:
		return f, usageError("--rounds must lie between 1 and 100000")
	}
	return f, nil
}
