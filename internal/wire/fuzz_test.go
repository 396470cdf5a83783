package wire

import (
	"bytes"
	"strings"
	"testing"
)

// cutBy returns sizes of pieces made of a fuzzer's bytes, over and over.
func cutBy(sizes []byte) func() int {
	if len(sizes) == 0 {
		return func() int { return 1 << 20 }
	}
	i := -1
	return func() int {
		i = (i + 1) % len(sizes)
		return int(sizes[i])
	}
}

// flightBy makes a flight of a fuzzer's bits.
func flightBy(bits byte) Flight {
	f := Flight{Pass: notInRecovery, AskXID: AskXID(bits >> 4 % 3), Extended: bits&1 != 0}
	if bits&2 != 0 {
		f.Guard = guardQuery
	}
	if bits&4 != 0 {
		f.Capture = captureQuery
	}
	return f
}

func formBy(bits byte, sql string) []byte {
	forms := wireForms(sql)
	return forms[[]string{"unnamed", "described", "simple"}[bits%3]]
}

// FuzzWithoutAFlightEveryByteIsTheSame compares an unarmed Shim, and one that is
// armed for a flight that never comes, with none.
func FuzzWithoutAFlightEveryByteIsTheSame(f *testing.F) {
	server := &scripted{t: f, reply: replyByName, noise: true}
	f.Add(server.offline(formBy(0, "rows")), []byte{3, 1, 7}, uint8(9), uint8(20))
	f.Add([]byte("Z\x00\x00\x00\x05IC\x00\x00\x00\x03"), []byte{1}, uint8(1), uint8(2))
	f.Fuzz(func(t *testing.T, stream, cuts []byte, size, arm uint8) {
		l := newLine()
		l.in, l.cuts = stream, cutBy(cuts)
		var got []byte
		p := make([]byte, max(1, int(size)))
		for i := 0; ; i++ {
			if i == int(arm) {
				l.shim.Arm(Flight{Capture: captureQuery, Guard: guardQuery})
			}
			n, err := (*reader)(l.shim).Read(p)
			got = append(got, p[:n]...)
			if err != nil {
				break
			}
		}
		inMessage := !l.shim.frame.between() && !async(l.shim.frame.kind)
		if o := l.shim.Finish(); o.Sent || o.Broken && !inMessage {
			t.Errorf("got %+v", o)
		}
		if !bytes.Equal(got, stream) {
			t.Errorf("got %q, want %q", got, stream)
		}
	})
}

// FuzzAFlightHandsUpWhatThePlainOneDoes compares what pgx reads from an armed
// flight with what it reads without the Shim.
func FuzzAFlightHandsUpWhatThePlainOneDoes(f *testing.F) {
	f.Add(byte(0xff), byte(0), uint8(3), uint16(100), false, []byte{5}, uint16(64), false)
	f.Add(byte(0x17), byte(2), uint8(0), uint16(9000), true, []byte{200, 1}, uint16(8192), true)
	f.Fuzz(func(t *testing.T, bits, form byte, rows uint8, size uint16, fails bool, cuts []byte, buffer uint16, noise bool) {
		r := reply{columns: []string{"v"}, tag: "SELECT"}
		for range rows {
			r.rows = append(r.rows, []string{strings.Repeat("x", int(size)), "NULL"})
		}
		if fails {
			r.code = "22012"
		}
		server := &scripted{t: t, noise: noise, reply: func(sql string) reply {
			if sql == "fuzzed" {
				return r
			}
			return scriptedReply(sql)
		}}
		user := formBy(form, "fuzzed")
		l := newLine()
		l.cuts, l.buffer = cutBy(cuts), max(1, int(buffer))
		got := fly(t, server, user, flightBy(bits), l)
		want := server.offline(user)
		if noise {
			want, got.up = withoutNoise(want), withoutNoise(got.up)
		}
		if !bytes.Equal(got.up, want) {
			t.Errorf("got %q, want %q", got.up, want)
		}
		if o := &got.outcome; !o.Ended || flightBy(bits).Guard != nil && o.Guard != GuardPassed ||
			flightBy(bits).Capture != nil && o.CaptureRow == nil {
			t.Errorf("got %+v", o)
		}
	})
}

// FuzzNoAnswerMakesAFlightBelieveTooMuch feeds an armed flight what no server
// should say.
func FuzzNoAnswerMakesAFlightBelieveTooMuch(f *testing.F) {
	server := &scripted{t: f, reply: replyByName}
	for bits := range byte(64) {
		l := newLine()
		l.shim.Arm(flightBy(bits))
		l.send(f, formBy(bits, "rows"))
		f.Add(bits, bits, server.offline(l.written), []byte{7})
	}
	f.Fuzz(func(t *testing.T, bits, form byte, stream, cuts []byte) {
		l := newLine()
		l.in, l.cuts = stream, cutBy(cuts)
		flight := flightBy(bits)
		l.shim.Arm(flight)
		l.send(t, formBy(form, "rows"))
		up, _ := l.receive()
		verdict := l.shim.Verdict()
		o := l.shim.Finish()
		usable := l.shim.Drain(t.Context()) == nil
		if o.CaptureRow != nil && (!o.Ended || o.Status != 'I') {
			t.Errorf("a capture that proves nothing: %+v", o)
		}
		if flight.Guard != nil && verdict != GuardPassed && hasRow(up) {
			t.Errorf("rows that no guard has passed: %q, %+v", up, o)
		}
		if f := &l.shim.frame; usable && o.Sent && !f.between() && !async(f.kind) && len(l.in) == 0 {
			t.Errorf("usable in the middle of a message %q: %+v", f.kind, o)
		}
	})
}

// hasRow reports whether there is a DataRow among messages.
func hasRow(b []byte) bool {
	for len(b) > 0 {
		kind, _, rest, ok := cut(b)
		if kind == 'D' || !ok {
			return kind == 'D'
		}
		b = rest
	}
	return false
}
