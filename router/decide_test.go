package router

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pgryw/pgryw/lsn"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var decideNow = time.Unix(1_000_000, 0)

func at(timeline uint32, l lsn.LSN) lsn.Position {
	return lsn.Position{System: 7, Timeline: timeline, LSN: l}
}

// fences are what a read may need, against a primary on timeline 2 at 300 that
// passed 200 a second ago.
var fences = []struct {
	name string
	need lsn.State
}{
	{"none", lsn.State{}},
	{"at_100", lsn.State{Position: at(2, 100)}},
	{"at_200", lsn.State{Position: at(2, 200)}},
	{"at_300", lsn.State{Position: at(2, 300)}},
	{"uncertain", lsn.State{Position: at(2, 100), Doubt: 1}},
	{"only_uncertain", lsn.State{Doubt: 1}},
	{"older_timeline", lsn.State{Position: at(1, 100)}},
	{"later_timeline", lsn.State{Position: at(3, 100)}},
	{"other_system", lsn.State{Position: lsn.Position{System: 8, Timeline: 2, LSN: 100}}},
}

func replica(p lsn.Position, lag time.Duration, trouble Reason) Node {
	return Node{Label: "r", Role: RoleReplica, Pair: Pair{Position: p}, Lag: lag, Trouble: trouble}
}

func stalledReplica(p lsn.Position, lag, behind time.Duration) Node {
	n := replica(p, lag, ReasonNone)
	n.Behind = behind
	return n
}

// clusters are the servers that a read may find.
var clusters = []struct {
	name     string
	replicas []Node
}{
	{"no_replica", nil},
	{"replica_unreachable", []Node{replica(at(2, 300), 0, ReasonUnreachable)}},
	{"replica_without_pair", []Node{replica(lsn.Position{}, -1, ReasonNone)}},
	{"replica_at_100", []Node{replica(at(2, 100), 2*time.Second, ReasonNone)}},
	{"replica_at_100_lag_50ms", []Node{replica(at(2, 100), 50*time.Millisecond, ReasonNone)}},
	{"replica_at_100_lag_50ms_stalled_1s", []Node{stalledReplica(at(2, 100), 50*time.Millisecond, time.Second)}},
	{"replica_at_100_lag_50ms_stalled_2s", []Node{stalledReplica(at(2, 100), 50*time.Millisecond, 2*time.Second)}},
	{"replica_at_100_lag_unknown", []Node{replica(at(2, 100), -1, ReasonNone)}},
	{"replica_at_300", []Node{replica(at(2, 300), 0, ReasonNone)}},
	{"replica_of_older_timeline_at_300", []Node{replica(at(1, 300), 0, ReasonNone)}},
	{"replica_of_later_timeline_at_300", []Node{replica(at(3, 300), 0, ReasonNone)}},
	{"replica_of_unknown_role", []Node{{Label: "r", Pair: Pair{Position: at(2, 300)}}}},
	{"one_at_100_one_at_300", []Node{replica(at(2, 100), 50*time.Millisecond, ReasonNone), replica(at(2, 300), 0, ReasonNone)}},
}

// Indices of some of clusters.
const (
	behindCluster = 3
	freshCluster  = 8
	mixedCluster  = 12
)

func cluster(replicas []Node) *Snapshot {
	s := &Snapshot{
		System: 7, Timeline: 2, Primary: 0,
		Nodes: []Node{{Label: "p", Role: RolePrimary}},
		History: []Sample{
			{At: decideNow.Add(-2 * time.Second), LSN: 100},
			{At: decideNow.Add(-time.Second), LSN: 200},
			{At: decideNow, LSN: 300},
		},
	}
	s.Nodes = append(s.Nodes, replicas...)
	return s
}

func (d Decision) brief() string {
	if d.Wait > 0 {
		return fmt.Sprintf("wait %v for %d, else primary, %s", d.Wait, d.WaitFor, d.Reason)
	}
	if d.Replica() {
		return fmt.Sprintf("replica %d, %s", d.Node, d.Reason)
	}
	return fmt.Sprintf("primary, %s", d.Reason)
}

func TestDecisionsAreAsRecorded(t *testing.T) {
	var b strings.Builder
	section := func(title string) { fmt.Fprintf(&b, "# %s\n", title) }

	section("what may leave the primary: fence at_100, replica_at_300")
	fresh := cluster(clusters[freshCluster].replicas)
	for class := ClassUnknown; class <= ClassControl; class++ {
		for _, route := range []Route{RouteAuto, RouteHinted, RouteOff} {
			for _, volatility := range []Volatile{VolatilePrimary, VolatileReplica} {
				for hint := HintNone; hint <= HintReplica; hint++ {
					for _, pins := range []Pin{0, PinSet, PinTx} {
						policy := Policy{Route: route, Volatile: volatility}
						d := Decide(fresh, &policy, &Request{
							Statement: Statement{Class: class, Single: true}, Hint: hint, Pins: pins,
							Need: fences[1].need, Now: decideNow,
						})
						fmt.Fprintf(&b, "class=%v route=%v volatile=%v hint=%v pins=%v -> %s\n", class, route, volatility, hint, pins, d.brief())
					}
				}
			}
		}
	}

	section("a read by fence and servers")
	for _, c := range clusters {
		for _, f := range fences {
			d := Decide(cluster(c.replicas), &Policy{}, &Request{
				Statement: Statement{Class: ClassRead, Single: true}, Need: f.need, Now: decideNow,
			})
			fmt.Fprintf(&b, "%s fence=%s -> %s\n", c.name, f.name, d.brief())
		}
	}

	section("a read that may wait 1.5s")
	for _, c := range clusters {
		for _, f := range fences {
			d := Decide(cluster(c.replicas), &Policy{Wait: 1500 * time.Millisecond}, &Request{
				Statement: Statement{Class: ClassRead, Single: true}, Need: f.need, Now: decideNow,
			})
			fmt.Fprintf(&b, "%s fence=%s -> %s\n", c.name, f.name, d.brief())
		}
	}

	section("a read without fence, of unusual servers")
	read := &Request{Statement: Statement{Class: ClassRead, Single: true}, Now: decideNow}
	for _, u := range []struct {
		name   string
		change func(*Snapshot)
	}{
		{"single", func(s *Snapshot) { s.Single = true }},
		{"no_primary", func(s *Snapshot) { s.Primary = -1 }},
		{"system_unknown", func(s *Snapshot) { s.System = 0 }},
	} {
		s := cluster(clusters[freshCluster].replicas)
		u.change(s)
		fmt.Fprintf(&b, "%s -> %s\n", u.name, Decide(s, &Policy{}, read).brief())
	}
	remembered := *read
	remembered.Remembered = true
	fmt.Fprintf(&b, "remembered -> %s\n", Decide(fresh, &Policy{}, &remembered).brief())

	section("transactions: fence at_100")
	for _, c := range []int{behindCluster, freshCluster} {
		for _, readOnly := range []bool{false, true} {
			for _, serializable := range []bool{false, true} {
				for _, place := range []ReadOnlyTx{ReadOnlyTxReplica, ReadOnlyTxPrimary} {
					for _, route := range []Route{RouteAuto, RouteHinted, RouteOff} {
						for hint := HintNone; hint <= HintReplica; hint++ {
							for _, pins := range []Pin{0, PinSet} {
								policy := Policy{Route: route, ReadOnlyTx: place}
								d := DecideTx(cluster(clusters[c].replicas), &policy, &TxRequest{
									ReadOnly: readOnly, Serializable: serializable, Hint: hint, Pins: pins,
									Need: fences[2].need, Now: decideNow,
								})
								fmt.Fprintf(&b, "%s readonly=%v serializable=%v readonly_tx=%v route=%v hint=%v pins=%v -> %s\n",
									clusters[c].name, readOnly, serializable, place, route, hint, pins, d.brief())
							}
						}
					}
				}
			}
		}
	}
	checkGolden(t, "testdata/decisions.golden", b.String())
}

func checkGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		g, w := "(end)", "(end)"
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if g != w {
			t.Fatalf("line %d of %s: got %q, want %q", i+1, file, g, w)
		}
	}
}

func TestReadsAreSpreadOverEquallyGoodReplicas(t *testing.T) {
	s := cluster([]Node{
		replica(at(2, 300), 0, ReasonNone), replica(at(2, 300), 0, ReasonUnreachable), replica(at(2, 300), 0, ReasonNone),
	})
	counts := map[int]int{}
	for turn := range uint64(100) {
		counts[Decide(s, &Policy{}, &Request{Statement: Statement{Class: ClassRead}, Turn: turn}).Node]++
	}
	if counts[1] != 50 || counts[3] != 50 {
		t.Errorf("got %v, want 50 reads each on nodes 1 and 3", counts)
	}
}

func TestDecideAllocatesNothing(t *testing.T) {
	s := cluster(clusters[mixedCluster].replicas)
	r := &Request{Statement: Statement{Class: ClassRead}, Need: fences[2].need, Now: decideNow}
	if n := testing.AllocsPerRun(100, func() { Decide(s, &Policy{}, r) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func BenchmarkDecide(b *testing.B) {
	s := cluster(clusters[mixedCluster].replicas)
	p := &Policy{}
	r := &Request{Statement: Statement{Class: ClassRead}, Need: fences[2].need, Now: decideNow}
	b.ReportAllocs()
	for b.Loop() {
		Decide(s, p, r)
	}
}
