package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

func TestInstallKeepsTheHooksThatAreThere(t *testing.T) {
	server := newScripted(t, scriptedReply)
	cfg := server.config(pgx.QueryExecModeExec)
	var built, connected int
	cfg.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		built++
		return pgproto3.NewFrontend(r, w)
	}
	cfg.AfterConnect = func(_ context.Context, pg *pgconn.PgConn) error {
		connected++
		if Of(pg) == nil {
			t.Error("AfterConnect: the Shim is not there yet")
		}
		return nil
	}
	connect(t, cfg)
	if built != 1 || connected != 1 {
		t.Errorf("got %d calls of BuildFrontend and %d of AfterConnect, want one of each", built, connected)
	}
}

func TestTheShimIsThatOfTheFallbackThatAnswered(t *testing.T) {
	server := newScripted(t, scriptedReply)
	refused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer refused.Close()
	server.done.Go(func() { // accepts, and hangs up when it is asked to start
		if c, err := refused.Accept(); err == nil {
			_, _ = c.Read(make([]byte, 1))
			_ = c.Close()
		}
	})
	cfg := server.config(pgx.QueryExecModeExec)
	cfg.Fallbacks = []*pgconn.FallbackConfig{{Host: cfg.Host, Port: cfg.Port}}
	cfg.Port = uint16(refused.Addr().(*net.TCPAddr).Port)
	c := connect(t, cfg)
	o, err := one(t, c, Flight{Capture: captureQuery}, writePaths[0].run)
	if err != nil {
		t.Fatal(err)
	}
	wantCapture(t, &o)
}

func TestAConfigWhoseFrontendIsSomebodyElsesDoesNotConnect(t *testing.T) {
	server := newScripted(t, scriptedReply)
	cfg := server.config(pgx.QueryExecModeExec)
	other := server.config(pgx.QueryExecModeExec)
	Install(&cfg.Config)
	install := cfg.AfterConnect
	other.AfterConnect = install // of another Config: its last frontend is none of ours
	conn, err := pgx.ConnectConfig(t.Context(), other)
	if err == nil {
		_ = conn.Close(t.Context())
	}
	if !errors.Is(err, errNotInstalled) {
		t.Errorf("got %v, want %v", err, errNotInstalled)
	}
}

func TestOfIsNilWithoutInstallAndAfterAHijack(t *testing.T) {
	server := newScripted(t, scriptedReply)
	c := plainConnect(t, server.config(pgx.QueryExecModeExec))
	if Of(c.std.Conn().PgConn()) != nil {
		t.Error("a Shim without Install")
	}
	cfg := server.config(pgx.QueryExecModeExec)
	plain := cfg.BuildFrontend
	Install(&cfg.Config)
	pg, err := pgconn.ConnectConfig(t.Context(), &cfg.Config)
	if err != nil {
		t.Fatal(err)
	}
	hijacked, err := pg.Hijack()
	if err != nil {
		t.Fatal(err)
	}
	hijacked.Config.BuildFrontend = plain
	again, err := pgconn.Construct(hijacked)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close(context.Background())
	if Of(again) != nil {
		t.Error("the Shim of another frontend")
	}
}

func TestAProtocolThatTheServerNegotiatesDownIsLikeAnyOther(t *testing.T) {
	cfg := realServer(t)(pgx.QueryExecModeCacheStatement)
	cfg.MaxProtocolVersion = "latest"
	c := connect(t, cfg)
	o, err := one(t, c, Flight{Capture: captureQuery}, writePaths[0].run)
	if err != nil {
		t.Fatal(err)
	}
	wantCapture(t, &o)
}
