package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// refused0 is what floor 0 may not import of the standard library, with all packages below: clocks, machines, chance,
// threads.
var refused0 = []string{"time", "os", "net", "sync", "log", "syscall", "runtime", "unsafe", "reflect", "context", "testing", "plugin", "math/rand", "math/cmplx", "crypto/rand", "C"}

// Floors 1 to 3 may import only these. A name that ends with / allows all packages below it.
var (
	allowed1 = []string{"bytes", "cmp", "embed", "encoding/binary", "errors", "fmt", "io", "math", "math/bits", "slices", "sort", "strconv", "strings"}
	allowed2 = append([]string{"bufio", "crypto/", "encoding/", "hash", "hash/", "maps", "math/big",
		"github.com/ipfs/go-cid", "github.com/multiformats/go-multihash", "github.com/fxamacker/cbor/v2", "gonum.org/v1/gonum/"}, allowed1...)
	allowedWorkers = append([]string{"context", "runtime", "sync", "sync/atomic"}, allowed2...)
)

// refusedAlways holds on floors 0-3 even below an allowed name.
var refusedAlways = []string{"unsafe", "math/rand", "crypto/rand", "C"}

func listed(list []string, path string) bool {
	for _, name := range list {
		if path == name || strings.HasSuffix(name, "/") && strings.HasPrefix(path, name) {
			return true
		}
	}
	return false
}

func below(list []string, path string) bool {
	for _, name := range list {
		if path == name || strings.HasPrefix(path, name+"/") {
			return true
		}
	}
	return false
}

// refusal says why room may not import path; "" if it may.
func refusal(room string, floor int, path string) string {
	if inModule(path) {
		return refusalInside(room, floor, path)
	}
	if floor > 3 {
		return ""
	}
	if below(refusedAlways, path) {
		return "forbidden import " + path
	}
	std := !strings.Contains(strings.SplitN(path, "/", 2)[0], ".")
	ok := false
	switch {
	case floor == 0:
		ok = std && !below(refused0, path) && (path != "math" || room == "internal/exact")
		ok = ok || path == "sync" && room == "internal/noise" // a lock around the list of scripts, for traces and tests
	case floor == 1:
		ok = listed(allowed1, path)
	case hasWorkers[room]:
		ok = listed(allowedWorkers, path)
	default:
		ok = listed(allowed2, path)
	}
	if !ok {
		return "forbidden import " + path + " on floor " + strconv.Itoa(floor)
	}
	return ""
}

func refusalInside(room string, floor int, path string) string {
	other, up, ok := roomOf(path)
	switch {
	case !ok:
		return "import of a folder without a floor: " + path
	case up == exempt:
		return "import of a test helper: " + path
	case up > floor:
		return "upward import " + path
	case floor == 4 && up == 4 && other != room:
		return "adapters do not import each other: " + path
	}
	return ""
}

func importRule(fset *token.FileSet, files []*ast.File, room string, floor int) (found []finding) {
	for _, f := range files {
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				path = spec.Path.Value
			}
			if why := refusal(room, floor, path); why != "" {
				p := fset.Position(spec.Pos())
				found = append(found, finding{p.Filename, p.Line, why})
			}
		}
	}
	return found
}

func TestImports(t *testing.T) {
	checked := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		name := d.Name()
		if path != root && (name[0] == '.' || name[0] == '_' || name == "testdata" || name == "node_modules" || name == "build" || name == "dist") {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		fset, files, err := parseDir(path)
		if err != nil || len(files) == 0 {
			return err
		}
		room, floor, ok := roomOf(module + "/" + filepath.ToSlash(rel))
		if !ok {
			t.Errorf("%s: Go code in a folder without a floor: give it a row in floors_test.go and docs/ARCHITECTURE.md", rel)
		}
		if floor == exempt {
			return nil
		}
		checked++
		for _, f := range importRule(fset, files, room, floor) {
			t.Error(f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked == 0 {
		t.Fatal("nothing was checked")
	}
}

func TestImportsFixture(t *testing.T) {
	for dir, room := range map[string]string{
		"imports/numbers": "internal/noise", "imports/worlds": "envs/classic", "imports/learning": "internal/evolve",
		"imports/rollout": "internal/rollout", "imports/protocol": "coordinator", "imports/adapter": "internal/store",
	} {
		dir = filepath.Join("testdata", filepath.FromSlash(dir))
		fset, files, err := parseDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		room, floor, ok := roomOf(module + "/" + room)
		if !ok {
			t.Fatalf("no room %s", room)
		}
		wanted(t, dir, importRule(fset, files, room, floor))
	}
}

// What of math is the same on every target.
var (
	mathExact = []string{"Sqrt", "Abs", "Copysign", "Floor", "Trunc", "Inf", "NaN", "IsNaN", "IsInf", "Signbit"}
	mathCasts = []string{"Float64bits", "Float64frombits", "Float32bits", "Float32frombits"}
)

// mathRule reports selectors of math that the room may not use. Constants are fine.
func mathRule(c *code) (found []finding) {
	var used []*ast.Ident
	for id, obj := range c.TypesInfo.Uses {
		f, ok := obj.(*types.Func)
		if ok && f.Pkg() != nil && f.Pkg().Path() == "math" {
			used = append(used, id)
		}
	}
	sort.Slice(used, func(i, j int) bool { return used[i].Pos() < used[j].Pos() })
	for _, id := range used {
		if !listed(mathCasts, id.Name) && !(c.room == "internal/exact" && listed(mathExact, id.Name)) {
			found = append(found, c.at(id, "math.%s may differ between targets or is not for this floor: use internal/exact", id.Name))
		}
	}
	return found
}

func TestMath(t *testing.T) { report(t, mathRule) }

func TestMathFixture(t *testing.T) {
	wanted(t, "testdata/math/inexact", mathRule(fixture(t, "math/inexact", "internal/exact")))
	wanted(t, "testdata/math/outside", mathRule(fixture(t, "math/outside", "internal/evolve")))
}
