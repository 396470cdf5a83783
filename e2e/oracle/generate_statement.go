package oracle

// statement writes any statement; most are queries.
func (g *Generator) statement() {
	switch n := g.random.IntN(20); {
	case n < 12:
		g.query()
	case n < 14:
		g.change()
	case n < 16:
		g.explain()
	case n < 18:
		g.session()
	case n < 19:
		g.control()
	default:
		g.utility()
	}
}

// change writes INSERT, UPDATE, DELETE or MERGE.
func (g *Generator) change() {
	g.perhaps(8, g.with)
	switch g.random.IntN(5) {
	case 0:
		g.say("update", "t", "set")
		g.list(func() { g.say("a", "="); g.expression() })
		g.perhaps(2, func() { g.say("where"); g.expression() })
	case 1:
		g.say("delete", "from", "t")
		g.perhaps(2, func() { g.say("where"); g.expression() })
	case 2:
		g.raw("merge into t using u on ")
		g.expression()
		g.raw("when matched then delete")
		return
	case 3:
		g.raw("update t set (a, b) = ")
		g.inside(g.query)
	default:
		g.say("insert", "into", "t")
		g.perhaps(2, g.names)
		g.query()
		g.perhaps(4, func() { g.raw("on conflict (a) do nothing") })
	}
	g.perhaps(3, func() { g.say("returning"); g.list(g.target) })
}

// explain writes EXPLAIN.
func (g *Generator) explain() {
	g.say("explain")
	g.raw(g.pick("", "", "analyze", "analyze verbose", "verbose", "(analyze)", "(analyze false, verbose)", "(format json)",
		"(analyze, buffers, settings on)"))
	g.either(
		g.query, g.query, g.query, g.change,
		func() { g.inside(g.query) },
		func() { g.say("execute", "p(1)") },
		func() { g.raw("create temp table w as "); g.query() },
		func() { g.raw("declare c cursor with hold for "); g.query() },
		func() { g.raw("refresh materialized view v") },
	)
}

// session writes what concerns the connection only.
func (g *Generator) session() {
	g.either(
		func() {
			g.say("set")
			g.raw(g.pick("", "session", "local"))
			g.raw(g.pick("search_path to a, b", "a.b = 'c'", "role none", "role x", "session authorization default", "time zone local",
				"work_mem to default", "schema 'a'", "names 'utf8'", "seed to 0.5", "xml option document", "local_preload_libraries = a",
				"transaction_read_only = on", `"role" to x`, "transaction read only", "constraints.a to 1", "session.a to 1", "local.a to 1",
				"catalog 'a'", "a.b.c to 1", `"session_authorization" = x`))
		},
		func() { g.raw("set session characteristics as transaction read only") },
		func() {
			g.say("reset")
			g.raw(g.pick("all", "a.b", "role", "session authorization", "time zone", `"all"`))
		},
		func() { g.say("show"); g.raw(g.pick("all", "a.b", "time zone", "transaction isolation level")) },
		func() { g.say("discard"); g.raw(g.pick("all", "temp", "temporary", "plans", "sequences")) },
		func() { g.say("listen"); g.name() },
		func() { g.say("unlisten"); g.either(func() { g.raw("*") }, g.name) },
		func() {
			g.say("deallocate")
			g.raw(g.pick("all", "prepare all", "p", "prepare p", "prepare", `"all"`, `prepare "all"`))
		},
		func() { g.say("close"); g.raw(g.pick("all", "c", `"all"`)) },
		func() {
			g.say(g.pick("fetch", "move"))
			g.raw(g.pick("next from c", "all in c", "c", "forward 10 from c", "-1 c", "for"))
		},
		func() { g.raw("load 'a'") },
		func() { g.raw("prepare p (int) as "); g.either(g.query, g.change) },
		func() { g.raw("prepare transaction as "); g.query() },
		func() {
			g.say("declare")
			g.name()
			g.raw(g.pick("cursor for", "cursor with hold for", "cursor without hold for", "binary insensitive no scroll cursor with hold for",
				"asensitive scroll cursor for"))
			g.query()
		},
	)
}

// control writes what begins, ends or divides a transaction.
func (g *Generator) control() {
	g.raw(g.pick("begin", "begin work", "begin isolation level serializable, read only", "start transaction", "commit", "end", "commit work",
		"commit and chain", "commit transaction and no chain", "end and chain", "rollback", "abort", "rollback to s", "rollback work to savepoint s",
		"rollback and chain", "abort and no chain", "abort work and chain", "savepoint s", "release s", "release savepoint s",
		"prepare transaction 'g'", "commit prepared 'g'", "rollback prepared 'g'", "set transaction read only",
		"set transaction isolation level serializable", "set local transaction read only", "set constraints all deferred",
		"set constraints a, b immediate", "begin transaction deferrable", "set transaction snapshot 'a'", "set session transaction read only",
		"rollback to prepared", "rollback transaction to chain", "savepoint and", "prepare transaction U&'g'", "prepare transaction E'g'"))
}

// utility writes anything else.
func (g *Generator) utility() {
	g.either(
		func() { g.raw("create table w as "); g.query() },
		func() {
			g.raw(g.pick("create temp table w as ", "create local temporary table w as ", "create table pg_temp.w as "))
			g.query()
		},
		func() {
			g.raw(g.pick("create view v as ", "create or replace temp view v as ", "create temp recursive view v(a) as "))
			g.query()
		},
		func() { g.raw("copy ("); g.query(); g.raw(") to stdout") },
		func() { g.raw("copy t to program 'a'") },
		func() { g.raw("call "); g.call() },
		func() { g.raw("do $a$ begin; end $a$") },
		func() { g.raw("execute p("); g.expression(); g.raw(")") },
		func() { g.raw("notify a, 'b'") },
		func() { g.raw("truncate t") },
		func() { g.raw("lock t") },
		func() { g.raw("alter table t set (a = 1)") },
		func() { g.raw("create temp sequence s") },
		func() { g.raw("create index on t (lower(a))") },
		func() { g.raw("create function f() returns int language sql as $$ select 1; select 2 $$") },
		func() { g.raw("create function f() returns int begin atomic select 1; select 2; end") },
		func() { g.raw("create rule r as on insert to t do (select 1; delete from u)") },
		func() { g.raw("create function pg_temp.f() returns int language sql as 'select 1'") },
		func() { g.raw("vacuum (analyze) t") },
		func() { g.raw("checkpoint") },
		func() { g.raw("refresh materialized view v") },
		func() { g.raw("alter system set a = 1") },
		func() { g.raw("grant select on t to a") },
		func() { g.raw("comment on table t is 'select 1'") },
	)
}
