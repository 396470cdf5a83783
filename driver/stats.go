package driver

import (
	"database/sql"
	"errors"

	"github.com/pgryw/pgryw/conn"
	"github.com/pgryw/pgryw/internal/topology"
)

// Stats is what a handle has done, and what it knows of its servers.
type Stats struct {
	conn.Stats
	// Nodes are the servers of the DSN, in its order. Empty before the first
	// connection.
	Nodes []NodeStats
}

// NodeStats is what is known of one server.
type NodeStats = topology.NodeStats

// StatsOf returns the statistics of a handle, made by sql.Open or sql.OpenDB.
//
// Errors: db is not a handle of this driver, or its driver is wrapped.
// Cost: none: no connection is used, and nothing is asked of a server.
func StatsOf(db *sql.DB) (Stats, error) {
	d, ok := db.Driver().(*boundDriver)
	if !ok {
		return Stats{}, errors.New("pgryw: not a handle of this driver, or a wrapped one")
	}
	return d.connector.Stats(), nil
}

// Stats returns the statistics of the handle that was made of c.
//
// Cost: none.
func (c *Connector) Stats() Stats {
	c.mu.Lock()
	opened, nodes := c.opened, c.nodes
	c.mu.Unlock()
	if opened == nil {
		return Stats{}
	}
	return Stats{Stats: opened.Stats(), Nodes: nodes.Stats()}
}
