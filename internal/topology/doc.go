// Package topology knows the servers of one cluster: which addresses there are,
// what each server says of itself, which one is the primary, how far the others
// have replayed; and it lends out physical connections to them.
//
// One goroutine a node, its probe, asks the server on a connection of its own.
// What the probes, and the guards and captures of statements, find out becomes
// a router.Snapshot, which decisions read without a lock.
package topology
