// Package topology knows the servers of one cluster: which addresses there are,
// what each server says of itself, which one is the primary, how far the others
// have replayed; and it lends out physical connections to them.
//
// One goroutine a node, its probe, asks the server on a connection of its own.
// What the probes, and the guards and captures of statements, find out becomes
// a router.Snapshot, which decisions read without a lock.
//
// # Locks
//
// Cluster.mu guards what is known of all nodes. It is held for computations
// only: no server, hook or logger is waited for under it. node.asking is held
// while a node is probed; Cluster.mu may be taken under it, never the other way
// round. What statements read on their way, the snapshot, a node's pair and its
// era, is atomic.
package topology
