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
	// errNotPrimary is why a connection does not serve as the primary's.
	errNotPrimary = errors.New("pgryw: the server is no longer the primary")
)

// NoPrimaryError says that none of the servers is a primary, and what each of
// them is instead.
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
