package pgcluster

import "fmt"

// Options describe a cluster. The zero value is one primary alone.
type Options struct {
	// Standbys is the number of streaming standbys. Default: 0.
	Standbys int

	// Settings are lines of every node's postgresql.conf; they win over the
	// settings of this package. Default: none.
	Settings map[string]string

	// NodeSettings are settings of single nodes, by the number of the node;
	// they win over Settings. Default: none.
	//
	//	NodeSettings: map[int]map[string]string{1: {"recovery_min_apply_delay": "200ms"}}
	NodeSettings map[int]map[string]string

	// HBA are the lines of pg_hba.conf for everybody but Superuser, who is
	// always trusted. Default: trust everybody on 127.0.0.1.
	HBA []string

	// Files are written into each data folder, readable by the server alone.
	// With server.crt and server.key and the setting ssl=on the servers speak
	// TLS. Default: none.
	Files map[string][]byte

	// Setup is SQL for the primary: roles, tables, extensions. It runs in one
	// transaction before the standbys are waited for, so that they have it too.
	// Default: none.
	Setup string

	// Port is that of node 0; each node has the port behind that of the node
	// before it. Default: 0. Zero means ports that nobody listens on.
	Port int

	// Dir is the folder in which the cluster's own temporary folder is made.
	// Default: the first with a gibibyte free of /dev/shm, os.TempDir and /tmp.
	Dir string
}

// check returns an error if the options contradict themselves.
func (o Options) check() error {
	if o.Standbys < 0 {
		return fmt.Errorf("pgcluster: %d standbys", o.Standbys)
	}
	for number := range o.NodeSettings {
		if number < 0 || number > o.Standbys {
			return fmt.Errorf("pgcluster: settings for node %d of %d nodes", number, o.Standbys+1)
		}
	}
	return nil
}
