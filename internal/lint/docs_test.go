package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// page is one Markdown file.
type page struct {
	path  string // from the module's folder, with slashes
	text  string // without blocks of code
	heads []head
}

type head struct {
	level int
	text  string
}

// anchor is the fragment that GitHub gives a heading.
func (h head) anchor() string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, h.text)
}

// readPage parses what the rules below look at.
func readPage(path, text string) page {
	p := page{path: path}
	var prose strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if fenced || strings.HasPrefix(line, "    ") {
			continue
		}
		prose.WriteString(line)
		if marks := len(line) - len(strings.TrimLeft(line, "#")); marks > 0 {
			p.heads = append(p.heads, head{marks, strings.TrimSpace(line[marks:])})
		}
	}
	p.text = prose.String()
	return p
}

// pages reads every Markdown file of the project.
func pages(t *testing.T) map[string]page {
	t.Helper()
	found := map[string]page{}
	eachFile(t, ".md", func(path string, data []byte) {
		found[path] = readPage(path, string(data))
	})
	if len(found) < 10 {
		t.Fatalf("found %d Markdown files, want all", len(found))
	}
	return found
}

// eachFile reads every file of the project with the extension; paths are relative to the module's folder.
func eachFile(t *testing.T, ext string, use func(path string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "build", "node_modules", "testdata"}, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ext:
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		use(filepath.ToSlash(rel), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var linkPattern = regexp.MustCompile(`\]\(([^()\s]+)\)`)

// brokenLinks returns the links of p whose file or heading does not exist.
func brokenLinks(p page, all map[string]page, exists func(path string) bool) (broken []string) {
	for _, m := range linkPattern.FindAllStringSubmatch(p.text, -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		file, fragment, _ := strings.Cut(m[1], "#")
		target := p.path
		if file != "" {
			target = filepath.ToSlash(filepath.Join(filepath.Dir(p.path), file))
		}
		linked := all[target]
		known := slices.ContainsFunc(linked.heads, func(h head) bool { return h.anchor() == fragment })
		if !exists(target) || (fragment != "" && !known) {
			broken = append(broken, m[1])
		}
	}
	return broken
}

func TestDocLinks(t *testing.T) {
	all := pages(t)
	exists := func(path string) bool {
		_, err := os.Stat(filepath.Join(root, path))
		return err == nil
	}
	for path, p := range all {
		for _, link := range brokenLinks(p, all, exists) {
			t.Errorf("%s: broken link %s", path, link)
		}
	}
}

func TestDocLinksFixture(t *testing.T) {
	p := readPage("docs/a.md", "# A `b` head, twice\n\n[1](#a-b-head-twice) [2](#other) [3](../README.md) [4](b.md#c) [5](b.md#d)\n```\n[6](none.md)\n```\n")
	all := map[string]page{"docs/a.md": p, "docs/b.md": readPage("docs/b.md", "## C\n"), "README.md": {}}
	exists := func(path string) bool { _, ok := all[path]; return ok }
	if got, want := brokenLinks(p, all, exists), []string{"#other", "b.md#d"}; !slices.Equal(got, want) {
		t.Errorf("broken links = %q, want %q", got, want)
	}
}

// TestDocIndex holds the index of RATIONALE.md to its sections.
func TestDocIndex(t *testing.T) {
	p := pages(t)["docs/RATIONALE.md"]
	_, rest, ok1 := strings.Cut(p.text, "<!-- begin index -->\n")
	index, _, ok2 := strings.Cut(rest, "<!-- end index -->")
	if !ok1 || !ok2 {
		t.Fatal("docs/RATIONALE.md has no index")
	}
	var got, want []string
	for _, m := range regexp.MustCompile(`\[(.*)\]\(#(.*)\)`).FindAllStringSubmatch(index, -1) {
		got = append(got, m[1]+" #"+m[2])
	}
	for _, h := range p.heads[1:] {
		want = append(want, h.text+" #"+h.anchor())
	}
	if len(want) < 50 {
		t.Fatalf("found %d sections, want all", len(want))
	}
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Fatalf("the index lacks %q", want[i])
		case i >= len(want):
			t.Fatalf("the index has %q, which is no section", got[i])
		case got[i] != want[i]:
			t.Fatalf("the index has %q where the section is %q", got[i], want[i])
		}
	}
}

var glossaryRow = regexp.MustCompile(`(?m)^\| ([^|\n]+) \|([^|\n]*)\|[^|\n]+\|$`)

// TestDocGlossary checks that GLOSSARY.md is in order and that its names exist: a folder, package.Name, or
// package.Name.Field.
func TestDocGlossary(t *testing.T) {
	rows := glossaryRow.FindAllStringSubmatch(pages(t)["docs/GLOSSARY.md"].text, -1)[1:] // without the header
	if len(rows) < 50 {
		t.Fatalf("found %d terms, want all", len(rows))
	}
	names := declared(t)
	last := ""
	for _, row := range rows {
		term := strings.ToLower(row[1])
		if term <= last {
			t.Errorf("%q comes after %q", term, last)
		}
		last = term
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
			if !names[m[1]] {
				t.Errorf("%s: the code has no %s", row[1], m[1])
			}
		}
	}
}

// declared returns the folders of all packages, their exported declarations as package.Name, and the fields and methods
// of types as package.Name.Field.
func declared(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	eachFile(t, ".go", func(file string, data []byte) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, data, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		names[path.Dir(file)] = true
		for _, decl := range f.Decls {
			for _, name := range declaredBy(decl) {
				names[f.Name.Name+"."+name] = true
			}
		}
	})
	return names
}

func declaredBy(decl ast.Decl) (names []string) {
	if f, ok := decl.(*ast.FuncDecl); ok {
		if f.Recv == nil {
			return []string{f.Name.Name}
		}
		of := f.Recv.List[0].Type
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		if id, ok := of.(*ast.Ident); ok {
			return []string{id.Name + "." + f.Name.Name}
		}
		return nil
	}
	for _, spec := range decl.(*ast.GenDecl).Specs {
		switch s := spec.(type) {
		case *ast.ValueSpec:
			for _, id := range s.Names {
				names = append(names, id.Name)
			}
		case *ast.TypeSpec:
			names = append(names, s.Name.Name)
			fields := &ast.FieldList{}
			switch of := s.Type.(type) {
			case *ast.StructType:
				fields = of.Fields
			case *ast.InterfaceType:
				fields = of.Methods
			}
			for _, field := range fields.List {
				for _, id := range field.Names {
					names = append(names, s.Name.Name+"."+id.Name)
				}
			}
		}
	}
	return names
}
