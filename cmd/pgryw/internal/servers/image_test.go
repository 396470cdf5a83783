package servers

import "testing"

func TestTheNewestImageOfAServerIsChosen(t *testing.T) {
	made := func(tag string, env ...string) image {
		i := image{ID: "sha256:" + tag, RepoTags: []string{tag}}
		i.Config.Env = env
		return i
	}
	titled := made("registry:5000/db")
	titled.Config.Labels = map[string]string{"org.opencontainers.image.title": "PostgreSQL"}
	untagged := image{ID: "sha256:0"}
	untagged.Config.Env = []string{"PG_MAJOR=18"}

	for name, test := range map[string]struct {
		images []image
		want   string // "" for none
	}{
		"nothing":                       {nil, ""},
		"no server":                     {[]image{made("alpine:3"), made("prom/postgres-exporter:1"), made("postgres-tools")}, ""},
		"too old":                       {[]image{made("postgres:13", "PG_MAJOR=13")}, ""},
		"the newest":                    {[]image{made("postgres:9", "PG_MAJOR=9"), made("postgres:14", "PG_MAJOR=14"), made("pgvector/pgvector:pg17", "PATH=/bin", "PG_MAJOR=17")}, "pgvector/pgvector:pg17"},
		"of several the first by name":  {[]image{made("postgres:17-alpine", "PG_MAJOR=17"), made("postgres:17", "PG_MAJOR=17")}, "postgres:17"},
		"a name with a registry's port": {[]image{made("localhost:5000/postgres")}, "localhost:5000/postgres"},
		"a title":                       {[]image{made("alpine:3"), titled}, "registry:5000/db"},
		"an image without a name":       {[]image{untagged, titled}, "sha256:0"},
	} {
		best, ok := bestImage(test.images)
		if got := best.name(); ok && got != test.want || ok != (test.want != "") {
			t.Errorf("%s: got %q (%t), want %q", name, got, ok, test.want)
		}
	}
}
