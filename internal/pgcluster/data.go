package pgcluster

import (
	"context"
	"fmt"
	"os"
)

// createData makes the data folder of the primary with initdb and copies it for
// the standbys: it has never been started, so a plain copy is a base backup.
func (c *Cluster) createData(ctx context.Context) error {
	primary, standbys := c.nodes[0], c.nodes[1:]
	for _, n := range c.nodes {
		if err := n.createFolder(); err != nil {
			return err
		}
	}
	if err := primary.initdb(ctx); err != nil {
		return err
	}
	for name, content := range c.options.Files {
		if err := c.account.writeFile(primary.inData(name), content); err != nil {
			return fmt.Errorf("pgcluster: %w", err)
		}
	}
	return inParallel(standbys, func(n *Node) error {
		n.upstream = primary
		if err := c.account.run(ctx, c.dir, "cp", "-Rp", primary.data, n.data); err != nil {
			return err
		}
		return n.becomeStandby()
	})
}

// createFolder makes the node's folder, without data.
func (n *Node) createFolder() error {
	if err := os.Mkdir(n.dir, 0o700); err != nil {
		return fmt.Errorf("pgcluster: %w", err)
	}
	if err := n.cluster.account.own(n.dir); err != nil {
		return fmt.Errorf("pgcluster: %w", err)
	}
	return nil
}

// initdb makes the data folder.
//
// Blocks until initdb has ended, about half a second, even if ctx ends before.
// The servers that it runs would leave their shared memory behind if they were
// cut short, or had their data taken away. So nothing interrupts it: the shell
// writes its pid for the guard to wait for, and what it prints goes to a file,
// because a pipe would end with this program.
func (n *Node) initdb(ctx context.Context) error {
	cmd := n.cluster.account.command(context.WithoutCancel(ctx), n.dir,
		"/bin/sh", "-c", `echo $$ >initdb && exec "$@" >initdb.log 2>&1`, "sh",
		n.cluster.binaries.program("initdb"), "--pgdata", n.data, "--username", Superuser, "--auth", "trust",
		"--no-sync", "--no-locale", "--encoding", "UTF8", "--wal-segsize", "1", "--no-instructions")
	if err := cmd.Run(); err != nil {
		printed, _ := os.ReadFile(n.inDir("initdb.log")) // the error may be that there is none
		return fmt.Errorf("pgcluster: initdb: %w: %s", err, printed)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("pgcluster: initdb: %w", context.Cause(ctx))
	}
	return nil
}
