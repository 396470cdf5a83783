package driver_test

import (
	"database/sql"
	"fmt"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/pgryw/pgryw/internal/pgcluster"
)

// TestTheSameStringWorksWithPlainPgx opens one DSN, with options of ours in it,
// by both drivers: pgx takes them for settings that nobody reads, and finds the
// primary by target_session_attrs.
func TestTheSameStringWorksWithPlainPgx(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	url := c.DSN(c.Standby(0), c.Primary(), c.Standby(1))
	keywords := fmt.Sprintf("host=127.0.0.1,127.0.0.1 port=%d,%d user=%s dbname=postgres sslmode=disable",
		c.Standby(0).Port(), c.Primary().Port(), pgcluster.Superuser)
	for name, dsn := range map[string]string{
		"URL":      url + "&target_session_attrs=read-write&pgryw.wait=20ms&pgryw.mode=strict&pgryw.pool_max_conns=4",
		"keywords": keywords + " target_session_attrs=read-write pgryw.probe='100ms' pgryw.scope=conn",
	} {
		for _, driver := range []string{"pgx", "pgryw"} {
			t.Run(name+" by "+driver, func(t *testing.T) {
				db, err := sql.Open(driver, dsn)
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				mark := c.Mark()
				comment := "/* " + t.Name() + " */"
				if err := done(db.ExecContext(t.Context(), write+comment)); err != nil {
					t.Fatal(err)
				}
				wantRun(t, c, mark, comment, c.Primary())
				if _, err := get(t.Context(), db, "calm"); err != nil {
					t.Error(err)
				}
				if got := show(t, db, "statement_timeout"); got != "0" {
					t.Errorf("got statement_timeout %s", got)
				}
			})
		}
	}
}
