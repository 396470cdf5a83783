package wire

import (
	"bytes"
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// userAnswers returns the size of the user's part of what a server sends in a
// flight that carries nothing but a capture.
func userAnswers(t *testing.T, down []byte) int {
	t.Helper()
	for rest := down; len(rest) > 0; {
		kind, _, next, ok := cut(rest)
		if !ok {
			break
		}
		if rest = next; kind == 'Z' {
			return len(down) - len(rest)
		}
	}
	t.Fatalf("no ReadyForQuery in %q", down)
	return 0
}

func TestAHeldWriteIsLetGoBetweenWhatTheServerInterjects(t *testing.T) {
	server := &scripted{t: t, reply: replyByName, noise: true}
	for form, user := range wireForms("insert") {
		plain := withoutNoise(server.offline(user))
		probe := newLine()
		probe.shim.Arm(Flight{Capture: captureQuery})
		probe.send(t, user)
		down := server.offline(probe.written)
		for at := userAnswers(t, down); at < len(down); at++ {
			l := newLine()
			l.shim.Arm(Flight{Capture: captureQuery})
			l.send(t, user)
			l.in, l.end = down[:at], os.ErrDeadlineExceeded
			up, err := l.receive()
			if err != nil || !bytes.Equal(withoutNoise(up), plain) {
				t.Fatalf("%s, cut at byte %d of %d: got %q, %v, want %q", form, at, len(down), withoutNoise(up), err, plain)
			}
			o := l.shim.Finish()
			if !o.Ended || o.Status != 'I' {
				t.Errorf("%s, cut at byte %d: got %+v, want success", form, at, o)
			}
			wantUnanswered(t, &o, faultStall)
		}
	}
}

func TestANotificationThatIsTooLongGivesACaptureUp(t *testing.T) {
	server := &scripted{t: t, reply: replyByName}
	user := wireForms("insert")["unnamed"]
	l := newLine()
	l.shim.Arm(Flight{Capture: captureQuery})
	l.send(t, user)
	down := server.offline(l.written)
	at := userAnswers(t, down)
	long := encodeBackend(&pgproto3.NotificationResponse{Channel: "c", Payload: string(make([]byte, maxBodyBytes))})
	l.in = append(append(bytes.Clone(down[:at]), long...), down[at:]...)
	up, err := l.receive()
	if want := server.offline(user); err != nil || !bytes.Equal(up, want) {
		t.Errorf("got %q, %v, want %q", up, err, want)
	}
	o := l.shim.Finish()
	wantUnanswered(t, &o, faultStall)
}

func TestAConnectionLeftBeforeItsHeldReadyForQueryIsBroken(t *testing.T) {
	server := &scripted{t: t, reply: replyByName}
	l := newLine()
	l.shim.Arm(Flight{Capture: captureQuery})
	l.send(t, wireForms("insert")["unnamed"])
	l.in = server.offline(l.written)
	p := make([]byte, len(server.offline(wireForms("insert")["unnamed"]))-1)
	if n, err := (*reader)(l.shim).Read(p); n == 0 || err != nil {
		t.Fatalf("got %d, %v", n, err)
	}
	for len(l.shim.out) == 0 {
		if _, err := (*reader)(l.shim).Read(p[:1]); err != nil {
			t.Fatal(err)
		}
	}
	if o := l.shim.Finish(); !o.Broken {
		t.Errorf("got %+v, although part of the answers was not read", o)
	}
}
