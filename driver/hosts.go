package driver

import (
	"errors"
	"reflect"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// host is one server address of a connection string.
type host struct {
	// label is the address in messages and statistics: "name:port", or the path
	// of the Unix socket.
	label string
	// config connects to that address only, whatever the role of the server; the
	// host has it to itself.
	config *pgx.ConnConfig
}

// hosts returns the addresses of Postgres in their order, each once.
//
// Each is parsed by itself, so that what pgx derives from the host is its own:
// the name that a certificate must bear, the fallback from or to TLS, and the
// password from a passfile, which pgx looks up for the first host of a list.
//
// Errors: those of validate.
func (c *Config) hosts() ([]host, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	whole, err := parsePostgres(c.Postgres)
	if err != nil {
		return nil, err
	}

	var hosts []host
	seen := make(map[string]bool)
	first := &pgconn.FallbackConfig{Host: whole.Host, Port: whole.Port}
	for _, address := range append([]*pgconn.FallbackConfig{first}, whole.Fallbacks...) {
		_, label := pgconn.NetworkAddress(address.Host, address.Port)
		if seen[label] {
			continue
		}
		seen[label] = true

		config, err := parsePostgres(withAddress(c.Postgres, address.Host, address.Port))
		if err != nil {
			return nil, err
		}
		config.ValidateConnect = nil
		config.Tracer = c.Tracer
		for key := range config.RuntimeParams {
			if isOurs(key) {
				delete(config.RuntimeParams, key)
			}
		}
		hosts = append(hosts, host{label, config})
	}
	return hosts, nil
}

// withAddress returns a connection string that differs from postgres in its
// list of hosts and ports.
func withAddress(postgres, name string, port uint16) string {
	address := []setting{
		{key: "host", value: name},
		{key: "port", value: strconv.Itoa(int(port))},
	}
	if isURL(postgres) {
		return addToURL(postgres, address)
	}
	rest, _ := takeFromKeywords(postgres, func(key string) bool { return key == "host" || key == "port" })
	return addToKeywords(rest, address)
}

// parsePostgres is pgx.ParseConfig, less the choice of a server by its role.
//
// Errors: pgx refuses the string, or target_session_attrs asks for something
// else than a primary or any server.
func parsePostgres(text string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(text)
	if err != nil {
		return nil, parseError(err)
	}
	if !wantsPrimary(config.ValidateConnect) {
		return nil, errors.New("pgryw: target_session_attrs must be any, read-write or primary, which are for plain pgx; " +
			"pgryw finds out the role of every host and needs the primary among them")
	}
	return config, nil
}

// wantsPrimary reports whether pgx has made validate from a
// target_session_attrs of any, read-write or primary. pgx keeps no other trace
// of it, whether it came from the string, a service or the environment.
func wantsPrimary(validate pgconn.ValidateConnectFunc) bool {
	if validate == nil {
		return true
	}
	made := reflect.ValueOf(validate).Pointer()
	return made == reflect.ValueOf(pgconn.ValidateConnectTargetSessionAttrsReadWrite).Pointer() ||
		made == reflect.ValueOf(pgconn.ValidateConnectTargetSessionAttrsPrimary).Pointer()
}
