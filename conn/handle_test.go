package conn

import (
	"log/slog"
	"testing"

	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/router"
)

// newHandle returns a handle of servers that nobody has asked anything yet:
// positions of system zero are its own.
func newHandle(t *testing.T, policy router.Policy, nodes ...string) *Handle {
	t.Helper()
	var cfg topology.Config
	for _, label := range nodes {
		cfg.Nodes = append(cfg.Nodes, topology.NodeConfig{Label: label})
	}
	cluster := topology.New(cfg)
	t.Cleanup(func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	return NewHandle(Config{Cluster: cluster, Policy: policy, Logger: slog.New(slog.DiscardHandler)})
}
