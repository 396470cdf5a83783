package driver

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// refusals are what pgx says of a connection string that it refuses, and what
// is said of it here. pgx's own text cannot be passed on: it quotes the string,
// with passwords masked where it recognises them, and pieces of it that may be
// anything if the string is broken.
var refusals = []struct{ pgx, sentence string }{
	// Syntax.
	{"forbidden NUL byte", "it holds a NUL byte"},
	{"forbidden value %00", "it holds a NUL byte (%00)"},
	{"invalid percent-encoded token", "a '%' in the URL is not followed by two hexadecimal digits; write %25 for a '%'"},
	{"unexpected spaces found", "a part of the URL has a space inside; write %20"},
	{"missing key/value separator", "a query parameter of the URL has no '='"},
	{"extra key/value separator", "a query parameter of the URL has more than one '='; write %3D within a value"},
	{"looking for matching", "the ']' of an IPv6 address is missing"},
	{"IPv6 host address may not be empty", "an IPv6 address is empty"},
	{"unexpected character", "the ']' of an IPv6 address is followed by something else than a port, a host or a path"},
	{"failed to parse as URL", "it is not a valid URL"},
	{"unterminated quoted string", "a quoted value has no end"},
	{`missing "="`, "a keyword is not followed by '='"},
	{"failed to parse as keyword/value", "it is neither a postgres:// URL nor a list of keyword=value"},

	// The service.
	{"unable to find service", "the service file has no section of the service's name"},
	{"failed to read service", "the service file cannot be read"},

	// Hosts.
	{"could not match", "it has neither one port for all hosts nor one for each"},
	{"invalid port", "a port is not a number from 1 to 65535"},

	// TLS.
	{"sslmode is invalid", "sslmode must be one of disable, allow, prefer, require, verify-ca, verify-full"},
	{`both "sslcert" and "sslkey" are required`, "sslcert and sslkey must be given together"},
	{"unable to read CA file", "the file named by sslrootcert cannot be read"},
	{"unable to add CA to cert pool", "the file named by sslrootcert holds no certificate"},
	{"system certificate pool", "the system's certificates cannot be read"},
	{"unable to read sslkey", "the file named by sslkey cannot be read"},
	{"failed to decode sslkey", "the file named by sslkey is not PEM"},
	{"unable to find sslpassword", "the key named by sslkey is encrypted and there is no sslpassword"},
	{"unable to decrypt key", "sslpassword does not decrypt the key named by sslkey"},
	{"unable to read cert", "the file named by sslcert cannot be read"},
	{"unable to load cert", "sslcert and sslkey are not a certificate and its key"},
	{"failed to configure TLS", "its TLS settings cannot be used"},
	{"invalid sslcertmode", "sslcertmode must be one of disable, allow, require"},

	// Other values.
	{"invalid connect_timeout", "connect_timeout must be a whole number of seconds"},
	{"unknown target_session_attrs", "target_session_attrs must be any, read-write or primary"},
	{"invalid min_protocol_version", "min_protocol_version must be one of 3.0, 3.2, latest"},
	{"invalid max_protocol_version", "max_protocol_version must be one of 3.0, 3.2, latest"},
	{"min_protocol_version cannot be greater", "min_protocol_version is greater than max_protocol_version"},
	{"unknown channel_binding", "channel_binding must be one of disable, prefer, require"},
	{"invalid require_auth", "require_auth is not a list of authentication methods"},
	{"cannot parse statement_cache_capacity", "statement_cache_capacity must be a whole number"},
	{"cannot parse description_cache_capacity", "description_cache_capacity must be a whole number"},
	{"invalid default_query_exec_mode", "default_query_exec_mode must be one of cache_statement, cache_describe, describe_exec, exec, simple_protocol"},
}

// parseError returns, for an error of pgx.ParseConfig, one that shows no part
// of the connection string. If a file could not be read it wraps the operating
// system's error, without the file's name.
func parseError(err error) error {
	const intro = "pgryw: the connection string cannot be used"

	// pgx's text is "cannot parse `...`: what (details)". A string that itself
	// holds "`: " may lead to a wrong sentence, never to one that shows it.
	said := err.Error()
	said = said[strings.LastIndex(said, "`: ")+1:]
	sentence := "pgx refuses it"
	for _, r := range refusals {
		if strings.Contains(said, r.pgx) {
			sentence = r.sentence
			break
		}
	}

	var file *fs.PathError
	if errors.As(err, &file) {
		return fmt.Errorf("%s: %s: %w", intro, sentence, file.Err)
	}
	return errors.New(intro + ": " + sentence)
}
