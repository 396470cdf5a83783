package router

// effect is what a call of a function means for the statement.
type effect uint8

const (
	effectUnknown  effect = iota
	effectNone            // stable or immutable, or volatile without effects
	effectSyntax          // no function: a keyword that takes parentheses
	effectServer          // answers for the server that it runs on
	effectAct             // acts on the server that it runs on
	effectAdvisory        // as effectAct, and the lock stays with the session
	effectSequence        // writes, or reads what the session wrote
	effectSetting         // changes a setting of the session
)

// functions are the names, in lower case, of which something is known. A name
// that is not here is a function that may do anything.
//
// Volatile ones without effects (random, clock_timestamp, pg_sleep and the like)
// count as stable: a replica answers as well as the primary.
//
// Source: pg_proc of PostgreSQL 15 to 18, where provolatile is s or i.
var functions = build(map[effect]string{
	effectNone: `
		abs age array_agg array_append array_cat array_dims array_fill array_length array_lower array_ndims
		array_position array_positions array_prepend array_remove array_replace array_to_json array_to_string
		array_upper ascii avg bit_and bit_count bit_length bit_or bit_xor bool_and bool_or btrim cardinality cbrt ceil ceiling
		char_length character_length chr clock_timestamp col_description concat concat_ws convert_from convert_to
		corr cos cot count covar_pop covar_samp cume_dist current_database current_schema current_schemas date
		date_bin date_part date_trunc decode degrees dense_rank div encode every exp factorial first_value floor
		format format_type gcd gen_random_uuid generate_series generate_subscripts get_bit get_byte has_column_privilege
		has_schema_privilege has_table_privilege initcap isempty isfinite json_agg json_array_elements
		json_array_elements_text json_array_length json_build_array json_build_object json_each json_each_text
		json_extract_path json_extract_path_text json_object json_object_agg json_object_keys json_populate_record
		json_populate_recordset json_strip_nulls json_to_record json_to_recordset json_typeof jsonb_agg
		jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object
		jsonb_each jsonb_each_text jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object
		jsonb_object_agg jsonb_object_keys jsonb_path_exists jsonb_path_match jsonb_path_query
		jsonb_path_query_array jsonb_path_query_first jsonb_populate_record jsonb_populate_recordset jsonb_pretty
		jsonb_set jsonb_strip_nulls jsonb_to_record jsonb_to_recordset jsonb_typeof justify_days justify_hours
		justify_interval lag last_value lcm lead left length ln log log10 lower lower_inc lower_inf lpad ltrim
		make_date make_interval make_time make_timestamp make_timestamptz max md5 min mod mode now nth_value ntile
		num_nonnulls num_nulls numnode obj_description octet_length percent_rank percentile_cont percentile_disc
		phraseto_tsquery pg_encoding_to_char pg_get_constraintdef pg_get_expr pg_get_function_arguments
		pg_get_function_identity_arguments pg_get_function_result pg_get_functiondef pg_get_indexdef pg_get_keywords
		pg_get_partkeydef pg_get_ruledef pg_get_serial_sequence pg_get_triggerdef pg_get_userbyid pg_get_viewdef pg_sleep
		pg_sleep_for pg_table_is_visible pg_type_is_visible pg_typeof pi plainto_tsquery pow power quote_ident
		quote_literal quote_nullable radians random range_agg range_merge rank regexp_count regexp_like regexp_match
		regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr repeat replace reverse
		right round row_number row_to_json rpad rtrim scale setweight sha224 sha256 sha384 sha512 shobj_description
		sign sin split_part sqrt starts_with statement_timestamp stddev stddev_pop stddev_samp string_agg
		string_to_array string_to_table strip strpos substr sum tan text timeofday timezone to_ascii to_char to_date
		to_hex to_json to_jsonb to_number to_regclass to_regproc to_regtype to_timestamp to_tsquery to_tsvector
		transaction_timestamp translate trim_array trim_scale trunc ts_headline ts_rank ts_rank_cd ts_lexize
		tsvector_to_array unnest upper upper_inc upper_inf var_pop var_samp variance websearch_to_tsquery width_bucket`,
	effectSyntax: `
		all and any array as asc between bit case cast char character coalesce current_time current_timestamp
		dec decimal desc distinct else except exists extract fetch float from greatest group grouping having ilike in
		intersect interval is join lateral least like limit localtime localtimestamp national nchar not nullif
		numeric offset on only or overlay position precision returning row select similar some substring table then
		time timestamp trim union using values varchar when where window with`,
	effectServer: `
		current_setting inet_client_addr inet_client_port inet_server_addr inet_server_port pg_backend_pid
		pg_blocking_pids pg_conf_load_time pg_current_logfile pg_current_snapshot pg_current_wal_flush_lsn
		pg_current_wal_insert_lsn pg_current_wal_lsn pg_current_xact_id pg_current_xact_id_if_assigned
		pg_database_size pg_indexes_size pg_is_in_recovery pg_is_wal_replay_paused pg_last_committed_xact
		pg_last_wal_receive_lsn pg_last_wal_replay_lsn pg_last_xact_replay_timestamp pg_postmaster_start_time
		pg_relation_size pg_size_pretty pg_table_size pg_tablespace_size pg_total_relation_size pg_wal_lsn_diff
		pg_walfile_name pg_xact_commit_timestamp txid_current_if_assigned txid_current_snapshot txid_status version`,
	effectAct: `
		dblink dblink_exec pg_advisory_unlock pg_advisory_xact_lock pg_advisory_xact_lock_shared pg_cancel_backend
		pg_export_snapshot pg_log_backend_memory_contexts pg_logical_emit_message pg_notify pg_promote pg_reload_conf
		pg_rotate_logfile pg_terminate_backend pg_try_advisory_xact_lock pg_try_advisory_xact_lock_shared
		pg_wal_replay_pause pg_wal_replay_resume`,
	effectAdvisory: `pg_advisory_lock pg_advisory_lock_shared pg_try_advisory_lock pg_try_advisory_lock_shared`,
	effectSequence: `currval lastval nextval setval txid_current`,
	effectSetting:  `set_config`,
})

func build(names map[effect]string) map[string]effect {
	table := make(map[string]effect, 512)
	for e, list := range names {
		start := -1
		for i := 0; i <= len(list); i++ {
			blank := i == len(list) || isBlank(list[i])
			switch {
			case !blank && start < 0:
				start = i
			case blank && start >= 0:
				table[list[start:i]] = e
				start = -1
			}
		}
	}
	return table
}

// catalogs are the relations of pg_catalog that hold the same rows on every
// server of a cluster. Every other name that begins like them is taken for one
// that does not.
//
// Source: https://www.postgresql.org/docs/18/catalogs.html
var catalogs = build(map[effect]string{effectNone: `
	pg_aggregate pg_am pg_amop pg_amproc pg_attrdef pg_attribute pg_auth_members pg_authid pg_cast pg_catalog
	pg_class pg_collation pg_constraint pg_conversion pg_database pg_default_acl pg_depend pg_description pg_enum
	pg_event_trigger pg_extension pg_foreign_data_wrapper pg_foreign_server pg_foreign_table pg_group pg_index
	pg_indexes pg_inherits pg_init_privs pg_language pg_largeobject pg_matviews pg_namespace pg_opclass
	pg_operator pg_opfamily pg_partitioned_table pg_policies pg_policy pg_proc pg_publication pg_publication_tables
	pg_range pg_rewrite pg_roles pg_rules pg_seclabel pg_sequence pg_shdepend pg_shdescription pg_statistic pg_stats
	pg_tables pg_tablespace pg_toast pg_transform pg_trigger pg_ts_config pg_ts_dict pg_ts_parser pg_ts_template
	pg_type pg_user_mapping pg_user_mappings pg_views pg_lsn`})

// nameBytes is the length of the longest name that is looked up; PostgreSQL cuts
// longer ones off.
const nameBytes = 63

// fold writes a name in lower case into b, and returns it; nothing if it is too
// long.
func fold(b *[nameBytes]byte, name string) []byte {
	if len(name) > nameBytes {
		return nil
	}
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		b[i] = c
	}
	return b[:len(name)]
}
