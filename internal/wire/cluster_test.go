package wire

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgryw/pgryw/internal/pgcluster"
)

// cluster is the one real server of all tests, started by the first that needs
// it and closed by TestMain.
var cluster struct {
	start sync.Once
	c     *pgcluster.Cluster
	err   error
}

const realSetup = `
drop schema public cascade;
create schema public;
create table t (v text);
insert into t values ('a');
create table parent (id int primary key);
create table child (id int references parent deferrable initially deferred);
create function writes() returns bigint language sql volatile as $$ insert into t values ('w'); select 1::bigint $$;
create view writing as select writes() as v;
`

// realServer returns the configuration of connections to a PostgreSQL whose
// schema is as realSetup says.
func realServer(t testing.TB) func(pgx.QueryExecMode) *pgx.ConnConfig {
	t.Helper()
	cluster.start.Do(func() {
		cluster.c, cluster.err = pgcluster.Start(context.Background(), pgcluster.Options{})
	})
	if errors.Is(cluster.err, pgcluster.ErrNoBinaries) && os.Getenv("PGRYW_REQUIRE_POSTGRES") != "1" {
		t.Skip(cluster.err)
	}
	if cluster.err != nil {
		t.Fatal(cluster.err)
	}
	if err := cluster.c.Primary().Exec(t.Context(), realSetup); err != nil {
		t.Fatal(err)
	}
	return func(mode pgx.QueryExecMode) *pgx.ConnConfig {
		cfg, err := pgx.ParseConfig(cluster.c.DSN())
		if err != nil {
			t.Fatal(err)
		}
		cfg.DefaultQueryExecMode = mode
		return cfg
	}
}
