package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// narrow is a connection that fails after a number of bytes.
type narrow struct {
	line
	room int
}

var errNarrow = errors.New("no more room")

func (n *narrow) Write(p []byte) (int, error) {
	if len(p) <= n.room {
		n.room -= len(p)
		return len(p), nil
	}
	k := n.room
	n.room = 0
	return k, errNarrow
}

func TestAFailedWriteSaysNothingWasWrittenOnlyIfThatIsSo(t *testing.T) {
	user := wireForms("insert")["unnamed"]
	f := Flight{Guard: guardQuery, Pass: notInRecovery, Capture: captureQuery}
	whole := newLine()
	whole.shim.Arm(f)
	whole.send(t, user)
	for room := range len(whole.written) {
		conn := &narrow{room: room}
		s := &Shim{w: conn}
		s.Arm(f)
		n, err := (*writer)(s).Write(user)
		if !errors.Is(err, errNarrow) || (n == 0) != (room == 0) || n > len(user) {
			t.Errorf("%d bytes written: got %d, %v", room, n, err)
		}
		if o := s.Finish(); o.Sent != (room > 0) || o.Ended || !o.Broken {
			t.Errorf("%d bytes written: got %+v", room, o)
		}
	}
}

func TestAWriteThatIsLargeIsNotCopied(t *testing.T) {
	text := bytes.Repeat([]byte("x"), 1<<20)
	user := encode(&pgproto3.Parse{Query: "insert"}, &pgproto3.Bind{Parameters: [][]byte{text}}, &pgproto3.Execute{}, &pgproto3.Sync{})
	server := &scripted{t: t, reply: replyByName}
	f := Flight{Guard: guardQuery, Pass: notInRecovery, AskXID: AskBehind, Capture: captureQuery}
	l := newLine()
	l.shim.Arm(f)
	l.send(t, user)
	if got := cap(l.shim.buf); got > joinBytes {
		t.Errorf("the Shim keeps %d bytes", got)
	}
	l.in = server.offline(l.written)
	if _, err := l.receive(); err != nil {
		t.Fatal(err)
	}
	o := l.shim.Finish()
	wantEverything(t, &o)
}

func TestALargeRowIsHandedUpAsItComes(t *testing.T) {
	const size = 8 << 20
	row := encodeBackend(&pgproto3.DataRow{Values: [][]byte{make([]byte, size)}})
	server := &scripted{t: t, reply: replyByName}
	l := newLine()
	l.shim.Arm(Flight{Guard: guardQuery, Pass: notInRecovery, AskXID: AskBehind, Capture: captureQuery})
	l.send(t, wireForms("no rows")["unnamed"])
	answers := server.offline(l.written)
	at := bytes.Index(answers, []byte("C\x00\x00\x00\x0dSELECT 0"))
	l.in = append(bytes.Clone(answers[:at]), row[:size/2]...)
	l.end = io.ErrNoProgress // stands for nothing more at the moment
	got, err := l.receive()
	if !errors.Is(err, io.ErrNoProgress) || len(got) < size/2 {
		t.Fatalf("got %d bytes of the half row, %v", len(got), err)
	}
	l.in = append(row[size/2:], answers[at:]...)
	rest, err := l.receive()
	if err != nil {
		t.Fatal(err)
	}
	o := l.shim.Finish()
	wantEverything(t, &o)
	if !bytes.Contains(append(got, rest...), row) {
		t.Error("the row was changed")
	}
	if s := l.shim; cap(s.body)+cap(s.in)+cap(s.out) > 64<<10 {
		t.Errorf("the Shim keeps %d, %d and %d bytes", cap(s.body), cap(s.in), cap(s.out))
	}
}

func encodeBackend(m pgproto3.BackendMessage) []byte {
	b, err := m.Encode(nil)
	if err != nil {
		panic(err)
	}
	return b
}

func TestTerminateIsWrittenInEveryState(t *testing.T) {
	for _, gate := range []uint32{gateIdle, gateBusy, gateDraining, gateDead} {
		l := newLine()
		l.shim.gate.Store(gate)
		terminate := encode(&pgproto3.Terminate{})
		l.send(t, terminate)
		if !bytes.Equal(l.written, terminate) {
			t.Errorf("gate %d: got %q", gate, l.written)
		}
	}
}

func TestACallOfSeveralFlightsHasEachCarried(t *testing.T) {
	server := newScripted(t, scriptedReply)
	for _, mode := range modes {
		c, rec := recorded(t, server.config(mode))
		rec.start()
		o, err := one(t, c, Flight{Capture: captureQuery}, path{run: writePaths[0].run}.twice())
		text, _ := rec.stop()
		if err != nil || len(o.Tags) != 2 {
			t.Errorf("%s: got %v, %+v", mode, err, o)
		}
		wantCapture(t, &o)
		if got := bytes.Count([]byte(text), []byte(`Bind "pgryw_capture"`)); got != 2 {
			t.Errorf("%s: got %d captures, want 2", mode, got)
		}
	}
}

func TestPgxSeesNothingOfAnyFlightWhateverTheServerInterjects(t *testing.T) {
	server := newScripted(t, scriptedReply)
	server.noise, server.onebyte = true, true
	for _, tr := range transcripts {
		for _, p := range tr.paths {
			for _, mode := range modes {
				c := connect(t, server.config(mode))
				for range 2 {
					prepare(t, c, p)
					o, err := one(t, c, tr.flight, p.run)
					if err != nil {
						t.Fatalf("%s, %s, %s: %v", tr.file, p.name, mode, err)
					}
					tr.check(t, &o)
				}
			}
		}
	}
}

func TestAQuestionAheadLeavesAStatementThatWasParsedBeforeAlone(t *testing.T) {
	server := newScripted(t, scriptedReply)
	for mode, want := range map[pgx.QueryExecMode]XID{
		pgx.QueryExecModeDescribeExec:  XIDUnknown, // binds what an earlier Write parsed
		pgx.QueryExecModeExec:          XIDNone,
		pgx.QueryExecModeCacheDescribe: XIDNone,
	} {
		c := connect(t, server.config(mode))
		o, err := one(t, c, Flight{AskXID: AskAhead}, writePaths[0].run)
		if err != nil || o.XID != want {
			t.Errorf("%s: got %v, %+v, want xid %d", mode, err, o, want)
		}
	}
}

func TestOfSeveralFlightsTheOneThatWroteCounts(t *testing.T) {
	c := realClient(t, pgx.QueryExecModeExec)
	insert, query := writePaths[0].run, readPaths[0].run
	for _, order := range [][2]func(context.Context, *client) error{{insert, query}, {query, insert}} {
		o, err := one(t, c, Flight{AskXID: AskBehind}, func(ctx context.Context, c *client) error {
			return errors.Join(order[0](ctx, c), order[1](ctx, c))
		})
		if err != nil || o.XID != XIDAssigned || len(o.Tags) != 2 {
			t.Errorf("got %v, %+v, want XIDAssigned", err, o)
		}
	}
}
