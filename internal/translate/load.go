package translate

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Program is the source of some packages of one module and of all packages of that module below them.
type Program struct {
	module string
	dir    string
	fset   *token.FileSet
	pkgs   map[string]*packages.Package
	funcs  map[*types.Func]*source
	vars   map[types.Object]variable
	sizes  types.Sizes
}

// source is a function as it is written in Go.
type source struct {
	decl *ast.FuncDecl
	pkg  *packages.Package
	obj  *types.Func
}

// variable is a package-level variable with its initial value, nil if it has none.
type variable struct {
	pkg   *packages.Package
	value ast.Expr
}

// Load reads the packages that the patterns name and those of the same module that they import. dir is a folder of the
// module, env adds to the environment of the go tool, tags are build tags.
func Load(dir string, env, tags []string, patterns ...string) (*Program, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	cfg := packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
		Dir:  dir, Env: append(os.Environ(), env...), BuildFlags: []string{"-tags=" + strings.Join(tags, ",")},
	}
	found, err := packages.Load(&cfg, patterns...)
	if err != nil {
		return nil, err
	}
	module, top := "", ""
	for _, p := range found {
		if p.Module == nil {
			return nil, fmt.Errorf("translate: package %s is in no module", p.PkgPath)
		}
		module, top = p.Module.Path, p.Module.Dir
	}
	var paths []string
	packages.Visit(found, func(p *packages.Package) bool {
		if p.Module == nil || p.Module.Path != module {
			return false
		}
		paths = append(paths, p.PkgPath)
		return true
	}, nil)
	slices.Sort(paths)
	cfg.Mode = packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
		packages.NeedImports | packages.NeedCompiledGoFiles | packages.NeedTypesSizes | packages.NeedModule
	cfg.Fset = token.NewFileSet()
	pkgs, err := packages.Load(&cfg, paths...)
	if err != nil {
		return nil, err
	}
	return newProgram(top, module, cfg.Fset, pkgs)
}

func newProgram(dir, module string, fset *token.FileSet, pkgs []*packages.Package) (*Program, error) {
	p := &Program{
		module: module, dir: dir, fset: fset, pkgs: map[string]*packages.Package{}, funcs: map[*types.Func]*source{},
		vars: map[types.Object]variable{}, sizes: types.SizesFor("gc", "amd64"),
	}
	var faults []error
	for _, pkg := range pkgs {
		for _, e := range pkg.Errors {
			faults = append(faults, e)
		}
		p.pkgs[pkg.PkgPath] = pkg
		for _, f := range pkg.Syntax {
			for _, d := range f.Decls {
				p.declare(pkg, d)
			}
		}
	}
	return p, errors.Join(faults...)
}

func (p *Program) declare(pkg *packages.Package, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if o, ok := pkg.TypesInfo.Defs[d.Name].(*types.Func); ok {
			p.funcs[o] = &source{decl: d, pkg: pkg, obj: o}
		}
	case *ast.GenDecl:
		if d.Tok != token.VAR {
			return
		}
		for _, s := range d.Specs {
			s := s.(*ast.ValueSpec)
			for i, name := range s.Names {
				v := variable{pkg: pkg}
				if i < len(s.Values) {
					v.value = s.Values[i]
				}
				p.vars[pkg.TypesInfo.Defs[name]] = v
			}
		}
	}
}

// lookup finds the function of a name such as "internal/noise.Stream.Normal" or "internal/kernel.Dense".
func (p *Program) lookup(name string) (*source, error) {
	path, rest := p.split(name)
	pkg := p.pkgs[path]
	if pkg == nil {
		return nil, fmt.Errorf("translate: %s: package %s is not loaded", name, path)
	}
	typ, method, isMethod := strings.Cut(rest, ".")
	var obj types.Object
	if isMethod {
		if t, ok := pkg.Types.Scope().Lookup(typ).(*types.TypeName); ok {
			obj, _, _ = types.LookupFieldOrMethod(types.NewPointer(t.Type()), false, pkg.Types, method)
		}
	} else {
		obj = pkg.Types.Scope().Lookup(rest)
	}
	f, ok := obj.(*types.Func)
	if !ok || p.funcs[f] == nil {
		return nil, fmt.Errorf("translate: there is no function %s", name)
	}
	return p.funcs[f], nil
}

// split cuts a name into the path of its package and the rest.
func (p *Program) split(name string) (path, rest string) {
	at := strings.LastIndexByte(name, '/') + 1
	dir, rest, _ := strings.Cut(name[at:], ".")
	return p.module + "/" + name[:at] + dir, rest
}

// functionName is what a function is called within its package: Func or Type.Method.
func functionName(f *types.Func) string {
	if r := f.Signature().Recv(); r != nil {
		t := r.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		if n, ok := t.(*types.Named); ok {
			return n.Obj().Name() + "." + f.Name()
		}
	}
	return f.Name()
}

// file is the name of the file of n, relative to the module.
func (p *Program) file(n ast.Node) string {
	name := p.fset.Position(n.Pos()).Filename
	if rel, err := filepath.Rel(p.dir, name); err == nil && filepath.IsLocal(rel) {
		name = rel
	}
	return filepath.ToSlash(name)
}

// refuse makes a refusal of the construct at n.
func (p *Program) refuse(n ast.Node, format string, args ...any) Refusal {
	return Refusal{p.file(n), p.fset.Position(n.Pos()).Line, fmt.Sprintf(format, args...)}
}
