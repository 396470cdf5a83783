// Command testcount reads the output of go test -json, prints what a person
// wants to see of it, and counts. A test that was skipped is a failure: where
// this runs, everything that the tests need is present.
//
//	go test -json ./... | testcount
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

func main() {
	count, err := report(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testcount:", err)
		os.Exit(1)
	}
	if count.failed > 0 || count.passed == 0 {
		os.Exit(1)
	}
}

// counts holds tests and subtests. A package that failed without a failed test
// (it did not build, panicked or timed out) counts as one.
type counts struct{ passed, failed int }

// event is one line of the stream, as go doc test2json describes it.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

// report prints one line per package, the whole output of each test that did
// not pass, and the counts.
func report(stream io.Reader, w io.Writer) (counts, error) {
	r := reporter{w: w, output: map[key]string{}, failed: map[string]int{}}
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(w, lines.Text()) // the go command's own words
			continue
		}
		r.add(e)
	}
	fmt.Fprintf(w, "%d passed, %d failed\n", r.count.passed, r.count.failed)
	return r.count, lines.Err()
}

type key struct{ pkg, test string }

type reporter struct {
	w      io.Writer
	count  counts
	output map[key]string // of what has not ended yet
	failed map[string]int // tests, by package
}

func (r *reporter) add(e event) {
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.w, e.Output)
	case "output":
		r.output[key{e.Package, e.Test}] += e.Output
	case "pass", "fail", "skip":
		said := r.output[key{e.Package, e.Test}]
		delete(r.output, key{e.Package, e.Test})
		if e.Test == "" {
			r.endPackage(e, said)
		} else {
			r.endTest(e, said)
		}
	}
}

func (r *reporter) endTest(e event, said string) {
	if e.Action == "pass" {
		r.count.passed++
		return
	}
	r.count.failed++
	r.failed[e.Package]++
	fmt.Fprint(r.w, said)
	if e.Action == "skip" {
		fmt.Fprintln(r.w, "a skipped test counts as failed here:", e.Test)
	}
}

func (r *reporter) endPackage(e event, said string) {
	if e.Action == "fail" && r.failed[e.Package] == 0 {
		r.count.failed++
		fmt.Fprint(r.w, said)
	}
	fmt.Fprintf(r.w, "%-4s %s %.1fs\n", e.Action, e.Package, e.Elapsed)
}
