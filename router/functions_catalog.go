package router

// Function is one function of a server's catalog.
type Function struct {
	Schema string
	Name   string
	// Volatility is pg_proc.provolatile: 'i', 's' or 'v'.
	Volatility byte
}

// Catalog is what is known of the functions that users and extensions have made.
//
// Concurrency: a Catalog does not change; anybody may read it.
type Catalog struct {
	// byName has the worst effect of a name in any schema, qualified that in
	// one, under the schema's name, a zero byte and its own.
	byName, qualified map[string]effect
}

// NewCatalog returns the catalog of these functions. Functions of pg_catalog
// that this package knows itself are left out: their volatility says less.
func NewCatalog(functions []Function) *Catalog {
	c := &Catalog{
		byName:    make(map[string]effect, len(functions)),
		qualified: make(map[string]effect, len(functions)),
	}
	for _, f := range functions {
		if f.Schema == "pg_catalog" && builtin([]byte(f.Name)) != effectAbsent {
			continue
		}
		e := effectVolatile
		if f.Volatility == 'i' || f.Volatility == 's' {
			e = effectNone
		}
		c.byName[f.Name] = max(c.byName[f.Name], e)
		key := f.Schema + "\x00" + f.Name
		c.qualified[key] = max(c.qualified[key], e)
	}
	return c
}

// find returns the worst effect of a function's name in any schema.
func (c *Catalog) find(name []byte) effect {
	if c == nil {
		return effectAbsent
	}
	return c.byName[string(name)]
}

// findIn returns the effect of a function of a schema.
func (c *Catalog) findIn(schema, name []byte) effect {
	var key [2*nameLimit + 1]byte
	if c == nil || len(schema)+1+len(name) > len(key) {
		return effectAbsent
	}
	n := copy(key[:], schema)
	n++
	n += copy(key[n:], name)
	return c.qualified[string(key[:n])]
}
