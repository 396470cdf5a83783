package driver

import (
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"slices"
	"sync"

	"github.com/pgryw/pgryw/conn"
)

// Name is the name under which the driver is registered with database/sql.
const Name = "pgryw"

var (
	_ sqldriver.Driver        = (*Driver)(nil)
	_ sqldriver.DriverContext = (*Driver)(nil)
)

func init() {
	if !slices.Contains(sql.Drivers(), Name) {
		sql.Register(Name, &Driver{})
	}
}

// Driver is the database/sql driver.
//
// Concurrency: safe for use by any number of goroutines.
type Driver struct {
	mu     sync.Mutex
	shared map[string]*sharedConnector // by DSN text; guarded by mu
}

// OpenConnector implements driver.DriverContext: what sql.Open calls. It parses
// the DSN and does nothing else; an empty one stands for the PG* environment
// variables, and is not looked at before the first connection.
//
// Errors: one sentence that says what is wrong and shows nothing of the DSN; for
// a pgryw.* option it lists the valid keys or values.
// Cost: none.
func (d *Driver) OpenConnector(name string) (sqldriver.Connector, error) {
	if name == "" {
		return &Connector{driver: d}, nil
	}
	cfg, err := ParseDSN(name)
	if err != nil {
		return nil, err
	}
	return &Connector{driver: d, cfg: cfg}, nil
}

// sharedConnector is the connector of all connections that Open has made for
// one DSN text and that are not closed yet.
type sharedConnector struct {
	connector *Connector
	uses      int // guarded by Driver.mu
}

// Open implements driver.Driver, for wrappers that do not know connectors and
// call it for each connection. All connections of one DSN text share their
// servers and fences; the last one to close stops the servers' probes.
//
// Errors: as OpenConnector.
// Cost: as Connector.Connect.
func (d *Driver) Open(name string) (sqldriver.Conn, error) {
	s, err := d.share(name)
	if err != nil {
		return nil, err
	}
	h, err := s.connector.handle()
	if err != nil {
		_ = d.unshare(name, s)
		return nil, err
	}
	return &openedConn{Conn: h.Open(), release: func() error { return d.unshare(name, s) }}, nil
}

// share returns the connector of a DSN text. A new one begins with uncertain
// fences: what connections of the same text wrote before the last of them was
// closed is not known any more.
func (d *Driver) share(name string) (*sharedConnector, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.shared[name]
	if s == nil {
		c, err := d.OpenConnector(name)
		if err != nil {
			return nil, err
		}
		s = &sharedConnector{connector: c.(*Connector)}
		h, err := s.connector.handle()
		if err != nil {
			return nil, err
		}
		h.Doubt()
		if d.shared == nil {
			d.shared = make(map[string]*sharedConnector)
		}
		d.shared[name] = s
	}
	s.uses++
	return s, nil
}

func (d *Driver) unshare(name string, s *sharedConnector) error {
	d.mu.Lock()
	s.uses--
	last := s.uses == 0
	if last {
		delete(d.shared, name)
	}
	d.mu.Unlock()
	if !last {
		return nil
	}
	return s.connector.Close()
}

// openedConn is a connection made by Driver.Open: closing it may close what it
// shares.
type openedConn struct {
	*conn.Conn
	once    sync.Once
	release func() error
}

// Close implements driver.Conn.
func (c *openedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { err = errors.Join(err, c.release()) })
	return err
}
