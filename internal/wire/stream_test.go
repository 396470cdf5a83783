package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// line is a Shim between a client's bytes and a server's bytes, without a
// connection: what is read is cut as the test wants it.
type line struct {
	shim    *Shim
	written []byte
	writes  int
	in      []byte
	cuts    func() int // sizes of the pieces that in is read in
	buffer  int        // size of the pieces that the client reads,
	uneven  bool       // of which two out of three are small
	end     error      // what follows in; nil stands for io.EOF
	up      framer     // where the client is in what it has read
}

func newLine() *line {
	l := &line{cuts: func() int { return 1 << 20 }, buffer: 8192}
	l.shim = &Shim{r: l, w: l}
	return l
}

func (l *line) Read(p []byte) (int, error) {
	if len(l.in) == 0 {
		if l.end != nil {
			return 0, l.end
		}
		return 0, io.EOF
	}
	n := copy(p, l.in[:min(len(l.in), max(1, l.cuts()))])
	l.in = l.in[n:]
	return n, nil
}

func (l *line) Write(p []byte) (int, error) {
	l.writes++
	l.written = append(l.written, p...)
	return len(p), nil
}

func (*line) Close() error                     { return nil }
func (*line) LocalAddr() net.Addr              { return nil }
func (*line) RemoteAddr() net.Addr             { return nil }
func (*line) SetDeadline(time.Time) error      { return nil }
func (*line) SetReadDeadline(time.Time) error  { return nil }
func (*line) SetWriteDeadline(time.Time) error { return nil }

// send has the client write p.
func (l *line) send(t testing.TB, p []byte) {
	t.Helper()
	if n, err := (*writer)(l.shim).Write(p); n != len(p) || err != nil {
		t.Fatalf("Write: got %d, %v, want %d", n, err, len(p))
	}
}

// room is the size of the piece that the client reads as number i.
func (l *line) room(i int) int {
	if l.uneven && i%3 != 0 {
		return min(l.buffer, 1+i%7)
	}
	return l.buffer
}

// receive has the client read everything up to the ReadyForQuery that ends it or
// an error.
func (l *line) receive() ([]byte, error) {
	var all []byte
	p := make([]byte, l.buffer)
	for i := 0; ; i++ {
		n, err := (*reader)(l.shim).Read(p[:l.room(i)])
		for b := p[:n]; len(b) > 0; {
			k, _, ended := l.up.take(b)
			if b = b[k:]; ended && l.up.kind == 'Z' && len(b) == 0 {
				return append(all, p[:n]...), nil
			}
		}
		all = append(all, p[:n]...)
		if err != nil {
			return all, err
		}
	}
}

// wireForms are what pgx writes for one statement: by a statement prepared
// before, with and without a description of it, with an unnamed one, and as a
// simple Query.
func wireForms(sql string) map[string][]byte {
	parse := &pgproto3.Parse{Query: sql}
	portal := &pgproto3.Describe{ObjectType: 'P'}
	return map[string][]byte{
		"unnamed":   encode(parse, &pgproto3.Bind{}, portal, &pgproto3.Execute{}, &pgproto3.Sync{}),
		"described": encode(parse, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Sync{}),
		"simple":    encode(&pgproto3.Query{String: sql}),
	}
}

// flights are all that can be asked together.
func flights() map[string]Flight {
	all := make(map[string]Flight)
	for _, guard := range []*Query{nil, guardQuery} {
		for _, ask := range []AskXID{AskNothing, AskBehind, AskAhead} {
			for _, extended := range []bool{false, true} {
				for _, capture := range []*Query{nil, captureQuery} {
					name := fmt.Sprintf("guard=%t,ask=%d,extended=%t,capture=%t", guard != nil, ask, extended, capture != nil)
					all[name] = Flight{Guard: guard, Pass: notInRecovery, AskXID: ask, Extended: extended, Capture: capture}
				}
			}
		}
	}
	return all
}

// statements are what the tests over cut streams run, and what it comes to.
var statements = map[string]reply{
	"rows":     {columns: []string{"v"}, rows: [][]string{{"a"}, {"NULL"}, {"ccc"}}, tag: "SELECT 3"},
	"no rows":  {columns: []string{"v"}, tag: "SELECT 0"},
	"insert":   {tag: "INSERT 0 1"},
	"empty":    {empty: true},
	"error":    {code: "23505"},
	"late":     {tag: "INSERT 0 1", late: "23503"},
	"mid rows": {columns: []string{"v"}, rows: [][]string{{"a"}}, code: "22012"},
}

func replyByName(sql string) reply {
	if r, ok := statements[sql]; ok {
		return r
	}
	return scriptedReply(sql)
}

func TestEveryFlightHandsUpWhatThePlainOneDoesHoweverTheStreamIsCut(t *testing.T) {
	for _, noise := range []bool{false, true} {
		server := &scripted{t: t, reply: replyByName, noise: noise}
		for sql := range statements {
			for form, user := range wireForms(sql) {
				for name, f := range flights() {
					plain := server.offline(user)
					whole := fly(t, server, user, f, newLine())
					if noise {
						plain, whole.up = withoutNoise(plain), withoutNoise(whole.up)
					}
					if !bytes.Equal(whole.up, plain) {
						t.Fatalf("%s, %s, %s:\ngot  %q\nwant %q", sql, form, name, whole.up, plain)
					}
					checkOutcome(t, sql, form, f, &whole.outcome)
					for _, cut := range cutsOf(len(whole.down), noise || f.Guard == nil || f.Capture == nil) {
						got := fly(t, server, user, f, cut.line(whole.down))
						if noise {
							got.up = withoutNoise(got.up)
						}
						if !bytes.Equal(got.up, plain) || !reflect.DeepEqual(got.outcome, whole.outcome) {
							t.Fatalf("%s, %s, %s, cut %v:\ngot  %q\nwant %q\noutcome %+v\nwant    %+v",
								sql, form, name, cut, got.up, plain, got.outcome, whole.outcome)
						}
					}
				}
			}
		}
	}
}

// flown is a flight that has ended.
type flown struct {
	down    []byte // what the server sent
	up      []byte // what the client read
	outcome Outcome
}

// fly runs one armed flight on a new line, which may have the server's answers
// already.
func fly(t *testing.T, server *scripted, user []byte, f Flight, l *line) flown {
	t.Helper()
	l.shim.Arm(f)
	l.send(t, user)
	if l.writes != 1 {
		t.Fatalf("got %d Writes, want 1", l.writes)
	}
	if l.in == nil {
		l.in = server.offline(l.written)
	}
	down := l.in
	up, err := l.receive()
	if err != nil {
		t.Fatalf("after %q: %v", up, err)
	}
	if len(l.in) > 0 && l.in[0] == 'Z' {
		t.Fatalf("%q was not read", l.in)
	}
	return flown{down: down, up: up, outcome: l.shim.Finish()}
}

// cutting is a way to cut the stream: in pieces of the sizes given, the last one
// over and over, read into a buffer of a size.
type cutting struct {
	pieces []int
	size   int
	uneven bool // see line
}

// line returns a line on which stream comes cut like that.
func (c cutting) line(stream []byte) *line {
	l := newLine()
	l.in, l.buffer, l.uneven = stream, c.size, c.uneven
	i := -1
	l.cuts = func() int {
		i = min(i+1, len(c.pieces)-1)
		return c.pieces[i]
	}
	return l
}

// cutsOf cuts a stream of n bytes in two at every byte, and into single bytes.
func cutsOf(n int, few bool) []cutting {
	list := []cutting{
		{[]int{1}, 8192, false},
		{[]int{1}, 1, false},
		{[]int{1 << 20}, 1, false},
		{[]int{1 << 20}, 7, false},
		{[]int{1 << 20}, 8192, true},
		{[]int{3}, 2, false},
	}
	if few {
		return list
	}
	for at := 1; at < n; at++ {
		list = append(list, cutting{[]int{at, 1 << 20}, 8192, false})
	}
	return list
}

// withoutNoise takes out what the server sent by itself.
func withoutNoise(b []byte) []byte {
	var out []byte
	for len(b) > 0 {
		kind, _, rest, ok := cut(b)
		if !ok {
			return append(out, b...)
		}
		if !async(kind) {
			out = append(out, b[:len(b)-len(rest)]...)
		}
		b = rest
	}
	return out
}

// checkOutcome compares what was learnt with what the statement does.
func checkOutcome(t *testing.T, sql, form string, f Flight, o *Outcome) {
	t.Helper()
	r := statements[sql]
	fails := r.code != ""
	name := fmt.Sprintf("%s, %s, %+v", sql, form, f)
	if !o.Sent || !o.Ended || o.Status != 'I' || o.Broken || o.Draining {
		t.Fatalf("%s: got %+v", name, o)
	}
	if wantTags := r.tag != "" && !fails; wantTags != (len(o.Tags) == 1 && o.Tags[0] == r.tag) {
		t.Fatalf("%s: got tags %q", name, o.Tags)
	}
	if got, want := o.Guard, map[bool]Verdict{true: GuardPassed, false: GuardNotAsked}[f.Guard != nil]; got != want {
		t.Fatalf("%s: got guard %d, want %d", name, got, want)
	}
	wantXID := XIDNotAsked
	switch {
	case f.AskXID == AskNothing:
	case f.AskXID == AskBehind && (fails || form == "simple" && !f.Extended):
		wantXID = XIDUnknown
	default:
		wantXID = XIDNone
	}
	if o.XID != wantXID {
		t.Fatalf("%s: got xid %d, want %d", name, o.XID, wantXID)
	}
	if f.Capture != nil {
		wantCapture(t, o)
	} else if o.CaptureRow != nil || o.CaptureErr != nil {
		t.Fatalf("%s: got capture %q, %v", name, o.CaptureRow, o.CaptureErr)
	}
}

func TestUnarmedEveryByteAndErrorPasses(t *testing.T) {
	server := &scripted{t: t, reply: replyByName}
	stream := server.offline(append(wireForms("rows")["unnamed"], wireForms("insert")["simple"]...))
	for _, end := range []error{io.EOF, os.ErrDeadlineExceeded, errors.New("reset")} {
		for _, c := range cutsOf(len(stream), false) {
			l := c.line(stream)
			l.end = end
			var got []byte
			p := make([]byte, l.buffer)
			for {
				n, err := (*reader)(l.shim).Read(p)
				got = append(got, p[:n]...)
				if err != nil {
					if !errors.Is(err, end) {
						t.Fatalf("got %v, want %v", err, end)
					}
					break
				}
			}
			if !bytes.Equal(got, stream) {
				t.Fatalf("got %q, want %q", got, stream)
			}
		}
	}
}
