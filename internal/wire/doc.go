// Package wire adds messages of its own to the flights that pgx sends, and
// takes their answers out of what pgx reads. pgx runs on top unchanged: same
// calls, same values, same errors, same number of round trips. The package
// knows nothing of routing, fences or positions; it asks questions and reports
// answers.
//
// # Where it sits
//
// A [Shim] stands between pgx's pgproto3.Frontend and the socket. [Install]
// puts it there through pgconn.Config.BuildFrontend, so that the net.Conn stays
// the one that pgx dialled: SCRAM channel binding looks for a *tls.Conn there.
//
//	pgx, stdlib -> pgproto3.Frontend -> Shim.Write -> net.Conn
//	pgx, stdlib <- pgproto3.Frontend <- Shim.Read  <- bgreader <- net.Conn
//
// Unarmed, a Write costs one atomic load, and a Read that plus a look at each
// message's header: a message that the server sends by itself, such as a
// notification, may end up cut in two between two flights, so the only proof of
// where a flight's answers begin is to have counted from the first byte.
//
// # A flight
//
// [Shim.Arm] arms the connection, any pgx call follows, [Shim.Finish] reports
// what was learnt. A Write is the flight proper if it carries an Execute or a
// Query; what pgx writes before it (Prepare, Deallocate) passes as it is. With
// everything asked for, one single Write carries:
//
//	guard      [Close Parse] Bind Execute Sync    a named statement
//	user       what pgx wrote, up to its Sync
//	question   Parse Bind Execute                 unnamed, for the xid
//	user       Sync
//	capture    [Close Parse] Bind Execute Sync    a named statement
//
// The named statements are prepared by the first flight that needs them, in
// their own group. Close comes before Parse because closing what does not exist
// is no error, so that the group never depends on what the connection has seen.
// An error in one group ends at that group's Sync and leaves the others alone.
// The question must stand under the user's own Sync, where an error would undo
// the user's statement: it is unnamed and depends on nothing that the server
// keeps. Ahead of a COMMIT it stands first, under its own Sync.
//
// # States of the answers
//
// The server answers in order, so one phase at a time is being read:
//
//	none ----Write----> ahead -> guard -> user -> question -> capture -> over
//	                                |                            |
//	                                | not passed                 | timeout, context, read error
//	                                v                            v
//	                            rejected                    over, broken
//
// Phases that were not asked for are skipped. In ahead, guard, question and
// capture every message is ours and is taken out, and must be the one that the
// protocol calls for: anything else breaks the connection, because an answer
// taken for another one's would be a position that nobody held. Notices,
// notifications and parameter statuses belong to pgx in every phase and pass in
// order; while a ReadyForQuery is held they pass when they are complete. So does
// an error that ends the connection, in ahead and guard. An error in phase
// question is the user's, since it undid the user's statement.
//
// # The held ReadyForQuery
//
// While a capture is owed, the ReadyForQuery of the user's group is held back,
// so that pgx stays in its call, under its own context, until the capture has
// come. It is let go when the capture's group is complete, and also at
// Flight.Timeout, at the context's end, and at any read error: the server has
// committed by then, and a committed write stays a success. In those cases the
// connection is broken: what is still to come on it belongs to nobody.
//
// The timeout only ever moves the socket's deadline into the past, exactly as
// pgx does when a context ends. Nothing here extends a deadline that pgx has
// set.
//
// # A guard that is not passed
//
// At the guard's ReadyForQuery, before the rejected read has produced a row, pgx
// is handed the answers of a read without rows (CommandComplete SELECT 0,
// ReadyForQuery), in the form that the messages it wrote call for. Its state
// stays in step and its statement cache is not invalidated. Whoever armed a
// guard must look at Outcome.Guard before believing the answer. The real answers
// are drained in the background; see [Shim.Drain].
package wire
