package main

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	tests := []struct {
		name, stream string
		want         counts
		shows        []string
	}{
		{
			name: "passing tests stay silent",
			stream: `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"secret\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.1}
{"Action":"pass","Package":"p","Elapsed":0.2}`,
			want:  counts{passed: 1},
			shows: []string{"pass p 0.2s\n", "1 passed, 0 failed\n"},
		},
		{
			name: "a failing test shows its output, and its package fails",
			stream: `{"Action":"output","Package":"p","Test":"TestA","Output":"got 1\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}`,
			want:  counts{failed: 1},
			shows: []string{"got 1\n", "fail p 0.0s\n", "0 passed, 1 failed\n"},
		},
		{
			name: "a skipped test is a failed one",
			stream: `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"no server\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"pass","Package":"p"}`,
			want:  counts{passed: 1, failed: 1},
			shows: []string{"no server\n", "failed here: TestB\n", "1 passed, 1 failed\n"},
		},
		{
			name:   "a package without tests is none",
			stream: `{"Action":"skip","Package":"p"}`,
			shows:  []string{"0 passed, 0 failed\n"},
		},
		{
			name: "a package that dies outside its tests is a failure",
			stream: `{"Action":"output","Package":"p","Output":"panic: no\n"}
{"Action":"fail","Package":"p"}`,
			want:  counts{failed: 1},
			shows: []string{"panic: no\n"},
		},
		{
			name: "a package that does not build is a failure",
			stream: `{"Action":"build-output","ImportPath":"p","Output":"x.go:1: no\n"}
go: some warning
{"Action":"fail","Package":"p"}`,
			want:  counts{failed: 1},
			shows: []string{"x.go:1: no\n", "go: some warning\n"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w strings.Builder
			got, err := report(strings.NewReader(tt.stream), &w)
			if err != nil || got != tt.want {
				t.Errorf("report = %+v, %v, want %+v", got, err, tt.want)
			}
			for _, text := range tt.shows {
				if !strings.Contains(w.String(), text) {
					t.Errorf("report printed %q, want %q in it", w.String(), text)
				}
			}
			if strings.Contains(w.String(), "secret") {
				t.Errorf("report printed a passing test's output: %q", w.String())
			}
		})
	}
}
