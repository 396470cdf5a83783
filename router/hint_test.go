package router

import (
	"testing"
	"time"
)

func TestHintsStandInComments(t *testing.T) {
	for _, tt := range []struct {
		sql   string
		hint  Hint
		bound time.Duration
	}{
		{"SELECT 1", HintNone, 0},
		{"/* pgryw:primary */ SELECT 1", HintPrimary, 0},
		{"SELECT 1 /*pgryw:replica*/", HintReplica, 0},
		{"SELECT 1 -- pgryw:replica", HintReplica, 0},
		{"SELECT 1 -- pgryw:replica\n, 2", HintReplica, 0},
		{"SELECT /* a /* pgryw:replica */ b */ 1", HintReplica, 0},
		{"SELECT 1 /* Pgryw:REPLICA */", HintReplica, 0},
		{"SELECT 1 /*app='web',pgryw:replica,route='%2Fx'*/", HintReplica, 0},
		{"SELECT 1 /* at 10:00: pgryw:replica; */", HintReplica, 0},
		{"SELECT 'a' -- pgryw:replica\n 'b'", HintReplica, 0},
		{"SELECT 1 /* pgryw:replica */ -- pgryw:primary", HintPrimary, 0},
		{"SELECT 1 /* pgryw:primary, pgryw:replica */", HintPrimary, 0},
		{"SELECT 1 /* pgryw:replica pgryw:replica */", HintReplica, 0},
		{"SELECT 1 /* pgryw:relica */", HintPrimary, 0},
		{"SELECT 1 /* pgryw: replica */", HintPrimary, 0},
		{"SELECT 1 /* pgryw:replicas */", HintPrimary, 0},
		{"SELECT 1 /* pgryw:*/", HintPrimary, 0},
		{"SELECT 1 --pgryw:", HintPrimary, 0},
		{"SELECT 1 /* pgryw:max_staleness=soon */", HintPrimary, 0},
		{"SELECT 1 /* pgryw:max_staleness= */", HintPrimary, 0},
		{"SELECT 1 /* pgryw:max_staleness=-1s */", HintPrimary, 0},
		{"SELECT 1 /* pgryw:max_staleness=0s */", HintPrimary, 0},
		{"SELECT 1 /* pgryw:max_staleness=2s */", HintNone, 2 * time.Second},
		{"SELECT 1 /* pgryw:max_staleness=1m30s,pgryw:replica */", HintReplica, 90 * time.Second},
		{"SELECT 1 /* pgryw:max_staleness=2s pgryw:max_staleness=2000ms */", HintNone, 2 * time.Second},
		{"SELECT 1 /* pgryw:max_staleness=2s */ -- pgryw:max_staleness=3s", HintPrimary, 2 * time.Second},
		{"SELECT '/* pgryw:replica */'", HintNone, 0},
		{`SELECT "-- pgryw:replica"`, HintNone, 0},
		{"SELECT $$/* pgryw:replica */$$", HintNone, 0},
		{"SELECT 1 /* nopgryw:replica */", HintNone, 0},
		{"SELECT 1 /* pgryw replica */", HintNone, 0},
		{"DELETE FROM t /* pgryw:replica */", HintReplica, 0},
		{"SELECT 1; SELECT 2 /* pgryw:primary */", HintPrimary, 0},
	} {
		if s := Classify(tt.sql, nil); s.Hint != tt.hint || s.MaxStaleness != tt.bound {
			t.Errorf("%q: got %v, %v, want %v, %v", tt.sql, s.Hint, s.MaxStaleness, tt.hint, tt.bound)
		}
	}
}
