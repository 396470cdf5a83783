// Package router holds the pure decisions: what a statement is, and, by its
// class, its fence, a snapshot of the servers and the policy, where it runs and
// why. It touches no sockets, clocks or goroutines.
package router
