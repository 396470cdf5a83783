package topology

import (
	"testing"

	"github.com/pgryw/pgryw/lsn"
)

// rowOf returns the cells of a row; "NULL" is one.
func rowOf(values ...string) [][]byte {
	row := make([][]byte, len(values))
	for i, v := range values {
		if v != "NULL" {
			row[i] = []byte(v)
		}
	}
	return row
}

// TestEveryCellOfARowIsNeeded takes good rows, and leaves out, empties and spoils
// one cell after the other. optional are the cells that may be NULL.
func TestEveryCellOfARowIsNeeded(t *testing.T) {
	for name, c := range map[string]struct {
		row      []string
		optional map[int]bool
		free     map[int]bool // texts that may say anything
		read     func([][]byte) error
	}{
		"identity": {
			[]string{"7", "100.5", "10.0.0.1", "5432", "4711", "f", "8192", "16777216", "8", "read committed"},
			map[int]bool{2: true, 3: true},
			map[int]bool{1: true, 2: true, 3: true, 8: true, 9: true},
			func(row [][]byte) error { _, err := readIdentity(row); return err },
		},
		"a primary's report": {
			[]string{"7", "100.5", "10.0.0.1", "5432", "f", "0/3000060", "0/3000000", "0000000A", "NULL"},
			map[int]bool{2: true, 3: true, 5: true, 6: true, 8: true},
			map[int]bool{1: true, 2: true, 3: true, 8: true},
			func(row [][]byte) error { _, err := readReport(row); return err },
		},
		"a replica's report": {
			[]string{"7", "100.5", "10.0.0.1", "5432", "t", "0/3000060", "0/3000000", "10", "t"},
			map[int]bool{2: true, 3: true, 5: true, 6: true, 8: true},
			map[int]bool{1: true, 2: true, 3: true, 8: true},
			func(row [][]byte) error { _, err := readReport(row); return err },
		},
		"a pair": {
			[]string{"7", "t", "0/3000060", "1"},
			nil, nil,
			func(row [][]byte) error { _, err := readPair(row); return err },
		},
		"a capture": {
			[]string{"7", "0/3000060", "0000000A"},
			nil, nil,
			func(row [][]byte) error { _, err := readCapture(row, lsn.Geometry{}); return err },
		},
	} {
		if err := c.read(rowOf(c.row...)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i := range c.row {
			if err := c.read(rowOf(c.row[:i]...)); err == nil {
				t.Errorf("%s of %d cells is believed", name, i)
			}
			for _, value := range []string{"NULL", "", "x", "-1", "18446744073709551616", "0/0/0", " t", "t "} {
				if value == c.row[i] || value == "NULL" && c.optional[i] || value != "NULL" && c.free[i] {
					continue
				}
				spoiled := rowOf(c.row...)
				spoiled[i] = rowOf(value)[0]
				if err := c.read(spoiled); err == nil {
					t.Errorf("%s with %q in cell %d is believed", name, value, i)
				}
			}
		}
	}
}

func TestAReportSaysWhereAServerIs(t *testing.T) {
	got, err := readReport(rowOf("7", "100.5", "NULL", "NULL", "f", "16/B374D848", "16/B374D800", "0000000A", "NULL"))
	want := report{
		server:   server{system: 7, started: "100.5"},
		position: lsn.Position{System: 7, Timeline: 10, LSN: 0x16_B374D848}, durable: 0x16_B374D800,
	}
	if err != nil || got != want {
		t.Errorf("a primary: got %+v, %v, want %+v", got, err, want)
	}
	got, err = readReport(rowOf("7", "100.5", "10.0.0.1", "5432", "t", "NULL", "NULL", "10", "t"))
	want = report{
		server: server{system: 7, started: "100.5", addr: "10.0.0.1", port: "5432"}, recovering: true, blind: true,
		position: lsn.Position{System: 7, Timeline: 10},
	}
	if err != nil || got != want {
		t.Errorf("a replica that has replayed nothing: got %+v, %v, want %+v", got, err, want)
	}
}

func TestAPairIsOneOfAServerInRecovery(t *testing.T) {
	got, err := readPair(rowOf("7", "t", "0/3000060", "10"))
	if want := (lsn.Position{System: 7, Timeline: 10, LSN: 0x3000060}); err != nil || got != want {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	for _, row := range [][][]byte{rowOf("7", "f", "0/3000060", "10"), rowOf("7", "t", "NULL", "10"), rowOf("7", "t", "0/3000060", "NULL"), nil} {
		if got, err := readPair(row); err == nil {
			t.Errorf("%q is taken for the pair %v", row, got)
		}
	}
}

// TestACaptureIsRoundedByTheServersGeometry has a position that lies just past
// the header of a page.
func TestACaptureIsRoundedByTheServersGeometry(t *testing.T) {
	const page = 0x3004000
	for name, c := range map[string]struct {
		alignment string
		want      lsn.LSN
	}{
		"the usual alignment": {"8", page},
		"another one":         {"4", page + 24},
	} {
		id, err := readIdentity(rowOf("7", "100.5", "NULL", "NULL", "4711", "f", "8192", "16777216", c.alignment, "serializable"))
		if err != nil || !id.serializable || id.pid != 4711 || id.recovering {
			t.Fatalf("%s: %+v, %v", name, id, err)
		}
		got, err := readCapture(rowOf("7", lsn.LSN(page+24).String(), "0000000A"), id.geometry)
		if want := (lsn.Position{System: 7, Timeline: 10, LSN: c.want}); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
		}
	}
}
