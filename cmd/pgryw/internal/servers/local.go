package servers

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/pgryw/pgryw/internal/pgcluster"
)

// startLocal starts the servers from the binaries of this machine.
func startLocal(ctx context.Context, o Options) (*Cluster, error) {
	c, err := startBinaries(ctx, o)
	if errors.Is(err, pgcluster.ErrNoBinaries) {
		return nil, absent{"no PostgreSQL server is installed here"}
	}
	if err != nil {
		return nil, err
	}
	c.About += ", installed here"
	return c, nil
}

// startBinaries starts the servers from binaries that pgcluster finds.
func startBinaries(ctx context.Context, o Options) (*Cluster, error) {
	ctx, cancel := o.limit(ctx)
	defer cancel()
	o.note("starting a primary and %d standbys", o.Standbys)
	settings := map[string]string{"log_statement": "none", "max_connections": o.maxConnections()}
	delays := make(map[int]map[string]string)
	for i := range o.Standbys {
		delays[i+1] = map[string]string{"recovery_min_apply_delay": fmt.Sprintf("%dms", o.ApplyDelay.Milliseconds())}
	}
	c, err := pgcluster.Start(ctx, pgcluster.Options{
		Standbys: o.Standbys, Port: o.Port, Settings: settings, NodeSettings: delays,
	})
	if err != nil {
		return nil, err
	}
	return Of(c), nil
}

// Of returns the Cluster of servers that run already. Its Close closes theirs.
func Of(running *pgcluster.Cluster) *Cluster {
	c := &Cluster{
		About: fmt.Sprintf("PostgreSQL %d", running.Version()),
		user:  url.User(pgcluster.Superuser),
		close: running.Close,
	}
	for _, n := range running.Nodes() {
		c.addrs = append(c.addrs, n.Addr())
	}
	return c
}
