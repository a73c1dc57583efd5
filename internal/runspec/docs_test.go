package runspec

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var updateDocs = flag.Bool("update-docs", false, "write the table of settings into docs/spec/episodes.md")

// settingsTable is the table as Markdown.
func settingsTable() string {
	var b strings.Builder
	b.WriteString("| flag | key of a file | range | default | training only | meaning |\n|---|---|---|---|---|---|\n")
	for _, s := range table {
		initially, only, doc := "the preset's", "", s.Doc
		if s.Default != nil {
			initially = fmt.Sprintf("the preset's, else %v", s.Default)
		}
		if s.TrainingOnly {
			only = "yes"
		}
		if s.Zero != "" && s.Min == 0 {
			doc += "; 0 " + s.Zero
		}
		fmt.Fprintf(&b, "| `--%s` | `%s` | %s | %s | %s | %s |\n", s.Name, s.Key, s.Range(), initially, only, doc)
	}
	return b.String()
}

// TestDocs compares the table in the docs with the one in the code.
func TestDocs(t *testing.T) {
	const path, begin, end = "../../docs/spec/episodes.md", "<!-- settings -->\n", "<!-- end of settings -->\n"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), begin)
	got, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s lacks %q or %q", path, begin, end)
	}
	if got == settingsTable() {
		return
	}
	if !*updateDocs {
		t.Fatalf("%s: the table of settings is not that of the code: go test ./internal/runspec -run Docs -update-docs writes it", path)
	}
	if err := os.WriteFile(path, []byte(before+begin+settingsTable()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
