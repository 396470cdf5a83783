package router

import (
	"strings"
	"testing"
)

// classified are texts and what is found in them: class, cause, pins.
var classified = []struct {
	sql    string
	class  Class
	why    Cause
	starts Pin
}{
	{"SELECT 1", ClassRead, CauseVerb, 0},
	{"\uFEFF\n\t  select 1", ClassRead, CauseVerb, 0},
	{"/* app:web */ SELECT 1", ClassRead, CauseVerb, 0},
	{"-- trace\nSELECT 1", ClassRead, CauseVerb, 0},
	{";;SELECT 1;", ClassRead, CauseVerb, 0},
	{"(SELECT 1) UNION (SELECT 2)", ClassRead, CauseVerb, 0},
	{"TABLE t", ClassRead, CauseVerb, 0},
	{"VALUES (1, 'a'), (2, 'b')", ClassRead, CauseVerb, 0},
	{"WITH\n x AS (SELECT 1) SELECT * FROM x", ClassRead, CauseVerb, 0},
	{"WITH x(a, b) AS (SELECT 1, 2), y(c) AS NOT MATERIALIZED (SELECT 3) SELECT * FROM x, y", ClassRead, CauseVerb, 0},
	{"SELECT 'for update'", ClassRead, CauseVerb, 0},
	{`SELECT "for" FROM t`, ClassRead, CauseVerb, 0},
	{"SELECT 'RETURNING'", ClassRead, CauseVerb, 0},
	{"SELECT $$ ; DELETE FROM t $$, $a$ $b$ $a$", ClassRead, CauseVerb, 0},
	{"SELECT E'\\'; DELETE FROM t; --', U&'d\\0061t'", ClassRead, CauseVerb, 0},
	{"SELECT count(*), lower(name) FROM t GROUP BY (name) HAVING max(a) > 1", ClassRead, CauseVerb, 0},
	{"SELECT a::numeric(10,2), CAST(b AS varchar(3)) FROM t WHERE a IN (1) AND EXISTS (SELECT 1)", ClassRead, CauseVerb, 0},
	{"SELECT sum(a) FILTER (WHERE a > 1) OVER (PARTITION BY (b)) FROM t", ClassRead, CauseVerb, 0},
	{"SELECT pg_catalog.lower('A') FROM pg_catalog.pg_class", ClassRead, CauseVerb, 0},
	{"SELECT * FROM generate_series(1, 2) AS g(n)", ClassRead, CauseVerb, 0},
	{"SELECT now(), current_timestamp(3), random(), pg_sleep(0)", ClassRead, CauseVerb, 0},
	{"EXPLAIN SELECT 1", ClassRead, CauseVerb, 0},
	{"EXPLAIN (ANALYZE, BUFFERS) SELECT 1", ClassRead, CauseVerb, 0},
	{"SELECT a FROM t WHERE id=@id AND b->>'x' = 'y' AND c <@ d", ClassRead, CauseVerb, 0},
	{"SELECT 1 --'\n, 2", ClassRead, CauseVerb, 0},
	{"SELECT substring(a for 3) FROM t", ClassRead, CauseVerb, 0},

	{"WITH d AS (DELETE FROM job WHERE id=$1 RETURNING id) SELECT id FROM d", ClassWrite, CauseWriting, 0},
	{"WITH a AS (SELECT 1), b AS (SELECT (WITH c AS (UPDATE t SET a=1 RETURNING a) SELECT a FROM c)) SELECT 1", ClassWrite, CauseWriting, 0},
	{"SELECT id FROM job ORDER BY id FOR NO KEY UPDATE OF job SKIP LOCKED LIMIT 1", ClassWrite, CauseLocking, 0},
	{"select id from job for\nupdate skip locked /*trace='" + strings.Repeat("x", 200) + "'*/", ClassWrite, CauseLocking, 0},
	{"SELECT 1 FROM t For /* a */ Share", ClassWrite, CauseLocking, 0},
	{"SELECT 1 FROM t FOR KEY SHARE", ClassWrite, CauseLocking, 0},
	{"SELECT * FROM (SELECT 1 FROM t FOR SHARE) x", ClassWrite, CauseLocking, 0},
	{"SELECT a INTO x FROM t", ClassWrite, CauseWriting, 0},
	{"SELECT a INTO TEMP x FROM t", ClassWrite, CauseWriting, PinTemp},
	{"SELECT nextval('s')", ClassWrite, CauseSequence, 0},
	{"SELECT a, NEXTVAL ('s') FROM t", ClassWrite, CauseSequence, 0},
	{"SELECT pg_try_advisory_lock(42)", ClassWrite, CauseEffect, PinAdvisory},
	{`SELECT "pg_advisory_lock"(1)`, ClassWrite, CauseEffect, PinAdvisory},
	{"SELECT pg_catalog.pg_advisory_lock(1)", ClassWrite, CauseEffect, PinAdvisory},
	{"SELECT pg_advisory_xact_lock(42)", ClassWrite, CauseEffect, 0},
	{"SELECT set_config('app.user', '7', false)", ClassWrite, CauseSetting, PinSet | PinRole},
	{"SELECT pg_terminate_backend(1)", ClassWrite, CauseEffect, 0},
	{"SELECT pg_export_snapshot()", ClassWrite, CauseEffect, 0},
	{"SELECT pg_nobody_knows()", ClassWrite, CauseFunction, PinVolatile},
	{"SELECT * FROM do_write($1)", ClassVolatile, CauseFunction, PinVolatile},
	{"SELECT other.lower('A')", ClassVolatile, CauseFunction, PinVolatile},
	{`SELECT "Lower"('A')`, ClassVolatile, CauseFunction, PinVolatile},
	{`SELECT "in"(1)`, ClassVolatile, CauseFunction, PinVolatile},
	{"WITH x AS (SELECT 1) (SELECT 1) ORDER BY do_write(1)", ClassVolatile, CauseFunction, PinVolatile},
	{"SELECT by(1)", ClassVolatile, CauseFunction, PinVolatile},
	{"SELECT first(a) FROM t", ClassVolatile, CauseFunction, PinVolatile},
	{"SELECT a AS b, do_write(c)", ClassVolatile, CauseFunction, PinVolatile},
	{"SELECT a::int, do_write(c)", ClassVolatile, CauseFunction, PinVolatile},

	{"SHOW transaction_read_only", ClassLocal, CauseServer, 0},
	{"SELECT pg_is_in_recovery()", ClassLocal, CauseServer, 0},
	{"SELECT * FROM pg_stat_activity", ClassLocal, CauseServer, 0},
	{`SELECT * FROM pg_catalog."pg_locks"`, ClassLocal, CauseServer, 0},
	{"SELECT current_setting('search_path')", ClassLocal, CauseServer, 0},

	{"INSERT INTO t(a) VALUES ($1) RETURNING id", ClassWrite, CauseVerb, 0},
	{"INSERT INTO t VALUES (now()) ON CONFLICT (id) DO UPDATE SET a = lower(excluded.a)", ClassWrite, CauseVerb, 0},
	{"INSERT INTO t SELECT set_config('a.b', 'c', false)", ClassWrite, CauseVerb, PinSet | PinRole},
	{"UPDATE t SET (a, b) = (1, 2)", ClassWrite, CauseVerb, 0},
	{"/* outer /* nested */ */ UPDATE t SET a=1", ClassWrite, CauseVerb, 0},
	{"EXPLAIN ANALYZE DELETE FROM t", ClassWrite, CauseVerb, 0},
	{"CREATE TABLE t (a int)", ClassWrite, CauseVerb, 0},
	{"CREATE TEMP TABLE w(a int)", ClassWrite, CauseVerb, PinTemp},
	{"CALL make_temp()", ClassWrite, CauseVerb, PinCall},
	{"DO $$BEGIN END$$", ClassWrite, CauseVerb, PinCall},
	{"COPY t TO STDOUT", ClassWrite, CauseVerb, 0},
	{"FROBNICATE t", ClassUnknown, CauseUnknown, PinUnknown},
	{"SELECT 1; SELECT 2", ClassUnknown, CauseSeveral, 0},
	{"SELECT 1; SET a = 1", ClassUnknown, CauseSeveral, PinSet},
	{"", ClassUnknown, CauseEmpty, 0},
	{"SELECT 'a", ClassUnknown, CauseUnclosed, PinUnknown | PinTx},
	{"SELECT /* a", ClassUnknown, CauseUnclosed, PinUnknown | PinTx},
	{"SELECT '\\'; DELETE FROM t; --'", ClassUnknown, CauseBackslash, PinTx | PinUnknown},
	{`SELECT U&"d\0061t"(1)`, ClassUnknown, CauseName, PinUnknown | PinVolatile},

	{"SET search_path TO a", ClassSession, CauseVerb, PinSet},
	{"SET LOCAL a = 1", ClassSession, CauseVerb, 0},
	{"RESET ALL", ClassSession, CauseVerb, 0},
	{"LISTEN ch", ClassSession, CauseVerb, PinListen},
	{"UNLISTEN *", ClassSession, CauseVerb, 0},
	{"PREPARE p AS INSERT INTO t VALUES (1)", ClassSession, CauseVerb, PinPrepare},
	{"DECLARE c CURSOR WITH HOLD FOR SELECT 1", ClassSession, CauseVerb, PinCursor},
	{"DISCARD ALL", ClassSession, CauseVerb, 0},
	{"EXECUTE p", ClassWrite, CauseVerb, PinUnknown},
	{"BEGIN", ClassControl, CauseVerb, PinTx},
	{"SET TRANSACTION READ ONLY", ClassControl, CauseVerb, 0},
}

func TestStatementsAreWhatTheTableSays(t *testing.T) {
	for _, tt := range classified {
		s := Classify(tt.sql, nil)
		if s.Class != tt.class || s.Why != tt.why || s.Starts != tt.starts {
			t.Errorf("%q: got %v, %v, %v, want %v, %v, %v", tt.sql, s.Class, s.Why, s.Starts, tt.class, tt.why, tt.starts)
		}
	}
}

func TestTransactionControlIsTold(t *testing.T) {
	for _, tt := range []struct {
		sql     string
		control Control
		chain   bool
	}{
		{"begin isolation level serializable", ControlBegin, false},
		{"START TRANSACTION", ControlBegin, false},
		{"COMMIT", ControlCommit, false},
		{"END;", ControlCommit, false},
		{"COMMIT AND CHAIN", ControlCommit, true},
		{"COMMIT WORK AND NO CHAIN", ControlCommit, false},
		{"COMMIT PREPARED 'g'", ControlCommitPrepared, false},
		{"ROLLBACK", ControlRollback, false},
		{"ABORT", ControlRollback, false},
		{"ROLLBACK WORK TO SAVEPOINT s", ControlSavepoint, false},
		{"ROLLBACK PREPARED 'g'", ControlRollbackPrepared, false},
		{"RELEASE s", ControlSavepoint, false},
		{"PREPARE TRANSACTION 'g'", ControlPrepare, false},
	} {
		s := Classify(tt.sql, nil)
		if s.Class != ClassControl || s.Control != tt.control || s.Chain != tt.chain {
			t.Errorf("%q: got %v, control %d, chain %v, want control %d, chain %v", tt.sql, s.Class, s.Control, s.Chain, tt.control, tt.chain)
		}
	}
}

func TestHintsStandInComments(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		hint Hint
	}{
		{"SELECT 1", HintNone},
		{"/* pgryw:primary */ SELECT 1", HintPrimary},
		{"SELECT 1 /*pgryw:replica*/", HintReplica},
		{"SELECT 1 -- pgryw:replica", HintReplica},
		{"SELECT 1 /* pgryw:replica */ -- pgryw:primary", HintPrimary},
		{"SELECT 1 /* pgryw:primary, pgryw:replica */", HintPrimary},
		{"SELECT 1 /* pgryw:relica */", HintPrimary},
		{"SELECT 1 /* pgryw:max_staleness=soon */", HintPrimary},
		{"SELECT 1 /* pgryw:max_staleness=2s */", HintNone},
		{"SELECT '/* pgryw:replica */'", HintNone},
	} {
		if s := Classify(tt.sql, nil); s.Hint != tt.hint {
			t.Errorf("%q: got %v, want %v", tt.sql, s.Hint, tt.hint)
		}
	}
}

func FuzzClassify(f *testing.F) {
	for _, tt := range classified {
		f.Add(tt.sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		s := Classify(sql, nil)
		if s.Class == ClassRead && !s.Single {
			t.Errorf("%q: a read of several statements", sql)
		}
		if s.Class == ClassRead && s.Starts != 0 {
			t.Errorf("%q: a read that starts %v", sql, s.Starts)
		}
		if both := Classify(sql+"\n;DELETE FROM t", nil); both.Class == ClassRead {
			t.Errorf("%q: a read, with a DELETE behind it", sql)
		}
		if before := Classify("DELETE FROM t;"+sql, nil); before.Class == ClassRead {
			t.Errorf("%q: a read, with a DELETE ahead of it", sql)
		}
	})
}

func TestClassifyAllocatesNothing(t *testing.T) {
	for _, tt := range classified {
		if n := testing.AllocsPerRun(10, func() { Classify(tt.sql, nil) }); n != 0 {
			t.Errorf("%q: got %v allocations, want 0", tt.sql, n)
		}
	}
}

func BenchmarkClassify(b *testing.B) {
	const sql = `SELECT id, name, price FROM product WHERE category = $1 AND price < $2 ORDER BY id`
	b.SetBytes(int64(len(sql)))
	b.ReportAllocs()
	for b.Loop() {
		Classify(sql, nil)
	}
}
