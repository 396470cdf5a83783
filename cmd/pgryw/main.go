// Command pgryw shows and inspects the pgryw driver.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// The exit codes of a command that did not succeed.
const (
	exitFailed      = 1   // it failed, or found what must not be
	exitUsage       = 2   // it could not begin: bad input, or nothing to run on
	exitInterrupted = 130 // a signal ended it
)

// usageError says in a sentence why a command could not begin.
type usageError string

func (e usageError) Error() string { return string(e) }

// command is a word that may follow pgryw.
type command struct {
	name, summary string
	run           func(ctx context.Context, args []string, stdout, stderr *os.File) error
}

// commands returns all there are, in the order in which they are listed.
func commands() []command {
	return []command{
		{"demo", "run the same reads and writes three ways, on real servers, and compare", runDemo},
		{"bench", "measure what a call costs, beside plain pgx and beside two round trips", runBench},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	var usage usageError
	switch {
	case err == nil:
		return
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "pgryw: interrupted")
		os.Exit(exitInterrupted)
	case errors.As(err, &usage):
		fmt.Fprintln(os.Stderr, sentence(err))
		os.Exit(exitUsage)
	default:
		fmt.Fprintln(os.Stderr, sentence(err))
		os.Exit(exitFailed)
	}
}

// run runs the command that args name.
func run(ctx context.Context, args []string, stdout, stderr *os.File) error {
	if len(args) == 0 {
		return usage(stdout)
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		return usage(stdout)
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, args[1:], stdout, stderr)
		}
	}
	return usageError(fmt.Sprintf("there is no command %q; pgryw help lists them", args[0]))
}

// usage lists the commands.
func usage(w io.Writer) error {
	text := "Usage: pgryw COMMAND [flags]\n\n"
	for _, c := range commands() {
		text += fmt.Sprintf("  %-8s%s\n", c.name, c.summary)
	}
	_, err := io.WriteString(w, text+"\npgryw COMMAND -h lists the flags of a command.\n")
	return err
}

// sentence returns an error as one line that begins with the program's name.
func sentence(err error) string {
	return "pgryw: " + strings.TrimPrefix(strings.Join(strings.Fields(err.Error()), " "), "pgryw: ")
}
