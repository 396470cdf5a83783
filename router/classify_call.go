package router

import (
	"bytes"
	"strings"
)

// named takes in the name that stands before parentheses: that of a function, or
// not. It reports whether an expression may follow the parentheses.
func (c *classifier) named(t token) (odd bool) {
	var buf [nameLimit]byte
	name := c.nameOf(&buf, t)
	if c.last(2) == kindDot {
		c.qualified(name)
		return false
	}
	k := names.look(name)
	if t.kind == kindWord {
		switch c.syntaxOf(k) {
		case syntaxPlain:
			return false
		case syntaxOdd:
			return true
		case syntaxCast:
			c.called(effectOpaque)
			return false
		case syntaxConstruct:
			if user := c.functions.find(name); user > effectNone {
				c.call("", name, effectAbsent, user)
			}
			return false
		}
	}
	built, user := k.effect, c.functions.find(name)
	switch {
	case built != effectAbsent || user != effectAbsent:
	case c.aliased(2):
		return false
	case bytes.HasPrefix(name, []byte("pg_")):
		built = effectOpaque // of a newer server
	default:
		user = effectUnknown
	}
	c.call("", name, built, user)
	return false
}

// qualified takes in the name of a function of a schema. With a database before
// it, or a schema that is not known, it may be any.
func (c *classifier) qualified(name []byte) {
	var buf [nameLimit]byte
	schema := c.nameOf(&buf, c.back(3))
	built, user := effectAbsent, c.functions.findIn(schema, name)
	switch {
	case schema == nil || c.last(4) == kindDot:
		built, user = builtin(name), effectUnknown
	case string(schema) == "pg_catalog":
		if built = builtin(name); built == effectAbsent && user == effectAbsent {
			built = effectOpaque // of a newer server
		}
	case user != effectAbsent:
	case c.aliased(4):
		return
	default:
		user = effectUnknown
	}
	c.call(c.textOf(c.back(3)), name, built, user)
}

// aliased reports whether the name behind the n-th token back is no function's,
// in any statement that a server accepts: the name of a type, an alias, a common
// table expression or a table, with a list in parentheses.
func (c *classifier) aliased(n uint) bool {
	switch before := c.back(n); before.kind {
	case kindCast, kindWith, kindInto:
		return true
	case kindClose:
		return !c.closedOdd
	case kindComma:
		return c.lists&maskAt(c.depth) != 0
	case kindWord:
		return c.is(before, "as") || n == 2 && c.aliasedBy(before)
	}
	return false
}

// aliasedBy reports whether a word, two tokens back, has no function behind it.
func (c *classifier) aliasedBy(word token) bool {
	switch c.last(3) {
	case kindDot:
		return true // the name of a schema's table
	case kindWith:
		return c.is(word, "recursive") || c.is(word, "ordinality")
	case kindWord:
		var buf [nameLimit]byte
		from := c.back(3)
		return (c.is(from, "from") || c.is(from, "join")) &&
			names.look(fold(&buf, c.textOf(word))).syntax&syntaxReserved == 0
	}
	return false
}

// nameOf returns the name that a word or a quoted identifier stands for, or nil
// if it is neither, or a name that is not looked up.
func (c *classifier) nameOf(b *[nameLimit]byte, t token) []byte {
	text := c.textOf(t)
	switch {
	case t.kind.word():
		return fold(b, text)
	case t.kind != kindQuoted || len(text) > nameLimit || strings.IndexByte(text, '"') >= 0:
		return nil
	}
	return b[:copy(b[:], text)]
}

// call takes in the call of a function: what it does if it is the built-in one,
// and if it is a user's.
func (c *classifier) call(schema string, name []byte, built, user effect) {
	if user == effectVolatile && bytes.HasPrefix(name, []byte("pg_")) {
		user = effectOpaque // of an extension to the server itself
	}
	if c.calls != nil {
		c.calls(Call{Schema: schema, Name: string(name), Effect: max(built, user).String()})
	}
	c.called(built)
	c.called(user)
}

// called takes in the effect of a call.
func (c *classifier) called(e effect) {
	if e <= effectNone {
		return
	}
	switch e {
	case effectServer:
		c.server = true
		c.because(e, CauseServer)
	case effectVolatile, effectUnknown, effectOpaque:
		c.volatile = true
		c.because(e, CauseFunction)
	case effectWrites:
		c.because(e, CauseSequence)
	case effectSetting:
		c.because(e, CauseSetting)
		if c.settingAt == 0 {
			c.settingAt = c.depth + 1
		} else {
			c.starts |= PinSet | PinRole
		}
	case effectActs:
		c.because(e, CauseEffect)
	case effectUnlocks:
		c.because(e, CauseEffect)
		c.unlocks = true
	case effectLocks:
		c.because(e, CauseEffect)
		c.starts |= PinAdvisory
	}
}

// attribute takes in a name that is a function's if no parentheses follow: a
// value may be passed as in (1).pg_advisory_lock.
func (c *classifier) attribute(t token) {
	var buf [nameLimit]byte
	if name := c.nameOf(&buf, t); name != nil {
		if e := max(builtin(name), c.functions.find(name)); e > effectNone {
			c.pending = e
		}
	}
}

// attributed takes in that no parentheses have followed.
func (c *classifier) attributed() {
	c.called(c.pending)
	if c.pending == effectSetting {
		c.starts |= PinSet | PinRole
		c.settingAt = 0
	}
	c.pending = effectAbsent
}

// relation takes in a name that may be one of a server's own view, or of a
// schema of temporary tables.
func (c *classifier) relation(name []byte) {
	switch {
	case bytes.HasPrefix(name, []byte("pg_temp")):
		c.inTemp = true
	case serverView(name):
	default:
		return
	}
	c.called(effectServer)
}

// serverView reports whether a view answers for its server.
//
// Source: https://www.postgresql.org/docs/18/views.html and
// https://www.postgresql.org/docs/18/monitoring-stats.html
func serverView(name []byte) bool {
	switch string(name) {
	case "pg_aios", "pg_available_extension_versions", "pg_available_extensions", "pg_backend_memory_contexts",
		"pg_config", "pg_cursors", "pg_dsm_registry_allocations", "pg_file_settings", "pg_hba_file_rules",
		"pg_ident_file_mappings", "pg_locks", "pg_prepared_statements", "pg_prepared_xacts",
		"pg_replication_origin_status", "pg_replication_slots", "pg_sequences", "pg_settings",
		"pg_shmem_allocations", "pg_shmem_allocations_numa":
		return true
	}
	return bytes.HasPrefix(name, []byte("pg_stat_")) || bytes.HasPrefix(name, []byte("pg_statio_")) ||
		bytes.HasPrefix(name, []byte("pg_buffercache"))
}
