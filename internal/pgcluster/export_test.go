package pgcluster

import (
	"context"
	"os"
)

// Processes are those of a cluster at one time.
type Processes []process

// Processes returns those of all servers, and the guard.
func (c *Cluster) Processes(ctx context.Context) (Processes, error) {
	all := Processes{{pid: c.guard.process.Process.Pid}}
	for _, n := range c.nodes {
		if !n.isUp() {
			continue
		}
		members, err := family(ctx, n.server.pid())
		if err != nil {
			return nil, err
		}
		all = append(all, members...)
	}
	return all, nil
}

// HaveEnded says whether all have, and names one that has not.
func (p Processes) HaveEnded(ctx context.Context) (ended bool, state string, err error) {
	return haveEnded(ctx, p)
}

// Guard returns the process of the guard.
func (c *Cluster) Guard() *os.Process { return c.guard.process.Process }
