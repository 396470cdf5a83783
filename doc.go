// Package pgryw is the home of the pgryw driver: a database/sql driver for
// PostgreSQL whose reads move to replicas without their users ever missing
// their own writes. Import github.com/pgryw/pgryw/driver to use it.
package pgryw
