package router

import (
	"encoding/binary"
	"math/bits"
	"strings"
)

// known is a name that means something: a built-in function's, a word of the
// grammar, or both.
type known struct {
	name   string
	effect effect
	syntax syntax
}

// index finds names by their hash. Each slot has the number of a name; slots
// that are taken are followed by others of their names.
type index struct {
	slots [1 << indexBits]uint16
	names []known // names[0] is no name
}

// indexBits leave most slots empty: there are less than 3,000 names.
const indexBits = 13

var names = indexNames()

func indexNames() *index {
	x := &index{names: make([]known, 1, 3000)}
	for length, table := range builtins {
		for at := 0; at < len(table); at += length + 1 {
			x.add(table[at : at+length]).effect = effect(table[at+length])
		}
	}
	for _, s := range syntaxWords {
		for word := range strings.FieldsSeq(s.words) {
			x.add(word).syntax |= s.syntax
		}
	}
	return x
}

// add returns the entry of a name, which it makes if there is none.
func (x *index) add(name string) *known {
	slot := hash([]byte(name))
	for x.slots[slot] != 0 {
		if k := &x.names[x.slots[slot]]; k.name == name {
			return k
		}
		slot = (slot + 1) % uint64(len(x.slots))
	}
	x.slots[slot] = uint16(len(x.names))
	x.names = append(x.names, known{name: name})
	return &x.names[len(x.names)-1]
}

// look returns what is known of a name; nothing, if it is in no index.
func (x *index) look(name []byte) *known {
	slot := hash(name)
	for x.slots[slot] != 0 {
		if k := &x.names[x.slots[slot]]; k.name == string(name) {
			return k
		}
		slot = (slot + 1) % uint64(len(x.slots))
	}
	return &x.names[0]
}

// hash returns the slot of a name.
func hash(name []byte) uint64 {
	var h uint64
	if n := len(name); n < 8 {
		for _, b := range name {
			h = h<<8 | uint64(b)
		}
	} else {
		h = binary.LittleEndian.Uint64(name) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(name[n-8:]), n)
	}
	return h * 0x9e3779b97f4a7c15 >> (64 - indexBits)
}
