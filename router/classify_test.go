package router

import (
	"strings"
	"testing"
)

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
		{"COMMIT WORK AND CHAIN", ControlCommit, true},
		{"END TRANSACTION AND CHAIN", ControlCommit, true},
		{"COMMIT WORK AND NO CHAIN", ControlCommit, false},
		{"COMMIT PREPARED 'chain'", ControlCommitPrepared, false},
		{"ROLLBACK", ControlRollback, false},
		{"ABORT", ControlRollback, false},
		{"ROLLBACK TRANSACTION AND CHAIN", ControlRollback, true},
		{"ROLLBACK TO chain", ControlSavepoint, false},
		{"ROLLBACK WORK TO SAVEPOINT s", ControlSavepoint, false},
		{"ROLLBACK PREPARED 'g'", ControlRollbackPrepared, false},
		{"SAVEPOINT s", ControlSavepoint, false},
		{"RELEASE s", ControlSavepoint, false},
		{"PREPARE TRANSACTION 'g'", ControlPrepare, false},
		{"SET TRANSACTION READ ONLY", ControlSet, false},
		{"SET CONSTRAINTS ALL IMMEDIATE", ControlSet, false},
	} {
		s := Classify(tt.sql, nil)
		if s.Class != ClassControl || s.Control != tt.control || s.Chain != tt.chain {
			t.Errorf("%q: got %v, control %v, chain %v, want control %v, chain %v",
				tt.sql, s.Class, s.Control, s.Chain, tt.control, tt.chain)
		}
	}
}

func TestEveryWordOfAStatementIsItsOwn(t *testing.T) {
	seen := make(map[string]bool)
	tell := func(kind, word string) {
		if word == "invalid" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_") != "" || seen[kind+word] {
			t.Errorf("%s: %q", kind, word)
		}
		seen[kind+word] = true
	}
	for c := ClassUnknown; c <= ClassControl; c++ {
		tell("class", c.String())
	}
	for c := ControlNone; c <= ControlSet; c++ {
		tell("control", c.String())
	}
	for c := CauseNone; c < causeCount; c++ {
		tell("cause", c.String())
	}
	for h := HintNone; h <= HintReplica; h++ {
		tell("hint", h.String())
	}
	for p := PinSet; p <= PinRole; p <<= 1 {
		tell("pin", p.String())
	}
	if got, want := (PinSet | PinTx).String(), "set+transaction"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOnlyWhatSurelyEndsSessionStateIsSaidToEndIt(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		ends Pin
	}{
		{"DISCARD ALL", ^PinTx},
		{"DISCARD TEMP", PinTemp},
		{"DISCARD TEMPORARY", PinTemp},
		{"DISCARD PLANS", 0},
		{"UNLISTEN *", PinListen},
		{"UNLISTEN c", 0},
		{"DEALLOCATE ALL", PinPrepare},
		{"DEALLOCATE PREPARE ALL", PinPrepare},
		{`DEALLOCATE "all"`, 0},
		{"DEALLOCATE p", 0},
		{"CLOSE ALL", PinCursor},
		{"CLOSE c", 0},
		{"RESET ALL", PinSet},
		{"RESET work_mem", 0},
		{"COMMIT", PinTx},
		{"ROLLBACK", PinTx},
		{"COMMIT AND CHAIN", 0},
		{"PREPARE TRANSACTION 'g'", PinTx},
		{"ROLLBACK TO s", 0},
		{"SELECT pg_advisory_unlock_all()", PinAdvisory},
		{"SELECT pg_catalog.pg_advisory_unlock_all()", PinAdvisory},
		{"SELECT pg_advisory_unlock(1)", 0},
		{"SELECT 1 AS pg_advisory_unlock_all", 0},
		{"SELECT a.pg_advisory_unlock_all", 0},
		{"(SELECT pg_advisory_unlock_all)", 0},
		{"SELECT pg_advisory_unlock_all() WHERE false", 0},
		{"SELECT pg_advisory_unlock_all() LIMIT 0", 0},
		{"EXPLAIN SELECT pg_advisory_unlock_all()", 0},
		{"PREPARE p AS SELECT pg_advisory_unlock_all()", 0},
		{"DISCARD ALL; SELECT 1", 0},
		{"DISCARD ALL; SELECT 'a", 0},
	} {
		if s := Classify(tt.sql, nil); s.Ends != tt.ends {
			t.Errorf("%q: got %v, want %v", tt.sql, s.Ends, tt.ends)
		}
	}
}

func TestSingleIsSetForExactlyOneStatement(t *testing.T) {
	for sql, want := range map[string]bool{
		"SELECT 1": true, ";SELECT 1;;": true, "FROBNICATE": true, "": false, ";": false, "SELECT 1; SELECT 2": false,
		"SELECT 'a": false, "SELECT (1": false, "SELECT \xff": false, `SELECT U&"a"`: true, "SELECT (1;2)": true,
	} {
		if s := Classify(sql, nil); s.Single != want {
			t.Errorf("%q: got %v, want %v", sql, s.Single, want)
		}
	}
}

func TestABackslashIsReadAsTheServerReadsIt(t *testing.T) {
	for _, tt := range []struct {
		sql                          string
		unknown, standard, backslash Cause
	}{
		{`SELECT 'a\'`, CauseBackslash, CauseVerb, CauseUnclosed},
		{`SELECT 'a\\'`, CauseVerb, CauseVerb, CauseVerb},
		{`SELECT 'a\n'`, CauseVerb, CauseVerb, CauseVerb},
		{`SELECT 'a\'; DELETE FROM t; --'`, CauseBackslash, CauseSeveral, CauseVerb},
		{`SELECT 'a\''; DELETE FROM t; --'`, CauseBackslash, CauseVerb, CauseSeveral},
		{"SELECT 'a'\n'\\'; DELETE FROM t; --'", CauseBackslash, CauseSeveral, CauseVerb},
		{"SELECT B'1'\n'\\'; DELETE FROM t; --'", CauseSeveral, CauseSeveral, CauseSeveral},
		{`SELECT B'1''\'; DELETE FROM t; --'`, CauseBackslash, CauseSeveral, CauseVerb},
		{`SELECT N'\'; DELETE FROM t; --'`, CauseBackslash, CauseSeveral, CauseVerb},
		{`SELECT E'\'; DELETE FROM t; --'`, CauseVerb, CauseVerb, CauseVerb},
		{`SELECT "\"; DELETE FROM t`, CauseSeveral, CauseSeveral, CauseSeveral},
		{`SELECT $$\$$; DELETE FROM t`, CauseSeveral, CauseSeveral, CauseSeveral},
	} {
		for strings, want := range map[Strings]Cause{
			StringsUnknown: tt.unknown, StringsStandard: tt.standard, StringsBackslash: tt.backslash,
		} {
			if s := Classify(tt.sql, &Env{Strings: strings}); s.Why != want {
				t.Errorf("%q under %d: got %v, want %v", tt.sql, strings, s.Why, want)
			}
		}
	}
}

func TestATextThatNoServerTakesIsDoubted(t *testing.T) {
	s := Classify("SELECT '"+strings.Repeat("x", textLimit)+"'", nil)
	if s.Class != ClassUnknown || s.Why != CauseLength || s.Starts&PinUnknown == 0 {
		t.Errorf("got %v, %v, %v", s.Class, s.Why, s.Starts)
	}
}

func TestDeepParenthesesDoNotHideACall(t *testing.T) {
	for _, depth := range []int{60, 63, 64, 65, 200} {
		open, closed := strings.Repeat("(", depth), strings.Repeat(")", depth)
		if s := Classify("SELECT "+open+"1"+closed, nil); s.Class != ClassRead {
			t.Errorf("%d deep: got %v, want a read", depth, s.Class)
		}
		if s := Classify("SELECT "+open+"SELECT DISTINCT ON (a) do_write(1)"+closed, nil); s.Class != ClassVolatile {
			t.Errorf("%d deep: got %v, want volatile", depth, s.Class)
		}
	}
}
