# Runs a primary and its standbys in this container until standard input ends.
# Arguments: the primary's port, the number of standbys, their apply delay in
# milliseconds, max_connections. PGPASSWORD is the superuser's.
set -eu
port=$1 standbys=$2 delay=$3 connections=$4
for folder in /usr/lib/postgresql/*/bin /usr/local/pgsql/bin; do
	PATH=$PATH:$folder
done
umask 077
cd /pgryw
printf '%s\n' "$PGPASSWORD" >password
initdb --pgdata=node0 --username=postgres --pwfile=password --auth=scram-sha-256 \
	--no-sync --no-locale --encoding=UTF8 --wal-segsize=1 >initdb.log
echo 'host all all all scram-sha-256' >>node0/pg_hba.conf
cat >>node0/postgresql.conf <<EOF
listen_addresses = '*'
unix_socket_directories = ''
dynamic_shared_memory_type = mmap
shared_buffers = 32MB
max_connections = $connections
fsync = off
autovacuum = off
jit = off
wal_keep_size = 128MB
wal_retrieve_retry_interval = 200ms
max_standby_streaming_delay = -1
logging_collector = off
EOF

# The primary has never run: a plain copy is a base backup.
i=0
while [ "$i" -lt "$standbys" ]; do
	i=$((i + 1))
	cp -Rp node0 "node$i"
	: >"node$i/standby.signal"
	cat >>"node$i/postgresql.conf" <<-EOF
		primary_conninfo = 'host=127.0.0.1 port=$port user=postgres password=$PGPASSWORD application_name=node$i'
		recovery_min_apply_delay = ${delay}ms
	EOF
done

# With one server all end, and the container with them.
trap 'exit 1' TERM
exec 3<&0
i=0
while [ "$i" -le "$standbys" ]; do
	{
		postgres -D "/pgryw/node$i" -p $((port + i)) || true
		kill -s TERM $$
	} 3<&- &
	i=$((i + 1))
done
cat <&3 >/dev/null &
wait $!
