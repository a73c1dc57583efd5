package lint

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// public are the packages that other modules import.
var public = []string{".", "./envs", "./envs/exactmath"}

// named are the types of internal packages that have a public name: aliases of exported packages.
var named = map[string]bool{"github.com/evoswarm/evoswarm/internal/noise.Stream": true} // envs.Stream

// TestPublicAPI checks that users of the public packages can name every type in it, and that each exported name has a
// comment.
func TestPublicAPI(t *testing.T) {
	loaded, err := packages.Load(&packages.Config{Dir: root, Mode: packages.LoadSyntax}, public...)
	if err != nil {
		t.Fatal(err)
	}
	if len(loaded) != len(public) {
		t.Fatalf("%d packages loaded, want %d", len(loaded), len(public))
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			t.Error(e)
		}
		for _, leak := range leaks(p.Types) {
			t.Errorf("%s: %s", p.PkgPath, leak)
		}
		for _, f := range docRule(&code{Package: p}) {
			t.Error(f)
		}
	}
}

// TestPublicAPIFixture checks that leaks are found, in each place where a type can stand.
func TestPublicAPIFixture(t *testing.T) {
	loaded, err := packages.Load(&packages.Config{Dir: root, Mode: packages.LoadSyntax}, "./internal/lint/testdata/api")
	if err != nil || len(loaded) != 1 {
		t.Fatal(loaded, err)
	}
	var got []string
	for _, leak := range leaks(loaded[0].Types) {
		got = append(got, strings.Fields(leak)[0])
	}
	slices.Sort(got)
	want := []string{"Argument", "Element", "Field", "Function", "Interface", "Method", "Variable"}
	if !slices.Equal(slices.Compact(got), want) {
		t.Errorf("leaks at %q, want %q", got, want)
	}
}

// leaks lists the types of internal packages in the exported names of p.
func leaks(p *types.Package) (found []string) {
	for _, name := range p.Scope().Names() {
		obj := p.Scope().Lookup(name)
		if !obj.Exported() {
			continue
		}
		w := &apiWalk{home: p, seen: map[types.Type]bool{}, leak: func(where string) {
			found = append(found, fmt.Sprintf("%s shows %s, which users cannot name", name, where))
		}}
		if a, ok := obj.Type().(*types.Alias); ok && a.Obj() == obj {
			w.walk(a.Rhs(), true) // the alias itself gives the name
			continue
		}
		w.walk(obj.Type(), true)
	}
	return found
}

// apiWalk looks at all types that a type shows.
type apiWalk struct {
	home *types.Package
	seen map[types.Type]bool
	leak func(string)
}

// walk looks at t; own says that t belongs to an exported name, whose methods and fields are looked at.
func (w *apiWalk) walk(t types.Type, own bool) {
	if t == nil || w.seen[t] {
		return
	}
	w.seen[t] = true
	switch t := t.(type) {
	case *types.Alias:
		w.walk(types.Unalias(t), own)
	case *types.Named:
		w.name(t, own)
	case *types.Pointer:
		w.walk(t.Elem(), own)
	case *types.Slice:
		w.walk(t.Elem(), false)
	case *types.Array:
		w.walk(t.Elem(), false)
	case *types.Chan:
		w.walk(t.Elem(), false)
	case *types.Map:
		w.walk(t.Key(), false)
		w.walk(t.Elem(), false)
	case *types.Signature:
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range tuple.Variables() {
				w.walk(v.Type(), false)
			}
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				w.walk(f.Type(), false)
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			w.walk(m.Type(), false)
		}
	}
}

// name looks at a type with a name.
func (w *apiWalk) name(t *types.Named, own bool) {
	obj := t.Obj()
	if obj.Pkg() == nil || !inModule(obj.Pkg().Path()) {
		return
	}
	full := obj.Pkg().Path() + "." + obj.Name()
	hidden := strings.Contains(obj.Pkg().Path(), "/internal/") && obj.Pkg() != w.home || !obj.Exported()
	if hidden && !named[full] {
		w.leak(full)
		return
	}
	if !own || obj.Pkg() != w.home {
		return
	}
	w.walk(t.Underlying(), true)
	for m := range t.Methods() {
		if m.Exported() {
			w.walk(m.Type(), false)
		}
	}
}
