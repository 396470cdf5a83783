package main

import "strings"

// The letters of the effects, as router/functions.go has them.
const (
	reads   = '1' // reads, and gives the same on every server with the same data
	server  = '2' // answers for the server or connection that it runs on
	opaque  = '5' // runs what is not in the text
	writes  = '6' // writes, or needs what the session has written: a standby refuses it
	setting = '7' // changes a setting of the session
	acts    = '8' // acts on the server that it runs on: a standby carries it out silently
	unlocks = '9' // gives up all advisory locks of the session
	locks   = 'a' // takes an advisory lock that stays with the session
)

// judgement is what is said of some functions whatever pg_proc says.
type judgement struct {
	effect  byte
	because string
	// names are full names, or beginnings if they end in a star. A full name is
	// listed also if no server at hand has the function: it is of another version.
	names string
}

// judgements, the first that fits a name holds. A volatile function that none
// fits acts; any other reads.
var judgements = []judgement{
	{locks, "stays with the session, and a standby grants it", `
		pg_advisory_lock pg_advisory_lock_shared pg_try_advisory_lock pg_try_advisory_lock_shared`},
	{unlocks, "undoes the former", `pg_advisory_unlock_all`},
	{acts, "an advisory lock of a standby locks nobody else out", `pg_advisory_* pg_try_advisory_*`},
	{setting, "a setting, and the seed of random, stay with the session", `set_config setseed`},
	{acts, "a snapshot can only be used on the server that exported it", `pg_export_snapshot`},
	{acts, "a signal reaches processes of its own server", `
		pg_cancel_backend pg_terminate_backend pg_reload_conf pg_rotate_logfile pg_rotate_logfile_old
		pg_log_backend_memory_contexts pg_log_standby_snapshot pg_promote`},
	{acts, "steers the replay of the standby that it runs on", `pg_wal_replay_*`},
	{acts, "slots and origins are each server's own", `
		pg_create_physical_replication_slot pg_create_logical_replication_slot pg_copy_physical_replication_slot
		pg_copy_logical_replication_slot pg_drop_replication_slot pg_replication_slot_advance pg_logical_slot_*
		pg_sync_replication_slots pg_replication_origin_advance pg_replication_origin_create
		pg_replication_origin_drop pg_replication_origin_session_reset pg_replication_origin_session_setup
		pg_replication_origin_xact_*`},
	{acts, "statistics are each server's own", `
		pg_stat_reset pg_stat_reset_* pg_stat_clear_snapshot pg_stat_force_next_flush`},
	{acts, "a backup, a WAL switch and a restore point are of the server that makes them", `
		pg_backup_start pg_backup_stop pg_start_backup pg_stop_backup pg_switch_wal pg_create_restore_point`},
	{acts, "writes a file of its server", `lo_export`},
	{acts, "changes what later statements of a binary upgrade do", `
		binary_upgrade_* pg_stop_making_pinned_objects`},

	{writes, "advances a sequence, or tells what the session got from one", `nextval setval currval lastval`},
	{writes, "assigns a transaction id, though declared stable", `txid_current pg_current_xact_id`},
	{writes, "writes WAL", `pg_notify pg_logical_emit_message`},
	{writes, "large objects are written, or opened for the rest of a transaction", `lo_* loread lowrite`},
	{writes, "writes to indexes, catalogs or statistics", `
		brin_desummarize_range brin_summarize_new_values brin_summarize_range gin_clean_pending_list
		pg_import_system_collations pg_extension_config_dump pg_nextoid pg_restore_relation_stats
		pg_restore_attribute_stats pg_restore_extended_stats pg_clear_relation_stats pg_clear_attribute_stats
		pg_clear_extended_stats`},

	{opaque, "runs a query that is given as text, or reads a cursor of the session", `
		query_to_xml query_to_xml_and_xmlschema query_to_xmlschema cursor_to_xml cursor_to_xmlschema ts_stat
		ts_rewrite`},

	{server, "statistics, activity, locks and memory are each server's own", `
		pg_stat_* pg_lock_status pg_blocking_pids pg_safe_snapshot_blocking_pids
		pg_isolation_test_session_is_blocked pg_get_backend_memory_contexts pg_get_process_memory_contexts
		pg_get_shmem_allocations pg_get_shmem_allocations_numa pg_get_dsm_registry_allocations pg_get_aios
		pg_numa_available pg_get_multixact_members pg_get_multixact_stats pg_notification_queue_usage
		pg_listening_channels pg_indexam_progress_phasename`},
	{server, "settings, versions and files are each server's own", `
		current_setting pg_show_all_settings pg_show_all_file_settings pg_hba_file_rules pg_ident_file_mappings
		pg_settings_get_flags pg_config version pg_jit_available pg_available_extensions
		pg_available_extension_versions pg_extension_update_paths pg_get_loaded_modules pg_ls_* pg_read_file
		pg_read_file_old pg_read_binary_file pg_stat_file pg_current_logfile pg_tablespace_location
		pg_relation_filepath pg_collation_actual_version pg_database_collation_actual_version
		icu_unicode_version unicode_version pg_control_* pg_client_encoding`},
	{server, "sizes on disk are not those of the primary", `
		pg_database_size pg_indexes_size pg_relation_size pg_table_size pg_tablespace_size pg_total_relation_size`},
	{server, "tells who and where the server or the connection is", `
		inet_client_addr inet_client_port inet_server_addr inet_server_port pg_backend_pid pg_conf_load_time
		pg_postmaster_start_time pg_is_in_recovery pg_is_in_backup pg_backup_start_time pg_my_temp_schema
		pg_is_other_temp_schema current_query`},
	{server, "tells where the server's WAL is", `
		pg_current_wal_* pg_last_wal_* pg_last_xact_replay_timestamp pg_is_wal_replay_paused
		pg_get_wal_* pg_walfile_name pg_walfile_name_offset pg_available_wal_summaries pg_wal_summary_contents`},
	{server, "transactions in progress are known to the primary alone", `
		txid_current_if_assigned pg_current_xact_id_if_assigned txid_current_snapshot pg_current_snapshot
		txid_status pg_xact_status pg_visible_in_snapshot pg_last_committed_xact pg_xact_commit_timestamp
		pg_xact_commit_timestamp_origin mxid_age`},
	{server, "WAL runs ahead of a sequence, so a standby tells of values not yet given out", `
		pg_sequence_last_value`},
	{server, "what a session has prepared or opened is in its connection", `
		pg_cursor pg_prepared_statement pg_prepared_xact`},
	{server, "slots and origins are each server's own", `
		pg_get_replication_slots pg_show_replication_origin_status pg_replication_origin_progress
		pg_replication_origin_session_is_setup pg_replication_origin_session_progress`},

	{reads, "volatile, and without effects", `
		random random_normal gen_random_uuid uuidv4 uuidv7 array_sample array_shuffle clock_timestamp timeofday
		pg_sleep pg_sleep_for pg_sleep_until currtid2 pg_partition_ancestors pg_partition_tree amvalidate
		RI_FKey_* suppress_redundant_updates_trigger tsvector_update_trigger tsvector_update_trigger_column
		unique_key_recheck`},
	{reads, "takes or gives what SQL cannot: the server calls it, as TABLESAMPLE does", `
		bernoulli system brinhandler bthandler ginhandler gisthandler hashhandler spghandler
		heap_tableam_handler dsnowball_init dsnowball_lexize plpgsql_call_handler plpgsql_inline_handler
		plpgsql_validator`},
	{reads, "of versions that may not be at hand, stable or immutable", `
		any_value array_reverse array_sort casefold crc32 crc32c date_add date_subtract erf erfc gamma
		has_largeobject_privilege lgamma pg_basetype pg_column_toast_chunk_id pg_get_acl pg_input_error_info
		pg_input_is_valid pg_split_walfile_name to_bin to_oct to_regtypemod unicode_assigned
		uuid_extract_timestamp uuid_extract_version xmltext`},
}

// judge returns the effect of a function.
func judge(name string, volatile bool) byte {
	for _, j := range judgements {
		for n := range strings.FieldsSeq(j.names) {
			if start, ok := strings.CutSuffix(n, "*"); n == name || ok && strings.HasPrefix(name, start) {
				return j.effect
			}
		}
	}
	if volatile {
		return acts
	}
	return reads
}
