// Package lsn holds the nouns of read-your-writes on PostgreSQL: a position in
// a cluster's write-ahead log, the fence that a read must see, and the session
// that carries fences through a program. It does no I/O.
package lsn
