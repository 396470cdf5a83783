// Package oracle decides from PostgreSQL's own parse tree what a statement is,
// and compares that with what router.Classify makes of the text alone.
//
// The tree is that of libpg_query, PostgreSQL's parser as a C library. What a
// function or a view of the server does is asked of the router, in a statement
// that holds nothing else: both sides rest on the same table, so that a
// difference is one of reading, not of knowing.
//
// A difference is unsafe if the router would let a statement go where the tree
// forbids it, leave out its capture, or forget state of the session. There may
// be none. It is wasteful if a read is kept from the replicas.
package oracle
