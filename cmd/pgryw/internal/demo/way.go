package demo

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/pgryw/pgryw/cmd/pgryw/internal/servers"
	"github.com/pgryw/pgryw/router"
)

// way is a manner of using the servers: which handle writes and which read.
type way struct {
	name   string
	number int // tells the profiles of this way
	writes *sql.DB
	reads  []*sql.DB // in turns
	turn   atomic.Uint64
	// session returns the context of one user's statements.
	session func(context.Context) context.Context
	// routes returns how many statements were routed for which reason.
	routes func() (map[router.Reason]uint64, error)
}

// The ways, in the order in which they run.
var ways = []func(*servers.Cluster, int) (*way, error){onPrimary, naively, withPgryw}

// onPrimary uses pgx and the primary alone: right, and all load on one server.
func onPrimary(c *servers.Cluster, users int) (*way, error) {
	db, err := openPgx(c.NodeDSN(0), users)
	if err != nil {
		return nil, err
	}
	return &way{name: "all on the primary", writes: db, reads: []*sql.DB{db}, session: noSession, routes: noRoutes}, nil
}

// naively uses pgx, writes on the primary and reads from the standbys in turns.
func naively(c *servers.Cluster, users int) (*way, error) {
	w := &way{name: "naive replica reads", session: noSession, routes: noRoutes}
	var err error
	if w.writes, err = openPgx(c.NodeDSN(0), users); err != nil {
		return nil, err
	}
	for i := range c.Standbys() {
		db, err := openPgx(c.NodeDSN(i+1), users)
		if err != nil {
			return nil, errors.Join(err, w.close())
		}
		w.reads = append(w.reads, db)
	}
	return w, nil
}

// openPgx returns a handle of pgx's own driver.
func openPgx(dsn string, users int) (*sql.DB, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.Tracer = witness{}
	db := stdlib.OpenDB(*config)
	db.SetMaxIdleConns(users)
	return db, nil
}

// noSession returns ctx: pgx knows no sessions.
func noSession(ctx context.Context) context.Context { return ctx }

// noRoutes returns nothing: pgx routes nothing.
func noRoutes() (map[router.Reason]uint64, error) { return nil, nil }

// nextReader returns the handle whose turn it is to read.
func (w *way) nextReader() *sql.DB {
	return w.reads[w.turn.Add(1)%uint64(len(w.reads))]
}

// close closes the handles.
func (w *way) close() error {
	err := w.writes.Close()
	for _, db := range w.reads {
		err = errors.Join(err, db.Close())
	}
	return err
}
