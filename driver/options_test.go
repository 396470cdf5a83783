package driver

import (
	"strings"
	"testing"
	"time"
)

// samples are, for each option, a text for each of its values, or for some.
var samples = map[string][]string{
	"pgryw.route":                         {"auto", "hinted", "off"},
	"pgryw.mode":                          {"strict", "bounded", "relaxed"},
	"pgryw.max_staleness":                 {"0", "2s"},
	"pgryw.scope":                         {"db", "conn"},
	"pgryw.wait":                          {"0", "20ms"},
	"pgryw.max_fallback":                  {"0", "100"},
	"pgryw.monotonic":                     {"off", "on"},
	"pgryw.readonly_tx":                   {"replica", "primary"},
	"pgryw.volatile":                      {"primary", "replica"},
	"pgryw.capture_timeout":               {"1s", "1ns"},
	"pgryw.probe":                         {"250ms", "1.5us"},
	"pgryw.resolve":                       {"30s", "10m"},
	"pgryw.pool_max_conns":                {"0", "2147483647"},
	"pgryw.pool_min_conns":                {"0", "3"},
	"pgryw.pool_min_idle_conns":           {"0", "2"},
	"pgryw.pool_max_conn_lifetime":        {"1h", "1h30m"},
	"pgryw.pool_max_conn_lifetime_jitter": {"0", "5m"},
	"pgryw.pool_max_conn_idle_time":       {"30m", "1h0m1s"},
	"pgryw.pool_health_check_period":      {"1m", "59s"},
	"pgryw.pool_ping_timeout":             {"0", "300ms"},
}

func TestEveryOptionComesBackAsTheTextThatSetIt(t *testing.T) {
	if got, want := len(samples), len(options); got != want {
		t.Errorf("there are samples for %d options of %d", got, want)
	}
	for _, o := range options {
		if len(samples[o.key]) < 2 || samples[o.key][0] != o.initial {
			t.Errorf("%s: the samples %q do not begin with the default, %q", o.key, samples[o.key], o.initial)
		}
		for _, text := range samples[o.key] {
			var c Config
			if err := o.parse(&c, text); err != nil {
				t.Errorf("%s=%s: %v", o.key, text, err)
			}
			want := text
			if equal(&c, new(Config)) {
				want = "default"
				if text != o.initial {
					t.Errorf("%s=%s leaves the field at zero", o.key, text)
				}
			}
			if got := o.format(&c); got != want {
				t.Errorf("%s=%s: comes back as %q, want %q", o.key, text, got, want)
			}

			if err := o.parse(&c, "default"); err != nil || !equal(&c, new(Config)) {
				t.Errorf("%s: after default: %v, %+v; want zero", o.key, err, c)
			}
		}
	}
}

func TestOptionsThatAreNotBuiltYetTakeTheirDefaultOnly(t *testing.T) {
	isolate(t)
	planned := 0
	for _, o := range options {
		for i, text := range samples[o.key] {
			c, err := ParseDSN("postgres://pg-a/shop?" + o.key + "=" + text)
			switch {
			case !o.planned || i == 0:
				if err != nil {
					t.Errorf("%s=%s: %v", o.key, text, err)
				}
			default:
				planned++
				want := "pgryw: " + o.key + " is not built yet; it can only be left at its default, " + o.initial
				if err == nil || err.Error() != want {
					t.Errorf("%s=%s: got %+v, %v; want %q", o.key, text, c, err, want)
				}
			}
		}
	}
	if planned == 0 {
		t.Error("every option is built: this test and the function planned can go")
	}
}

func TestABadValueIsRefusedWithTheValidOnes(t *testing.T) {
	isolate(t)
	const (
		word     = "one of auto, hinted, off"
		flag     = "one of off, on"
		number   = "a whole number, 0 or more"
		duration = "0 or a duration with its unit, such as 20ms"
		period   = "a duration above 0 with its unit, such as 1s"
	)
	for _, tt := range []struct{ key, value, want string }{
		{"route", "", word},
		{"route", "AUTO", word},
		{"route", "hunter2", word},
		{"monotonic", "true", flag},
		{"monotonic", "", flag},
		{"max_fallback", "", number},
		{"max_fallback", "-1", number},
		{"max_fallback", "1.5", number},
		{"max_fallback", "99999999999999999999", number},
		{"pool_max_conns", "2147483648", number},
		{"pool_max_conns", "4294967297", number},
		{"wait", "", duration},
		{"wait", "20", duration},
		{"wait", "-20ms", duration},
		{"wait", "20 ms", duration},
		{"wait", "9999999h", duration},
		{"capture_timeout", "", period},
		{"capture_timeout", "0", period},
		{"capture_timeout", "0s", period},
		{"capture_timeout", "-1s", period},
		{"capture_timeout", "forever", period},
	} {
		want := "pgryw: pgryw." + tt.key + " must be " + tt.want + ", or default"
		for _, dsn := range []string{
			"postgres://pg-a/shop?pgryw." + tt.key + "=" + escapeURL(tt.value),
			"host=pg-a pgryw." + tt.key + "=" + quote(tt.value),
			// A later one does not make good for it.
			"pgryw." + tt.key + "=" + quote(tt.value) + " pgryw." + tt.key + "=default",
		} {
			if c, err := ParseDSN(dsn); err == nil || err.Error() != want {
				t.Errorf("%s: got %+v, %v; want %q", dsn, c, err, want)
			}
		}
	}
}

func TestAnUnknownOptionIsRefusedWithTheKnownOnes(t *testing.T) {
	isolate(t)
	for key, named := range map[string]string{
		"pgryw.wiat":                          " pgryw.wiat",
		"pgryw.pool_max_con_lifetime":         " pgryw.pool_max_con_lifetime",
		"pgryw.":                              " pgryw.",
		"PGRYW.route":                         "",
		"pgryw.Route":                         "",
		"pgryw.hunter2":                       "",
		"pgryw.x/y":                           "",
		"pgryw." + strings.Repeat("long", 10): "",
	} {
		want := "pgryw: unknown option" + named + "; the options are pgryw.route, pgryw.mode, "
		for _, dsn := range []string{
			"postgres://pg-a/shop?" + escapeURL(key) + "=1",
			key + "=1",
		} {
			c, err := ParseDSN(dsn)
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: got %+v, %v; want %q and so on", dsn, c, err, want)
				continue
			}
			for _, o := range options {
				if !strings.Contains(err.Error(), o.key) {
					t.Errorf("%s is not in %q", o.key, err)
				}
			}
		}
	}
}

func TestDurationsAreWrittenShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1:                            "1ns",
		1500:                         "1.5us",
		20 * time.Millisecond:        "20ms",
		10 * time.Second:             "10s",
		time.Minute:                  "1m",
		10*time.Minute + time.Second: "10m1s",
		time.Hour:                    "1h",
		10 * time.Hour:               "10h",
		time.Hour + time.Second:      "1h0m1s",
		time.Hour + 10*time.Minute:   "1h10m",
		1<<63 - 1:                    "2562047h47m16.854775807s",
	} {
		got := formatDuration(d)
		if back, err := time.ParseDuration(got); got != want || err != nil || back != d {
			t.Errorf("%v: got %q (%v, %v), want %q", d, got, back, err, want)
		}
	}
}
