package pgryw_test

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pgryw/pgryw/driver"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// The word "pgryw" in place of "pgx" is all that a program changes; what the
// hosts are is found out at the first connection.
func Example() {
	db, err := sql.Open("pgryw",
		"postgres://app@pg-a:5432,pg-b:5432,pg-c:5432/shop?target_session_attrs=read-write")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	fmt.Println("no connection yet:", db.Stats().OpenConnections)
	// Output: no connection yet: 0
}

// A connector takes what no DSN can hold, such as hooks.
func Example_connector() {
	cfg, err := driver.ParseDSN("host=pg-a,pg-b user=app pgryw.scope=conn")
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg.OnRoute = func(_ context.Context, d router.Decision) { fmt.Println(d.Label, d.Reason) }
	connector, err := driver.NewConnector(*cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	fmt.Println(cfg.Postgres, "|", cfg.Scope)
	// Output: host=pg-a,pg-b user=app | conn
}

// A session belongs to one user's thread of work; whatever runs under its
// context, or under one derived from it, waits for its writes only.
func Example_session() {
	ctx := lsn.NewSession(context.Background())
	below, cancel := context.WithCancel(ctx)
	defer cancel()
	fmt.Println(lsn.SessionFrom(ctx) == lsn.SessionFrom(below))
	// Output: true
}
