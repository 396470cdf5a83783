package oracle

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// Corpus returns the statements in the files below a folder whose names end in
// .sql, without the commands of psql and the data of COPY in them. A file that
// PostgreSQL's scanner refuses is left out.
func Corpus(dir string) ([]string, error) {
	var statements []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".sql") {
			return err
		}
		text, err := readScript(path)
		if err != nil {
			return err
		}
		found, err := pg_query.SplitWithScanner(text, true)
		if err == nil {
			statements = append(statements, found...)
		}
		return nil
	})
	return statements, err
}

// readScript reads a script of psql.
func readScript(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	var b strings.Builder
	data := false
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		switch lower := strings.ToLower(line); {
		case data:
			data = line != `\.`
		case strings.HasPrefix(line, `\`):
			b.WriteString(";\n") // \gset and others end a statement
		default:
			b.WriteString(strings.ToValidUTF8(line, "?"))
			b.WriteByte('\n')
			data = strings.HasPrefix(lower, "copy ") && strings.Contains(lower, "from stdin")
		}
	}
	return b.String(), lines.Err()
}
