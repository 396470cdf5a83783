package driver

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// ParseDSN takes a connection string apart into pgx's and the pgryw.* options.
// It takes all that pgx.ParseConfig takes, with the same meaning: a URL,
// keywords and values, or nothing; the PG* environment variables; a service,
// whose section may hold pgryw.* options too and is overruled by the string.
// Every option takes the value "default". Of an option that is given twice the
// last counts.
//
// pgx finds a primary for itself by target_session_attrs. ParseDSN takes any,
// read-write and primary, which the nodes then ignore, and refuses the others.
//
// Errors: one sentence that shows no value and no part of the string.
func ParseDSN(dsn string) (*Config, error) {
	if isRegistered(dsn) {
		return nil, errors.New("pgryw: a name from stdlib.RegisterConnConfig is known to the pgx driver only; " +
			"fill a driver.Config, with its hooks, and use driver.NewConnector and sql.OpenDB")
	}
	parsed, err := parsePostgres(dsn)
	if err != nil {
		return nil, err
	}

	postgres, ours := split(dsn)
	c := &Config{Postgres: postgres}
	// pgx has put the service's options and the string's in their order; those
	// of the string are looked at again for the sake of any that is overruled.
	for _, s := range append(parsedOptions(parsed), ours...) {
		if err := c.setOption(s); err != nil {
			return nil, err
		}
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	return c, nil
}

// FormatDSN is the inverse of ParseDSN: a connection string from which, in the
// same environment, ParseDSN makes an equal Config. Functions, Tracer and Logger
// have no place in it. It holds the password, if Postgres does.
func (c *Config) FormatDSN() string {
	// A service's options would be taken up again: those that the Config has
	// otherwise must be overruled.
	var inherited Config
	if parsed, err := parsePostgres(c.Postgres); err == nil {
		for _, s := range parsedOptions(parsed) {
			_ = inherited.setOption(s) // what ParseDSN refuses has no inverse
		}
	}

	var ours []setting
	for _, o := range options {
		if value := o.format(c); value != o.format(&inherited) {
			ours = append(ours, setting{key: o.key, value: value})
		}
	}
	if isURL(c.Postgres) {
		return addToURL(c.Postgres, ours)
	}
	return addToKeywords(c.Postgres, ours)
}

// setting is one key of a connection string and its value, decoded.
type setting struct {
	key, value string
	start, end int // of its text, without what separates it from others
}

// split takes the options out of a connection string that pgx has parsed, in
// the order in which they stand. What is left is the string as it was before
// FormatDSN added them.
func split(dsn string) (postgres string, ours []setting) {
	if isURL(dsn) {
		return takeFromURL(dsn, isOurs)
	}
	return takeFromKeywords(dsn, isOurs)
}

// parsedOptions returns the options that pgx has found in a connection string
// and its service, sorted by key.
func parsedOptions(parsed *pgx.ConnConfig) []setting {
	var found []setting
	for _, key := range slices.Sorted(maps.Keys(parsed.RuntimeParams)) {
		if isOurs(key) {
			found = append(found, setting{key: key, value: parsed.RuntimeParams[key]})
		}
	}
	return found
}

// isURL reports whether pgx takes the connection string for a URL.
func isURL(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

// isRegistered reports whether dsn is a name as stdlib.RegisterConnConfig
// returns it.
func isRegistered(dsn string) bool {
	number, ok := strings.CutPrefix(dsn, "registeredConnConfig")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}
