package demo

import (
	"database/sql"
	"log/slog"
	"os"

	"github.com/pgryw/pgryw/cmd/pgryw/internal/servers"
	"github.com/pgryw/pgryw/driver"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// Pgryw is the name of the way that must have no stale read.
const Pgryw = "pgryw"

// withPgryw uses one handle of pgryw for everything, and a session for each
// user.
func withPgryw(c *servers.Cluster, users int) (*way, error) {
	connector, err := driver.NewConnector(driver.Config{
		Postgres: c.DSN(),
		Tracer:   witness{},
		Logger:   slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxIdleConns(users)
	return &way{
		name: Pgryw, writes: db, reads: []*sql.DB{db}, session: lsn.NewSession,
		routes: func() (map[router.Reason]uint64, error) {
			stats, err := driver.StatsOf(db)
			return stats.Routes, err
		},
	}, nil
}
