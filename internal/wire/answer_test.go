package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// place is whose answer a message is.
type place int

const (
	placeAhead place = iota
	placeGuard
	placeUser
	placeQuestion
	placeCapture
)

// places says of each message in an armed flight's answers whose it is. user is
// the number of messages in the plain flight's answers.
func places(messages [][]byte, f Flight, user int) []place {
	order := []place{placeUser}
	if f.Guard != nil {
		order = slices.Insert(order, 0, placeGuard)
	}
	if f.AskXID == AskAhead {
		order = slices.Insert(order, 0, placeAhead)
	}
	if f.Capture != nil {
		order = append(order, placeCapture)
	}
	var list []place
	seen := 0
	for _, m := range messages {
		at := order[0]
		if at == placeUser {
			if seen++; seen >= user && m[0] != 'Z' {
				at = placeQuestion
			}
		}
		if m[0] == 'Z' {
			order = order[1:]
		}
		list = append(list, at)
	}
	return list
}

// split cuts a stream into messages.
func split(t *testing.T, b []byte) (messages [][]byte) {
	t.Helper()
	for len(b) > 0 {
		_, _, rest, ok := cut(b)
		if !ok {
			t.Fatalf("%q is no message", b)
		}
		messages = append(messages, b[:len(b)-len(rest)])
		b = rest
	}
	return messages
}

func TestAnAnswerWithAMessageTooFewOrTooManyProvesNothing(t *testing.T) {
	server := &scripted{t: t, reply: replyByName}
	user := wireForms("rows")["unnamed"]
	plain := len(split(t, server.offline(user)))
	for name, f := range flights() {
		probe := newLine()
		probe.shim.Arm(f)
		probe.send(t, user)
		messages := split(t, server.offline(probe.written))
		for i, at := range places(messages, f, plain) {
			fewer := bytes.Join(slices.Delete(slices.Clone(messages), i, i+1), nil)
			more := bytes.Join(slices.Insert(slices.Clone(messages), i, messages[i]), nil)
			for what, stream := range map[string][]byte{"without": fewer, "twice": more} {
				l := newLine()
				l.shim.Arm(f)
				l.send(t, user)
				l.in = stream
				up, err := l.receive()
				o := l.shim.Finish()
				if at == placeUser || what == "twice" && i == len(messages)-1 { // the flight was over by then
					continue
				}
				if messages[i][0] != 'D' && !o.Broken {
					t.Errorf("%s: %s message %d, %q: got %+v, want a broken connection", name, what, i, messages[i][0], o)
				}
				if o.Broken {
					continue
				}
				text := fmt.Sprintf("%s: %s message %d, %q: up %q, %v, %+v", name, what, i, messages[i][0], up, err, o)
				switch at {
				case placeAhead, placeQuestion:
					if o.XID != XIDUnknown {
						t.Error(text)
					}
				case placeGuard:
					if o.Guard == GuardPassed {
						t.Error(text)
					}
				case placeCapture:
					if o.CaptureRow != nil {
						t.Error(text)
					}
				}
			}
		}
	}
}

func TestAnAnswerHasTheOrderThatTheProtocolSays(t *testing.T) {
	bodies := map[byte][]byte{
		'D': encodeBackend(&pgproto3.DataRow{Values: [][]byte{[]byte("x")}})[headerBytes:],
		'E': encodeBackend(&pgproto3.ErrorResponse{Code: "26000"})[headerBytes:],
	}
	for kinds, want := range map[string]bool{
		"2DC": true, "2C": true, "2DDC": true, "E": true, "2E": true, "2DE": true, "2DCE": true, "EE": true,
		"": false, "2": false, "2D": false, "D": false, "C": false, "1": false, "22": false, "2DCD": false, "2DCC": false,
		"ED": false, "EC": false, "E2": false, "2EC": false, "2T": false, "2n": false, "2I": false, "2s": false, "2G": false, "?": false,
	} {
		var a answer
		a.expect(warmScript)
		fits := true
		for _, kind := range []byte(kinds) {
			fits = fits && a.take(kind, bodies[kind])
		}
		if got := fits && a.over(); got != want {
			t.Errorf("%q: got %t, want %t", kinds, got, want)
		}
	}
}

func TestARowThatIsMalformedIsNone(t *testing.T) {
	for name, body := range map[string][]byte{
		"empty":            nil,
		"half a count":     {0},
		"no cell":          {0, 1},
		"half a length":    {0, 1, 0, 0},
		"cell cut short":   {0, 1, 0, 0, 0, 2, 'x'},
		"length below -1":  {0, 1, 0xff, 0xff, 0xff, 0xfe},
		"too much":         {0, 1, 0, 0, 0, 1, 'x', 'y'},
		"more than counts": {0, 0, 0, 0, 0, 0},
	} {
		var a answer
		a.expect("")
		if a.take('D', body) {
			t.Errorf("%s: taken as %q", name, a.row)
		}
	}
}

func TestALengthThatCannotBeEndsTheFlightAtOnce(t *testing.T) {
	for name, f := range map[string]Flight{
		"ahead": {AskXID: AskAhead}, "guard": {Guard: guardQuery, Pass: notInRecovery},
	} {
		l := newLine()
		l.shim.Arm(f)
		l.send(t, wireForms("rows")["unnamed"])
		l.in = []byte("2\x00\x00\x00\x03")
		if _, err := l.receive(); errors.Is(err, io.EOF) {
			t.Errorf("%s: reads on, to %v", name, err)
		}
		if o := l.shim.Finish(); !o.Broken || o.Ended {
			t.Errorf("%s: got %+v", name, o)
		}
	}
}

func TestAConnectionLeftInAMessageIsBrokenUnlessTheServerSentItByItself(t *testing.T) {
	server := &scripted{t: t, reply: replyByName}
	notification := encodeBackend(&pgproto3.NotificationResponse{PID: 1, Channel: "c", Payload: "p"})
	complete := encodeBackend(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
	for kind, tail := range map[string][]byte{"notification": notification, "tag": complete} {
		l := newLine()
		l.shim.Arm(Flight{})
		user := wireForms("insert")["unnamed"]
		l.send(t, user)
		l.in, l.end = append(server.offline(l.written), tail[:7]...), io.ErrNoProgress
		if _, err := l.receive(); !errors.Is(err, io.ErrNoProgress) {
			t.Fatal(err)
		}
		o := l.shim.Finish()
		if want := kind == "tag"; o.Broken != want {
			t.Errorf("in a %s: got %+v, want broken %t", kind, o, want)
		}
		if o.Broken {
			continue
		}
		l.shim.Arm(Flight{Capture: captureQuery})
		l.send(t, user)
		l.in, l.end = append(bytes.Clone(tail[7:]), server.offline(l.written[len(user):])...), nil
		if _, err := l.receive(); err != nil {
			t.Fatal(err)
		}
		o = l.shim.Finish()
		wantCapture(t, &o)
	}
}
