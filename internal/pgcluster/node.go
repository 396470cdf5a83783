package pgcluster

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// applicationName is that of the connections of this package. Statements leaves
// out what they executed.
const applicationName = "pgcluster"

// Node is one server of a cluster.
//
// Concurrency: safe for concurrent use; faults run one at a time.
type Node struct {
	cluster *Cluster
	number  int
	dir     string // holds everything below
	data    string // the data folder
	port    int    // fixed once the node has been started first

	fault    sync.Mutex        // held by a fault; guards the fields below
	settings map[string]string // what Set has set
	upstream *Node             // whom a standby streams from; nil for nobody
	server   *server           // nil while stopped
	frozen   bool
}

// newNode returns a node that has not been created.
func newNode(c *Cluster, number int) *Node {
	dir := filepath.Join(c.dir, "node"+strconv.Itoa(number))
	return &Node{
		cluster: c, number: number, dir: dir, data: filepath.Join(dir, "data"),
		settings: make(map[string]string),
	}
}

// inDir and inData return the path of a file of the node.
func (n *Node) inDir(name string) string  { return filepath.Join(n.dir, name) }
func (n *Node) inData(name string) string { return filepath.Join(n.data, name) }

// Name returns "node0" for the first primary and so on. It is the standby's
// application_name in pg_stat_replication.
func (n *Node) Name() string { return "node" + strconv.Itoa(n.number) }

// Host returns the address that the node listens on.
func (n *Node) Host() string { return loopback }

// Port returns the port that the node listens on. It never changes.
func (n *Node) Port() int { return n.port }

// Addr returns host:port.
func (n *Node) Addr() string { return net.JoinHostPort(loopback, strconv.Itoa(n.port)) }

// DSN returns a URL with this node alone.
func (n *Node) DSN() string { return n.cluster.DSN(n) }

// Exec executes SQL, one or more statements, as Superuser. Statements does not
// show it.
//
// Blocks until it is done and stops when ctx ends.
func (n *Node) Exec(ctx context.Context, sql string) error {
	_, err := n.query(ctx, sql)
	return err
}

// query executes SQL on a connection of its own and returns the first row of
// the last result, nil for NULL; no columns if there was no row.
func (n *Node) query(ctx context.Context, sql string) ([][]byte, error) {
	conn, err := n.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	return n.queryOn(ctx, conn, sql)
}

// connect opens a connection for this package's own use.
func (n *Node) connect(ctx context.Context) (*pgconn.PgConn, error) {
	conn, err := pgconn.Connect(ctx, n.DSN()+"&target_session_attrs=any&connect_timeout=30&application_name="+applicationName)
	if err != nil {
		return nil, fmt.Errorf("pgcluster: %s: %w", n.Name(), err)
	}
	return conn, nil
}

// queryOn is query on an open connection.
func (n *Node) queryOn(ctx context.Context, conn *pgconn.PgConn, sql string) ([][]byte, error) {
	results, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("pgcluster: %s: %w", n.Name(), err)
	}
	if len(results) == 0 || len(results[len(results)-1].Rows) == 0 {
		return nil, nil
	}
	return results[len(results)-1].Rows[0], nil
}
