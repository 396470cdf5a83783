package driver

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryHostHasThePasswordThatThePassfileHasForIt(t *testing.T) {
	home := isolate(t)
	write(t, filepath.Join(home, ".pgpass"), strings.Join([]string{
		"# host:port:database:user:password",
		"pg-a:5432:shop:app:of a",
		`pg-b:5432:shop:app:of\:b\\`,
		"pg-c:*:*:app:any port of c",
		"pg-c:5433:shop:app:never, the line above matches first",
		`\:\:1:5432:*:*:of ipv6`,
		"localhost:5432:shop:app:of the socket",
		"*:6000:*:*:of the port",
		"pg-d:*:other:app:of another database",
		"",
	}, "\n"))
	for _, tt := range []struct {
		dsn  string
		want []string
	}{
		{"postgres://app@pg-a,pg-b/shop", []string{"of a", `of:b\`}},
		{"postgres://app@pg-b,pg-a,pg-c:5433/shop", []string{`of:b\`, "of a", "any port of c"}},
		{"host=pg-a,pg-d user=app dbname=shop", []string{"of a", ""}},
		{"host=pg-d,pg-a user=app dbname=shop", []string{"", "of a"}},
		{"host=pg-d,pg-a,pg-d user=app dbname=other", []string{"of another database", ""}},
		{"host=/run/a,pg-a user=app dbname=shop", []string{"of the socket", "of a"}},
		{"postgres://app@[::1],pg-x:6000/shop", []string{"of ipv6", "of the port"}},
		// A password in the string is that of all.
		{"postgres://app:given@pg-a,pg-b/shop", []string{"given", "given"}},
		{"host=pg-a,pg-b user=app dbname=shop password=given pgryw.route=off", []string{"given", "given"}},
		{"host=pg-a,pg-b user=app dbname=shop passfile=/nowhere", []string{"", ""}},
	} {
		checkPasswords(t, tt.dsn, tt.want)
	}

	other := filepath.Join(home, "other")
	write(t, other, "pg-a:*:*:*:other a\npg-b:*:*:*:other b\n")
	checkPasswords(t, "host=pg-a,pg-b passfile="+other, []string{"other a", "other b"})
	t.Setenv("PGPASSFILE", other)
	checkPasswords(t, "postgres://pg-b,pg-a", []string{"other b", "other a"})
	t.Setenv("PGPASSWORD", "from the environment")
	checkPasswords(t, "postgres://pg-b,pg-a", []string{"from the environment", "from the environment"})
}

func checkPasswords(t *testing.T, dsn string, want []string) {
	t.Helper()
	hosts := hostsOf(t, dsn)
	if len(hosts) != len(want) {
		t.Fatalf("%s: got %d hosts, want %d", dsn, len(hosts), len(want))
	}
	for i, h := range hosts {
		if got := h.config.Password; got != want[i] {
			t.Errorf("%s: %s: got password %q, want %q", dsn, h.label, got, want[i])
		}
	}
}
