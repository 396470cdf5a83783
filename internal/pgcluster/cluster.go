package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
)

const (
	// Superuser is the role that DSN names. It needs no password.
	Superuser = "postgres"

	// database is the one that DSN names.
	database = "postgres"

	loopback = "127.0.0.1"
)

// Cluster is a primary and its standbys.
//
// Concurrency: safe for concurrent use. Faults of one node run one at a time;
// faults of different nodes may overlap.
type Cluster struct {
	binaries binaries
	account  account
	dir      string
	guard    *guard
	options  Options
	nodes    []*Node

	close    sync.Once
	closeErr error

	mu      sync.Mutex
	primary *Node // guarded by mu
}

// Start makes a new cluster and starts it.
//
// Blocks until every standby streams from the primary and has replayed
// Options.Setup, and stops when ctx ends. The cluster itself outlives ctx.
//
// Errors: returns ErrNoBinaries if there is no PostgreSQL on this machine. After
// an error nothing is left behind.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	bin, err := findBinaries(ctx)
	if err != nil {
		return nil, err
	}
	who, err := serverAccount()
	if err != nil {
		return nil, err
	}
	dir, err := newFolder(ctx, options.Dir, who)
	if err != nil {
		return nil, err
	}
	g, err := startGuard(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c := &Cluster{binaries: bin, account: who, dir: dir, guard: g, options: options}
	for i := range options.Standbys + 1 {
		c.nodes = append(c.nodes, newNode(c, i))
	}
	c.primary = c.nodes[0]
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.end(context.WithoutCancel(ctx)))
	}
	return c, nil
}

// start creates the data folders and starts the servers.
func (c *Cluster) start(ctx context.Context) error {
	if err := c.createData(ctx); err != nil {
		return err
	}
	primary, standbys := c.nodes[0], c.nodes[1:]
	if err := primary.startFirst(ctx); err != nil {
		return err
	}
	if c.options.Setup != "" {
		if err := primary.Exec(ctx, c.options.Setup); err != nil {
			return err
		}
	}
	if err := inParallel(standbys, func(n *Node) error {
		if err := n.startFirst(ctx); err != nil {
			return err
		}
		return n.waitStreaming(ctx)
	}); err != nil {
		return err
	}
	return c.CatchUp(ctx)
}

// inParallel calls f for all nodes at once and returns what failed.
func inParallel(nodes []*Node, f func(*Node) error) error {
	errs := make([]error, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() { errs[i] = f(n) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Close ends all servers at once, without a checkpoint, and removes the folder.
// It may be called again, and returns the same.
//
// Blocks until no process is left, about 50 ms; it gives up on one that does not
// end in 10 s.
func (c *Cluster) Close() error {
	c.close.Do(func() { c.closeErr = c.end(context.Background()) })
	return c.closeErr
}

// end makes the guard end the servers, and does it itself if somebody has ended
// the guard.
func (c *Cluster) end(ctx context.Context) error {
	err := c.guard.end()
	if err != nil {
		for _, n := range c.nodes {
			err = errors.Join(err, n.end(ctx))
		}
		err = errors.Join(err, os.RemoveAll(c.dir))
	}
	for _, n := range c.nodes {
		n.reap()
	}
	if _, statErr := os.Stat(c.dir); statErr == nil {
		err = errors.Join(err, fmt.Errorf("pgcluster: %s could not be removed", c.dir))
	}
	return err
}

// Primary returns the node that was promoted last; node 0 if none was. It may
// be down.
func (c *Cluster) Primary() *Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.primary
}

// Standby returns the i-th node, from 0, of those that are not Primary. It
// panics if there is none.
func (c *Cluster) Standby(i int) *Node { return c.standbys()[i] }

// standbys returns the nodes that are not Primary.
func (c *Cluster) standbys() []*Node {
	primary := c.Primary()
	var standbys []*Node
	for _, n := range c.nodes {
		if n != primary {
			standbys = append(standbys, n)
		}
	}
	return standbys
}

// Nodes returns all nodes by number.
func (c *Cluster) Nodes() []*Node { return append([]*Node(nil), c.nodes...) }

// Version returns PostgreSQL's major version, 15 for 15.18.
func (c *Cluster) Version() int { return c.binaries.major }

// DSN returns a URL with the addresses of nodes, in that order; of all nodes if
// none are given.
func (c *Cluster) DSN(nodes ...*Node) string {
	if len(nodes) == 0 {
		nodes = c.nodes
	}
	addrs := make([]string, len(nodes))
	for i, n := range nodes {
		addrs[i] = n.Addr()
	}
	sslmode := "disable"
	if c.options.Settings["ssl"] == "on" {
		sslmode = "require"
	}
	u := url.URL{
		Scheme: "postgres", User: url.User(Superuser), Host: strings.Join(addrs, ","),
		Path: "/" + database, RawQuery: "sslmode=" + sslmode,
	}
	return u.String()
}
