package oracle

import (
	"math/rand/v2"
	"strings"
)

// Generator writes statements by PostgreSQL's grammar, with names, quotes and
// comments where they are most likely to be misread. The same seed writes the
// same statements.
type Generator struct {
	random *rand.Rand
	b      strings.Builder
	depth  int
	calm   bool // names and calls are those of a usual read
}

// NewGenerator returns a generator.
func NewGenerator(seed uint64) *Generator {
	return &Generator{random: rand.New(rand.NewPCG(seed, 0))}
}

// Statement writes one text.
func (g *Generator) Statement() string {
	g.b.Reset()
	g.depth, g.calm = 0, !g.one(3)
	if g.one(12) {
		g.say(";")
	}
	g.statement()
	if g.one(30) {
		g.say(";")
		g.statement()
	}
	if g.one(8) {
		g.say(";")
	}
	return g.b.String()
}

// one reports true once in n times.
func (g *Generator) one(n int) bool { return g.random.IntN(n) == 0 }

// pick returns one of several.
func (g *Generator) pick(of ...string) string { return of[g.random.IntN(len(of))] }

// say writes words, with something blank behind each, in some case.
func (g *Generator) say(words ...string) {
	for _, word := range words {
		switch g.random.IntN(24) {
		case 0:
			word = strings.ToUpper(word)
		case 1:
			word = strings.ToLower(word)
		}
		g.raw(word)
	}
}

// raw writes a token whose case matters.
func (g *Generator) raw(token string) {
	g.b.WriteString(token)
	g.b.WriteString(g.blank())
}

// blank returns what separates tokens.
func (g *Generator) blank() string {
	if !g.one(12) {
		return " "
	}
	return g.pick("\n", "\t", "  ", " /* c */ ", "/*/**/*/ ", " -- it's\n", "/* ' */ ", " /*;*/ ", "\r\n", "\f", " --\n",
		" /* -- */ ", " -- /*\n", " /* $$ */ ", ` /* " */ `, " /* INSERT INTO t */ ")
}

// among returns one of the first few, or of all if the statement is a wild one.
func (g *Generator) among(calmCount int, of []string) string {
	if g.calm {
		of = of[:calmCount]
	}
	return g.pick(of...)
}

// list writes one or more items.
func (g *Generator) list(item func()) {
	item()
	for g.one(3) {
		g.say(",")
		item()
	}
}

// inside writes parentheses around what is written.
func (g *Generator) inside(what func()) {
	g.say("(")
	what()
	g.say(")")
}

// either does one of several.
func (g *Generator) either(of ...func()) { of[g.random.IntN(len(of))]() }

// perhaps does something once in n times.
func (g *Generator) perhaps(n int, what func()) {
	if g.one(n) {
		what()
	}
}
