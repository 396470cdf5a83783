package oracle

import (
	"math/rand/v2"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// Mutator changes texts, token by token, so that most are still statements.
type Mutator struct {
	random *rand.Rand
	tokens []string // of the texts that it has seen
}

// NewMutator returns a mutator that puts these tokens into texts, and those of
// the texts that it is given.
func NewMutator(seed uint64, tokens ...string) *Mutator {
	return &Mutator{random: rand.New(rand.NewPCG(seed, 1)), tokens: tokens}
}

// Mutate returns a changed text. Errors: of a text that PostgreSQL's scanner
// refuses.
func (m *Mutator) Mutate(sql string) (string, error) {
	tokens, err := split(sql)
	if err != nil || len(tokens) == 0 {
		return "", err
	}
	for range 1 + m.random.IntN(3) {
		i := m.random.IntN(len(tokens))
		j := m.random.IntN(len(tokens))
		switch m.random.IntN(6) {
		case 0:
			tokens = slices.Delete(tokens, i, i+1)
		case 1:
			tokens[i], tokens[j] = tokens[j], tokens[i]
		case 2:
			tokens = slices.Insert(tokens, i, tokens[j])
		case 3:
			tokens[i] = m.token()
		case 4:
			tokens = slices.Insert(tokens, i, m.token())
		case 5:
			tokens = slices.Insert(tokens, i, tokens[min(i, j):max(i, j)]...)
		}
		if len(tokens) == 0 {
			break
		}
	}
	m.learn(tokens)
	return strings.Join(tokens, " "), nil
}

func (m *Mutator) token() string { return m.tokens[m.random.IntN(len(m.tokens))] }

// learn keeps one of the tokens for later.
func (m *Mutator) learn(tokens []string) {
	const kept = 5000
	if len(tokens) > 0 && len(m.tokens) < kept {
		m.tokens = append(m.tokens, tokens[m.random.IntN(len(tokens))])
	}
}

// split returns the tokens of a text as PostgreSQL's scanner has them, comments
// among them. A comment up to the end of its line keeps that end.
func split(sql string) ([]string, error) {
	scan, err := pg_query.Scan(sql)
	if err != nil {
		return nil, err
	}
	tokens := make([]string, 0, len(scan.Tokens))
	for _, t := range scan.Tokens {
		text := sql[t.Start:t.End]
		if t.Token == pg_query.Token_SQL_COMMENT {
			text += "\n"
		}
		tokens = append(tokens, text)
	}
	return tokens, nil
}
