package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestTheTableInUseIsTheOneThatTheFilesMake(t *testing.T) {
	files, err := filepath.Glob("pg_proc/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("got files %v, %v", files, err)
	}
	want, err := generate(files)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../functions_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("functions_gen.go is out of date: run go generate ./router")
	}
}

func TestANameVolatileInOneVersionIsVolatile(t *testing.T) {
	dir := t.TempDir()
	older, newer := filepath.Join(dir, "1.txt"), filepath.Join(dir, "2.txt")
	for file, text := range map[string]string{older: "frob v\nfrob i\n", newer: "frob s\nother i\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	source, err := generate([]string{older, newer})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"frob8"`, `"other1"`, `"pg_advisory_locka"`, `"uuidv71"`} {
		if !bytes.Contains(source, []byte(want)) {
			t.Errorf("the table lacks %s", want)
		}
	}
}

func TestALineThatIsNoFunctionIsAnError(t *testing.T) {
	for _, text := range []string{"frob\n", "frob x\n", "\n"} {
		file := filepath.Join(t.TempDir(), "bad.txt")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := generate([]string{file}); err == nil {
			t.Errorf("%q: got no error", text)
		}
	}
}

func TestAVolatileFunctionOfWhichNothingIsSaidActs(t *testing.T) {
	for _, tt := range []struct {
		name     string
		volatile bool
		want     byte
	}{
		{"pg_brand_new", true, acts},
		{"pg_brand_new", false, reads},
		{"pg_stat_get_brand_new", false, server},
		{"pg_stat_reset_brand_new", true, acts},
		{"pg_try_advisory_lock", true, locks},
		{"pg_try_advisory_xact_lock", true, acts},
		{"txid_current", false, writes},
		{"random", true, reads},
	} {
		if got := judge(tt.name, tt.volatile); got != tt.want {
			t.Errorf("%s: got %c, want %c", tt.name, got, tt.want)
		}
	}
}
