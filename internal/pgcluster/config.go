package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// logLinePrefix separates its fields by tabs, which no application name can
// contain (the server replaces them) and no continuation line lacks.
const logLinePrefix = "%m\t%p\t%u\t%d\t%a\t"

// defaultSettings make a server that starts fast, writes little WAL by itself
// and keeps little of it, cancels no reads, looks for a new primary each 200 ms,
// and logs what it executes.
var defaultSettings = map[string]string{
	"listen_addresses":            loopback,
	"unix_socket_directories":     "",
	"dynamic_shared_memory_type":  "mmap", // in the data folder, so that a killed server leaves nothing outside
	"shared_buffers":              "32MB",
	"fsync":                       "off",
	"autovacuum":                  "off",
	"jit":                         "off",
	"max_wal_size":                "256MB",
	"wal_keep_size":               "64MB",
	"wal_retrieve_retry_interval": "200ms",
	"max_standby_streaming_delay": "-1",
	"max_standby_archive_delay":   "-1",
	"timezone":                    "UTC",
	"log_timezone":                "UTC",
	"log_destination":             "stderr",
	"logging_collector":           "off",
	"log_checkpoints":             "off",
	"log_line_prefix":             logLinePrefix,
	"log_statement":               "all",
}

// writeConfig writes postgresql.conf and pg_hba.conf. They lie outside the data
// folder so that a base backup of another node does not bring that one's.
func (n *Node) writeConfig() error {
	settings := maps.Clone(defaultSettings)
	maps.Copy(settings, n.cluster.options.Settings)
	maps.Copy(settings, n.cluster.options.NodeSettings[n.number])
	maps.Copy(settings, n.settings)
	settings["port"] = fmt.Sprint(n.port)
	settings["hba_file"] = n.inDir("pg_hba.conf")
	settings["primary_conninfo"] = ""
	if n.upstream != nil {
		settings["primary_conninfo"] = fmt.Sprintf("host=%s port=%d user=%s application_name=%s sslmode=disable gssencmode=disable",
			loopback, n.upstream.port, Superuser, n.Name())
	}
	var conf strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&conf, "%s = '%s'\n", name, quoteSetting.Replace(settings[name]))
	}
	if err := n.cluster.account.writeFile(n.inDir("postgresql.conf"), []byte(conf.String())); err != nil {
		return fmt.Errorf("pgcluster: %w", err)
	}
	lines := append([]string{
		"host all " + Superuser + " 127.0.0.1/32 trust",
		"host replication " + Superuser + " 127.0.0.1/32 trust",
	}, n.cluster.options.HBA...)
	if len(n.cluster.options.HBA) == 0 {
		lines = append(lines, "host all all 127.0.0.1/32 trust")
	}
	if err := n.cluster.account.writeFile(n.inDir("pg_hba.conf"), []byte(strings.Join(lines, "\n")+"\n")); err != nil {
		return fmt.Errorf("pgcluster: %w", err)
	}
	return nil
}

// quoteSetting escapes a value for postgresql.conf.
var quoteSetting = strings.NewReplacer(`\`, `\\`, `'`, `''`)

// Set changes a setting of this node for good, and reloads the configuration of
// a running one. A setting that needs a restart waits for the next Restart.
//
// Blocks until new connections see it and stops when ctx ends.
//
// Errors: a running server does not accept the value, unless it is for the next
// restart; the old one stays then.
func (n *Node) Set(ctx context.Context, name, value string) error {
	n.fault.Lock()
	defer n.fault.Unlock()
	old, had := n.settings[name]
	n.settings[name] = value
	err := n.reload(ctx)
	if err == nil {
		return nil
	}
	if delete(n.settings, name); had {
		n.settings[name] = old
	}
	return errors.Join(err, n.writeConfig())
}

// SetDelay makes a standby wait until d after a commit before it replays it.
// Zero ends the delay.
//
// Blocks until new connections see it and stops when ctx ends.
//
// Source: https://www.postgresql.org/docs/15/runtime-config-replication.html#GUC-RECOVERY-MIN-APPLY-DELAY
func (n *Node) SetDelay(ctx context.Context, d time.Duration) error {
	return n.Set(ctx, "recovery_min_apply_delay", fmt.Sprintf("%dms", d.Milliseconds()))
}

// reload writes the configuration and makes a running server read it.
//
// Blocks until the postmaster has: it reads the files before it forks the next
// session, so a session whose pg_conf_load_time is new is the proof.
//
// Concurrency: the caller holds n.fault.
func (n *Node) reload(ctx context.Context) error {
	if err := n.writeConfig(); err != nil {
		return err
	}
	if !n.isUp() {
		return nil
	}
	if err := n.responsive(); err != nil {
		return err
	}
	if err := n.checkConfig(ctx); err != nil {
		return err
	}
	before, err := n.query(ctx, "SELECT pg_conf_load_time()")
	if err != nil {
		return err
	}
	if err := n.Exec(ctx, "SELECT pg_reload_conf()"); err != nil {
		return err
	}
	return poll(ctx, n.Name()+" to read its configuration", func(ctx context.Context) (bool, string, error) {
		now, err := n.query(ctx, "SELECT pg_conf_load_time()")
		if err != nil {
			return false, "", err
		}
		return string(now[0]) != string(before[0]), string(now[0]), nil
	})
}

// checkConfig returns an error if the running server would refuse a line of its
// configuration file now. It always refuses one that needs a restart, with no
// word on the value.
//
// Source: https://www.postgresql.org/docs/15/view-pg-file-settings.html
func (n *Node) checkConfig(ctx context.Context) error {
	row, err := n.query(ctx, `SELECT coalesce(name, 'a line'), coalesce(setting, ''), error FROM pg_file_settings f
		WHERE error IS NOT NULL AND NOT EXISTS (SELECT FROM pg_settings s WHERE s.name = f.name AND context = 'postmaster')`)
	if err != nil {
		return err
	}
	if len(row) == 3 {
		return fmt.Errorf("pgcluster: %s: %s = %q: %s", n.Name(), row[0], row[1], row[2])
	}
	return nil
}
