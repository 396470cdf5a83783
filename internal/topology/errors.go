package topology

import (
	"errors"
	"strings"
)

var (
	// ErrBusy is returned for a connection that would have to be queued for.
	ErrBusy = errors.New("pgryw: no connection to the server is free")
	// ErrClosed is returned for a connection that is asked of a closed Cluster.
	ErrClosed = errors.New("pgryw: the handle is closed")

	// errNotPrimary and errNotReplica are why a connection does not serve as
	// what it was asked for.
	errNotPrimary = errors.New("pgryw: the server is not the cluster's primary")
	errNotReplica = errors.New("pgryw: the server is not a replica of the cluster")
)

// NoPrimaryError says that none of the servers is a primary that can be
// reached, and what each of them is instead.
type NoPrimaryError struct {
	nodes []nodeError
}

type nodeError struct {
	label, state string
	err          error
}

func (e *NoPrimaryError) Error() string {
	var b strings.Builder
	b.WriteString("pgryw: no primary among ")
	for i, n := range e.nodes {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(n.label + " (" + n.state)
		if n.err != nil {
			b.WriteString(": " + n.err.Error())
		}
		b.WriteString(")")
	}
	return b.String()
}

// Unwrap returns the servers' own errors, pgx's.
func (e *NoPrimaryError) Unwrap() []error {
	var errs []error
	for _, n := range e.nodes {
		if n.err != nil {
			errs = append(errs, n.err)
		}
	}
	return errs
}

// noPrimary says what each node is instead of a primary. err, if not nil, is
// why node i does not serve as one; it is newer than what the probes know.
func (c *Cluster) noPrimary(i int, err error) error {
	if c.closed.Load() {
		return ErrClosed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &NoPrimaryError{nodes: make([]nodeError, len(c.nodes))}
	for j, n := range c.nodes {
		state := n.role.String()
		if n.role == 0 {
			state = n.trouble.String()
		}
		e.nodes[j] = nodeError{label: n.cfg.Label, state: state, err: n.err}
		if i == j && err != nil {
			e.nodes[j].err = err
		}
	}
	return e
}
