// Package conn is the logical connection that database/sql sees: the whole
// database/sql/driver contract over physical connections that it borrows, the
// primary's for a checkout and a replica's for one read. It decides when a
// write is captured, when a read is guarded, what pins a checkout to its
// primary connection, and which errors are driver.ErrBadConn.
//
// Deliberate differences from pgx's own stdlib:
//   - Conn implements driver.Validator, the only sign of a check-in.
//   - A row set, a statement and a transaction are followed to their end, to
//     capture what they wrote.
//   - A prepared statement is a text: it is prepared again on every server
//     connection that it runs on.
//   - Nothing is sent twice, but for a read that a replica has failed before its
//     first row: driver.ErrBadConn is returned only if no byte of the statement
//     was written.
package conn
