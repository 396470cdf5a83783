// Package pgcluster runs a real PostgreSQL primary and its streaming standbys
// from the binaries on this machine, for tests that need real servers and real
// faults. A cluster is up in about two seconds and leaves nothing behind, also
// when the test process is killed.
//
//	func TestReadAfterWrite(t *testing.T) {
//		c := pgcluster.New(t, pgcluster.Options{Standbys: 2})
//		db, err := sql.Open("pgryw", c.DSN())
//		...
//		if err := c.Standby(0).PauseReplay(ctx); err != nil { ... }
//		mark := c.Mark()
//		db.QueryContext(ctx, "SELECT total FROM orders")
//		nodes, err := c.Ran(mark, "FROM orders") // who executed it?
//	}
//
// # Servers
//
// Nodes are numbered from 0; node 0 is the first primary. They listen on
// 127.0.0.1, on a port that they keep until Close, and trust [Superuser]. The
// folder lies in /dev/shm where that has room. When the program runs as root,
// the servers run as postgres or nobody. fsync and autovacuum are off and
// max_standby_streaming_delay is -1 unless [Options] say otherwise, so that
// little but the test writes WAL and nothing but the test cancels reads.
// PostgreSQL 14 is the oldest that works; the newest on the machine is taken,
// or the one in the folder that PGRYW_POSTGRES_BIN names. Linux and Darwin.
//
// # Faults
//
// Methods of [Node] delay, pause, stop, kill, freeze, promote, detach and
// repoint one server. Each returns when its effect has been seen, not when it
// has been asked for; each wait ends with its context and after 30 s at most.
// One that needs the server while it is frozen or stopped returns an error.
//
//	old, next := c.Primary(), c.Standby(0)
//	err = errors.Join(old.Kill(ctx), next.Promote(ctx), c.Standby(1).Repoint(ctx, next), old.Rejoin(ctx, next))
//
// # What ran where
//
// Every server logs every statement before executing it, with one write to its
// file, so that the line is there before the client has its answer: no flush
// has to be waited for. [Cluster.Mark] remembers a point in all logs and
// [Node.Statements] and [Cluster.Ran] read from there. What this package itself
// executes is left out.
//
// # The end
//
// A small shell process holds the other end of a pipe whose only writer is this
// program. When the pipe closes, by Close or by the death of the program, it
// ends the servers and removes the folder.
package pgcluster
