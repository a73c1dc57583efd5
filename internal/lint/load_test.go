package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// finding is one broken rule.
type finding struct {
	file string
	line int
	text string
}

func (f finding) String() string {
	file := f.file
	if rel, err := filepath.Rel(root, file); err == nil {
		file = rel
	}
	return fmt.Sprintf("%s:%d: %s", file, f.line, f.text)
}

// root is the module's folder.
var root = func() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
}()

// code is a loaded package with its room and floor.
type code struct {
	*packages.Package
	room  string
	floor int
}

// at makes a finding.
func (c *code) at(n ast.Node, format string, args ...any) finding {
	p := c.Fset.Position(n.Pos())
	return finding{p.Filename, p.Line, fmt.Sprintf(format, args...)}
}

// pure loads the packages of floors 0-3 once, without their tests: for this machine, and for js too if some
// files are not built for this machine.
var pure = sync.OnceValues(func() ([]*code, error) {
	here, more, err := load(nil, "./...")
	if err != nil || !more {
		return here, err
	}
	js, _, err := load([]string{"GOOS=js", "GOARCH=wasm"}, "./...")
	return append(here, js...), err
})

func load(env []string, patterns ...string) (loaded []*code, more bool, err error) {
	fset := token.NewFileSet()
	paths, err := pureDirs(env, patterns)
	if err != nil || len(paths) == 0 {
		return nil, false, err
	}
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedCompiledGoFiles,
		Dir:  root, Fset: fset, Env: append(os.Environ(), env...),
	}, paths...)
	if err != nil {
		return nil, false, err
	}
	for _, p := range pkgs {
		room, floor, _ := roomOf(p.PkgPath)
		loaded = append(loaded, &code{p, room, floor})
		for _, f := range p.IgnoredFiles {
			more = more || strings.HasSuffix(f, ".go") && !strings.HasSuffix(f, "_test.go")
		}
	}
	return loaded, more, nil
}

// pureDirs lists the packages of floors 0-3 among the patterns.
func pureDirs(env, patterns []string) ([]string, error) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles, Dir: root, Env: append(os.Environ(), env...)}, patterns...)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, p := range pkgs {
		_, floor, ok := roomOf(p.PkgPath)
		if ok && floor >= 0 && floor <= 3 && len(p.GoFiles) > 0 {
			paths = append(paths, p.PkgPath)
		}
	}
	sort.Strings(paths)
	return paths, nil
}

// fixture loads testdata/<name> as if it were the package room.
func fixture(t *testing.T, name, room string) *code {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedCompiledGoFiles,
	}, "./testdata/"+name)
	if err != nil {
		t.Fatal(err)
	}
	if len(pkgs) != 1 || len(pkgs[0].Errors) > 0 {
		t.Fatalf("fixture %s: %d packages, errors %v", name, len(pkgs), pkgs[0].Errors)
	}
	found, floor, ok := roomOf(module + "/" + room)
	if !ok {
		t.Fatalf("fixture %s: no room %s", name, room)
	}
	return &code{pkgs[0], found, floor}
}

// wanted compares what a rule found in a fixture with its marks.
func wanted(t *testing.T, dir string, found []finding) {
	t.Helper()
	want := marks(t, dir)
	if len(want) == 0 {
		t.Fatalf("%s: no line is marked", dir)
	}
	for _, f := range found {
		key := filepath.Base(f.file) + ":" + strconv.Itoa(f.line)
		text, ok := want[key]
		if !ok {
			t.Errorf("%s: not marked: %s", key, f.text)
			continue
		}
		if !strings.Contains(f.text, text) {
			t.Errorf("%s: got %q, want %q", key, f.text, text)
		}
		want[key] = ""
	}
	for key, text := range want {
		if text != "" {
			t.Errorf("%s: not found: %q", key, text)
		}
	}
}

func marks(t *testing.T, dir string) map[string]string {
	t.Helper()
	want := map[string]string{}
	files, err := filepath.Glob(filepath.Join(dir, "*.[gs]*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if _, text, ok := strings.Cut(line, "// want: "); ok {
				want[filepath.Base(file)+":"+strconv.Itoa(i+1)] = strings.TrimSpace(text)
			}
		}
	}
	return want
}

// Packages that do not compile are reported once, here. The other rules check what can be loaded of them.
func TestCompiles(t *testing.T) {
	all, err := pure()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		for _, e := range c.Errors {
			t.Errorf("%s: %v", c.PkgPath, e)
		}
	}
}

// report runs a rule over floors 0-3.
func report(t *testing.T, rule func(*code) []finding) {
	t.Helper()
	all, err := pure()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no package of floors 0-3 was found")
	}
	seen := map[string]bool{}
	for _, c := range all {
		for _, f := range rule(c) {
			if s := f.String(); !seen[s] {
				seen[s] = true
				t.Error(s)
			}
		}
	}
}

// parseDir parses the imports of every Go file of a folder except tests, whatever their build tags.
func parseDir(dir string) (*token.FileSet, []*ast.File, error) {
	fset := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, nil, err
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return nil, nil, err
		}
		for _, group := range f.Comments {
			if group.Pos() < f.Package && hasIgnoreTag(group) {
				f = nil
				break
			}
		}
		if f != nil {
			files = append(files, f)
		}
	}
	return fset, files, nil
}

func hasIgnoreTag(group *ast.CommentGroup) bool {
	for _, c := range group.List {
		if c.Text == "//go:build ignore" {
			return true
		}
	}
	return false
}
