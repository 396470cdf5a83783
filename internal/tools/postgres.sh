#!/bin/sh
# Prints which PostgreSQL server the tests will start; without one, says what is
# missing on standard error. Fails only then, and only if one is required.
# internal/pgcluster/binaries.go decides by itself; the places are the same.

for folder in ${PGRYW_POSTGRES_BIN:-$(
	command -v initdb | xargs -r dirname
	pg_config --bindir
	ls -d /usr/lib/postgresql/*/bin | sort -Vr
	ls -d /usr/pgsql-*/bin /usr/libexec/postgresql* /usr/local/pgsql/bin \
		/opt/homebrew/opt/postgresql*/bin /usr/local/opt/postgresql*/bin \
		/Applications/Postgres.app/Contents/Versions/*/bin
)}; do
	if [ -x "$folder/initdb" ] && [ -x "$folder/pg_basebackup" ] && version=$("$folder/postgres" --version); then
		echo "The tests use $version in $folder."
		exit
	fi
done 2>/dev/null

cat >&2 <<'END'
PostgreSQL is missing: no server binaries were found. Tests that need a server
skip, or fail with PGRYW_REQUIRE_POSTGRES=1. Install them (on Debian the package
is called postgresql), or name their folder in PGRYW_POSTGRES_BIN.
END
[ "$PGRYW_REQUIRE_POSTGRES" != 1 ]
