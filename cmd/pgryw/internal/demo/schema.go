package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgryw/pgryw/cmd/pgryw/internal/servers"
)

// The statements of the ways, all the same. Each way has profiles of its own, so
// that all begin alike.
const (
	writeProfileSQL = "UPDATE profiles SET revision = $3 WHERE way = $1 AND id = $2"
	readProfileSQL  = "SELECT revision FROM profiles WHERE way = $1 AND id = $2"
	readProductSQL  = "SELECT name FROM products WHERE id = $1"
)

// tablesPatience bounds the making of the tables, also on standbys that are late.
const tablesPatience = 15 * time.Second

// createTables creates the tables and fills them.
//
// Blocks until every standby has them, for tablesPatience at most, and stops
// when ctx ends.
func createTables(ctx context.Context, c *servers.Cluster, users int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, tablesPatience, fmt.Errorf("not within %s", tablesPatience))
	defer cancel()
	primary, err := pgx.Connect(ctx, c.NodeDSN(0))
	if err != nil {
		return err
	}
	defer primary.Close(ctx)
	// One simple Query is one transaction: who sees a table sees its rows.
	_, err = primary.Exec(ctx, fmt.Sprintf(`
		CREATE TABLE profiles (way int, id int, revision int NOT NULL, PRIMARY KEY (way, id));
		CREATE TABLE products (id int PRIMARY KEY, name text NOT NULL);
		INSERT INTO profiles SELECT way, id, 0 FROM generate_series(0, %d) way, generate_series(0, %d) id;
		INSERT INTO products SELECT id, 'product ' || id FROM generate_series(1, %d) id`,
		len(ways)-1, users-1, productCount), pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return err
	}
	for i := range c.Standbys() {
		if err := waitForTables(ctx, c.NodeDSN(i+1)); err != nil {
			return err
		}
	}
	return nil
}

// waitForTables blocks until a standby has the tables, and stops when ctx ends.
func waitForTables(ctx context.Context, dsn string) error {
	standby, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer standby.Close(ctx)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		var there bool
		if err := standby.QueryRow(ctx, "SELECT to_regclass('products') IS NOT NULL").Scan(&there); err != nil {
			return err
		}
		if there {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for a standby to replay: %w", context.Cause(ctx))
		}
	}
}
