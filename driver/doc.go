// Package driver is the front door of pgryw: importing it registers the
// database/sql driver "pgryw".
//
//	import _ "github.com/pgryw/pgryw/driver"
//
//	db, err := sql.Open("pgryw", "postgres://app@pg-a,pg-b,pg-c/shop?target_session_attrs=read-write")
//
// The hosts of the DSN are the servers of one cluster, in any order; which of
// them is the primary is found out. What pgx accepts in a DSN is accepted, but
// for the values of target_session_attrs that ask for a standby; options of
// pgryw's own begin with "pgryw.", so that the same DSN still works with plain
// pgx.
package driver
