package wire

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

// pingpong answers each Write of a client with bytes that are ready made.
type pingpong struct {
	line
	answer []byte
}

func (p *pingpong) Write(b []byte) (int, error) {
	p.in = p.answer
	return len(b), nil
}

// BenchmarkShim is the cost of a flight in the Shim alone, without a socket and
// without pgx.
func BenchmarkShim(b *testing.B) {
	server := &scripted{t: b, reply: replyByName}
	user := wireForms("insert")["unnamed"]
	for name, f := range map[string]*Flight{
		"unarmed":    nil,
		"nothing":    {},
		"capture":    {Capture: captureQuery},
		"guard":      {Guard: guardQuery, Pass: notInRecovery},
		"everything": {Guard: guardQuery, Pass: notInRecovery, AskXID: AskBehind, Capture: captureQuery},
	} {
		b.Run(name, func(b *testing.B) {
			p := new(pingpong)
			p.cuts = func() int { return 1 << 20 }
			s := &Shim{r: p, w: p}
			for _, q := range []*Query{captureQuery, guardQuery} {
				s.names.note(q, true)
			}
			probe := newLine()
			probe.shim.names = s.names
			if f != nil {
				probe.shim.Arm(*f)
			}
			probe.send(b, user)
			c := newSession(server, nil)
			for _, q := range []*Query{captureQuery, guardQuery} {
				c.statements[q.Name] = q.SQL
			}
			p.answer = c.answers(probe.written)
			buf := make([]byte, 8192)
			b.ReportAllocs()
			for b.Loop() {
				if f != nil {
					s.Arm(*f)
				}
				_, _ = (*writer)(s).Write(user)
				for len(p.in) > 0 || len(s.out) > 0 {
					if _, err := (*reader)(s).Read(buf); err != nil {
						b.Fatal(err)
					}
				}
				if f != nil {
					if o := s.Finish(); !o.Ended || f.Capture != nil && o.CaptureRow == nil {
						b.Fatalf("%+v", o)
					}
				}
			}
		})
	}
}

// BenchmarkSkim is the cost of following a result of many small rows.
func BenchmarkSkim(b *testing.B) {
	rows := reply{columns: []string{"v"}, tag: "SELECT 100"}
	for range 100 {
		rows.rows = append(rows.rows, []string{"a small row of some fifty bytes, as they often are"})
	}
	server := &scripted{t: b, reply: func(string) reply { return rows }}
	user := formBy(0, "rows")
	stream := server.offline(user)
	for name, armed := range map[string]bool{"unarmed": false, "armed": true} {
		b.Run(name, func(b *testing.B) {
			l := newLine()
			buf := make([]byte, 8192)
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			for b.Loop() {
				if armed {
					l.shim.Arm(Flight{})
					_, _ = (*writer)(l.shim).Write(user)
					l.written = l.written[:0]
				}
				l.in = stream
				for len(l.in) > 0 {
					_, _ = (*reader)(l.shim).Read(buf)
				}
				if armed {
					l.shim.Finish()
				}
			}
		})
	}
}

// BenchmarkPgx is a statement on a real server, over the loopback interface.
func BenchmarkPgx(b *testing.B) {
	config := realServer(b)
	insert := execPath("insert into t values ($1)", "a")
	query := queryPath("select v from t limit 1")
	for _, c := range []struct {
		name   string
		shim   bool
		flight *Flight
		run    func(context.Context, *client) error
	}{
		{"write/plain", false, nil, insert},
		{"write/unarmed", true, nil, insert},
		{"write/capture", true, &Flight{Capture: captureQuery}, insert},
		{"read/plain", false, nil, query},
		{"read/unarmed", true, nil, query},
		{"read/question", true, &Flight{AskXID: AskBehind}, query},
		{"read/guard", true, &Flight{Guard: guardQuery, Pass: notInRecovery}, query},
	} {
		b.Run(c.name, func(b *testing.B) {
			cfg := config(pgx.QueryExecModeCacheStatement)
			open := plainConnect
			if c.shim {
				open = connect
			}
			conn := open(b, cfg)
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			b.ReportAllocs()
			for b.Loop() {
				if c.flight != nil {
					conn.shim.Arm(*c.flight)
				}
				if err := c.run(ctx, conn); err != nil {
					b.Fatal(err)
				}
				if c.flight != nil {
					conn.shim.Finish()
				}
			}
		})
	}
}
