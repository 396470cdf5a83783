package lsn

import "fmt"

// Position is a place in one cluster's history. Only positions of the same
// system and timeline can be compared by their LSN: after a promotion the old
// and the new primary hand out the same LSNs for different contents.
//
// The zero Position is unknown.
type Position struct {
	// System is the cluster's system identifier, as in pg_control_system().
	System uint64
	// Timeline is the WAL timeline that LSN lies on.
	Timeline uint32
	// LSN is a count of bytes into the WAL.
	LSN LSN
}

// IsZero reports whether p is the unknown position.
func (p Position) IsZero() bool { return p == Position{} }

// Reaches reports whether a server that is at p shows everything up to want.
// It is false whenever the two cannot be compared: a system or a timeline of
// zero is not known, and equals nothing.
func (p Position) Reaches(want Position) bool {
	return p.System != 0 && p.System == want.System &&
		p.Timeline != 0 && p.Timeline == want.Timeline &&
		p.LSN >= want.LSN
}

// After reports whether p supersedes q in a fence of the same system: a later
// timeline always does, an earlier one never, and on the same one the higher
// LSN does.
func (p Position) After(q Position) bool {
	if p.Timeline != q.Timeline {
		return p.Timeline > q.Timeline
	}
	return p.LSN > q.LSN
}

// String prints the position for people: "7301…42/1@0/3000060" would be system
// 7301…42, timeline 1.
func (p Position) String() string {
	if p.IsZero() {
		return "unknown"
	}
	return fmt.Sprintf("%d/%d@%s", p.System, p.Timeline, p.LSN)
}

// Geometry is how a cluster's WAL is cut, as pg_control_init() reports it.
// The zero Geometry is unknown: nothing is rounded. Leave it zero for a server
// whose max_data_alignment is not 8: its page headers are shorter than those
// below, and a record may end where they would.
type Geometry struct {
	PageBytes    uint64 // wal_block_size
	SegmentBytes uint64 // bytes_per_wal_segment
}

// Sizes of the headers at the start of a WAL page, and of the first page of a
// segment.
//
// Source: src/include/access/xlog_internal.h, SizeOfXLogShortPHD and
// SizeOfXLogLongPHD.
const (
	shortPageHeaderBytes = 24
	longPageHeaderBytes  = 40
)

// RoundDown returns the page's start if l points just past a page header, else
// l. The server's insert position steps over the header of a page that holds
// nothing yet, where a standby cannot get before the next record; no record
// can end inside a header, so the page's start says the same.
func (g Geometry) RoundDown(l LSN) LSN {
	if g.SegmentBytes != 0 && uint64(l)%g.SegmentBytes == longPageHeaderBytes {
		return l - longPageHeaderBytes
	}
	if g.PageBytes != 0 && uint64(l)%g.PageBytes == shortPageHeaderBytes {
		return l - shortPageHeaderBytes
	}
	return l
}
