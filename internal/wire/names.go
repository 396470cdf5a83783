package wire

// names are the statements of ours that exist on the server, as far as it is
// known.
type names struct {
	known []Query
}

// has reports whether q is prepared.
func (n *names) has(q *Query) bool {
	for i := range n.known {
		if n.known[i] == *q {
			return true
		}
	}
	return false
}

// note records whether q is prepared after a group that asked it.
func (n *names) note(q *Query, prepared bool) {
	for i := range n.known {
		if n.known[i].Name != q.Name {
			continue
		}
		if prepared {
			n.known[i] = *q
		} else {
			n.known = append(n.known[:i], n.known[i+1:]...)
		}
		return
	}
	if prepared {
		n.known = append(n.known, *q)
	}
}

// forget records that the server has dropped all statements.
func (n *names) forget() { n.known = n.known[:0] }

// forgetBy looks at a command tag of the user's that may have dropped all
// statements.
func (n *names) forgetBy(tag []byte) {
	switch string(tag) {
	case "DISCARD ALL", "DEALLOCATE ALL":
		n.forget()
	}
}
