package driver

import (
	"context"
	sqldriver "database/sql/driver"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// unwrapper is a connection of this driver.
type unwrapper interface {
	Unwrap(ctx context.Context) (*pgx.Conn, error)
}

// Unwrap returns the primary's *pgx.Conn behind a connection of this driver,
// for use in the callback of (*sql.Conn).Raw: CopyFrom, LISTEN, SendBatch and
// the like. It finds the way through wrappers that have a method
// Raw() driver.Conn. The checkout is pinned to that connection.
//
// Errors: driverConn is no connection of this driver; those of connecting to
// the primary.
// Cost: none, or that of a new connection to the primary.
// Concurrency: the connection must not be used after the callback has returned.
func Unwrap(ctx context.Context, driverConn any) (*pgx.Conn, error) {
	for {
		switch c := driverConn.(type) {
		case unwrapper:
			return c.Unwrap(ctx)
		case interface{ Raw() sqldriver.Conn }:
			driverConn = c.Raw()
		default:
			return nil, fmt.Errorf("pgryw: %T is no connection of this driver", driverConn)
		}
	}
}
