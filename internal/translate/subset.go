package translate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Rules hold the files of a package to the kernel subset of Go (docs/spec/numerics.md): what may be in step code at
// all, by its syntax and types. [Program.Check] adds what can only be said of whole programs.
type Rules struct {
	// Module is the path of this module.
	Module string
	// Step says whether a file of the package path is step code.
	Step func(path, file string) bool
	// Interface is the one interface that may be a parameter, or the element of a slice: of it, Reset and Step may be
	// called. Empty: none.
	Interface string
}

// Check returns what the step files of a package must not contain, with absolute names of files.
func (rules Rules) Check(p *packages.Package) Refusals {
	r := &subset{Package: p, rules: rules, funcs: map[types.Object]*ast.FuncDecl{}, files: map[string]bool{}, calls: map[types.Object][]types.Object{}}
	var files []*ast.File
	for _, f := range p.Syntax {
		if name := p.Fset.Position(f.Package).Filename; rules.Step(p.PkgPath, name) {
			files = append(files, f)
			r.files[name] = true
		}
	}
	for _, f := range files {
		for _, d := range f.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				r.funcs[p.TypesInfo.Defs[f.Name]] = f
			}
		}
	}
	r.written = r.writtenVars()
	for _, f := range files {
		for _, d := range f.Decls {
			r.decl(d)
		}
	}
	r.recursion()
	return r.found.sorted()
}

// bound says whether t is the interface that is bound to worlds.
func (r *subset) bound(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && r.rules.Interface != "" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path()+"."+n.Obj().Name() == r.rules.Module+"/"+r.rules.Interface
}

// subset is a package whose step files are being read.
type subset struct {
	*packages.Package
	rules   Rules
	files   map[string]bool                 // the package's step files
	funcs   map[types.Object]*ast.FuncDecl  // functions declared in them
	calls   map[types.Object][]types.Object // who calls whom among them
	written map[types.Object]bool           // package-level variables that are changed somewhere
	called  map[*ast.Ident]bool             // identifiers in the place of a called function
	self    types.Object                    // the function being read
	found   Refusals
}

func (r *subset) add(n ast.Node, format string, args ...any) {
	p := r.Fset.Position(n.Pos())
	r.found = append(r.found, Refusal{p.Filename, p.Line, "step code: " + fmt.Sprintf(format, args...)})
}

// writtenVars looks at the whole package for assignments to its variables, and for their addresses being taken.
func (r *subset) writtenVars() map[types.Object]bool {
	written := map[types.Object]bool{}
	mark := func(e ast.Expr) {
		if v := r.rootVar(e); v != nil {
			written[v] = true
		}
	}
	for _, f := range r.Syntax {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, e := range n.Lhs {
					mark(e)
				}
			case *ast.IncDecStmt:
				mark(n.X)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					mark(n.X)
				}
			case *ast.RangeStmt:
				if n.Tok == token.ASSIGN {
					mark(n.Key)
					mark(n.Value)
				}
			}
			return true
		})
	}
	return written
}

// rootVar returns the package-level variable that e is part of.
func (r *subset) rootVar(e ast.Expr) types.Object {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.Ident:
			if v, ok := r.TypesInfo.ObjectOf(x).(*types.Var); ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
				return v
			}
			return nil
		default:
			return nil
		}
	}
}

func (r *subset) decl(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		r.self = r.TypesInfo.Defs[d.Name]
		if d.Type.TypeParams != nil {
			r.add(d, "generic function")
		}
		if d.Name.Name == "init" {
			r.add(d, "init function")
		}
		r.walk(d)
	case *ast.GenDecl:
		r.self = nil
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				r.typeSpec(s)
			case *ast.ValueSpec:
				if d.Tok == token.VAR {
					r.packageVar(s)
				}
			}
		}
	}
}

func (r *subset) typeSpec(s *ast.TypeSpec) {
	if s.TypeParams != nil {
		r.add(s, "generic type")
	}
	if st, ok := s.Type.(*ast.StructType); ok {
		for _, f := range st.Fields.List {
			if why := r.refusedType(r.TypesInfo.TypeOf(f.Type), true); why != "" {
				r.add(f, "field of type %s", why)
			}
		}
		return
	}
	if why := r.refusedType(r.TypesInfo.TypeOf(s.Type), true); why != "" {
		r.add(s, "type %s", why)
	}
}

// packageVar admits an array that is written out and never changed.
func (r *subset) packageVar(s *ast.ValueSpec) {
	for i, name := range s.Names {
		obj := r.TypesInfo.Defs[name]
		if obj == nil {
			continue
		}
		_, array := obj.Type().Underlying().(*types.Array)
		if !array || r.refusedType(obj.Type(), true) != "" || i >= len(s.Values) || !r.literal(s.Values[i]) || r.written[obj] {
			r.add(name, "package-level variable %s is not a constant array of literal values", name.Name)
		}
	}
}

// literal says whether e is a constant, or an array or struct of such.
func (r *subset) literal(e ast.Expr) bool {
	if tv := r.TypesInfo.Types[e]; tv.Value != nil {
		return true
	}
	lit, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok {
		return false
	}
	for _, x := range lit.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			x = kv.Value
		}
		if !r.literal(x) {
			return false
		}
	}
	return true
}

// refusedType names what the subset does not have in t; "" if t is fine. Within a stored value (a field, an element)
// pointers and slices are refused too.
func (r *subset) refusedType(t types.Type, stored bool) string {
	if t == nil {
		return ""
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch u.Kind() {
		case types.Bool, types.Int, types.Int32, types.Uint32, types.Int64, types.Uint64, types.Float32, types.Float64,
			types.UntypedBool, types.UntypedInt, types.UntypedRune, types.UntypedFloat:
			return ""
		}
		return u.Name()
	case *types.Array:
		return r.refusedType(u.Elem(), true)
	case *types.Struct:
		for f := range u.Fields() {
			if why := r.refusedType(f.Type(), true); why != "" {
				return why
			}
		}
		return ""
	case *types.Pointer:
		if stored {
			return "pointer"
		}
		return r.refusedType(u.Elem(), true)
	case *types.Slice:
		if stored {
			return "slice"
		}
		return r.refusedType(u.Elem(), !r.bound(u.Elem()))
	case *types.Map:
		return "map"
	case *types.Chan:
		return "channel"
	case *types.Interface:
		if r.bound(t) && !stored {
			return ""
		}
		return "interface"
	case *types.Signature:
		return "func"
	}
	return t.String()
}

// reported says whether t comes from a type that is declared in step code, where what is wrong with it is
// reported once.
func (r *subset) reported(t types.Type) bool {
	for {
		switch u := t.(type) {
		case *types.Pointer:
			t = u.Elem()
		case *types.Slice:
			t = u.Elem()
		case *types.Array:
			t = u.Elem()
		case *types.Named:
			return r.files[r.Fset.Position(u.Obj().Pos()).Filename]
		default:
			return false
		}
	}
}

func (r *subset) walk(d *ast.FuncDecl) {
	r.called = map[*ast.Ident]bool{}
	ast.Inspect(d, func(n ast.Node) bool {
		r.statement(n)
		switch n := n.(type) {
		case *ast.CallExpr:
			r.call(n)
		case *ast.Ident:
			r.ident(n)
		}
		return true
	})
}

func (r *subset) statement(n ast.Node) {
	switch n := n.(type) {
	case *ast.FuncLit:
		r.add(n, "closure")
	case *ast.GoStmt:
		r.add(n, "go")
	case *ast.DeferStmt:
		r.add(n, "defer")
	case *ast.SelectStmt:
		r.add(n, "select")
	case *ast.SendStmt:
		r.add(n, "channel")
	case *ast.TypeSwitchStmt, *ast.TypeAssertExpr:
		r.add(n, "interface")
	case *ast.TypeSpec:
		r.typeSpec(n)
	case *ast.ForStmt:
		if n.Cond == nil {
			r.add(n, "for without a condition")
		}
	case *ast.RangeStmt:
		if why := r.refusedType(r.TypesInfo.TypeOf(n.X), false); why != "" {
			r.add(n, "range over %s", why)
		}
	case *ast.BranchStmt:
		if n.Tok == token.GOTO {
			r.add(n, "goto")
		}
	case *ast.BasicLit:
		if n.Kind == token.STRING || n.Kind == token.IMAG {
			r.add(n, "literal %s", n.Value)
		}
	case *ast.CompositeLit:
		switch u := r.TypesInfo.TypeOf(n).Underlying().(type) {
		case *types.Slice, *types.Map:
			r.add(n, "literal of type %s allocates", u)
		}
	case *ast.UnaryExpr:
		if _, lit := ast.Unparen(n.X).(*ast.CompositeLit); lit && n.Op == token.AND {
			r.add(n, "address of a literal allocates")
		}
	}
}

// ident checks the types of what is declared, and which package-level names are used.
func (r *subset) ident(id *ast.Ident) {
	if v, ok := r.TypesInfo.Defs[id].(*types.Var); ok {
		if why := r.refusedType(v.Type(), false); why != "" && !r.reported(v.Type()) {
			r.add(id, "variable %s of type %s", id.Name, why)
		}
	}
	switch obj := r.TypesInfo.Uses[id].(type) {
	case *types.Func:
		if !r.called[id] {
			r.add(id, "function value %s", id.Name)
		}
	case *types.Var:
		if obj.Pkg() != nil && obj.Parent() == obj.Pkg().Scope() {
			r.usedVar(id, obj)
		}
	}
}

func (r *subset) usedVar(id *ast.Ident, v *types.Var) {
	_, array := v.Type().Underlying().(*types.Array)
	switch {
	case v.Pkg() != r.Types || !r.files[r.Fset.Position(v.Pos()).Filename]:
		r.add(id, "package-level variable %s is not declared in step code of this package", id.Name)
	case !array || r.written[v]:
		r.add(id, "package-level variable %s changes or is no array", id.Name)
	}
}

func (r *subset) call(n *ast.CallExpr) {
	fun := ast.Unparen(n.Fun)
	if tv := r.TypesInfo.Types[fun]; tv.IsType() {
		if why := r.refusedType(tv.Type, false); why != "" {
			r.add(n, "conversion to %s", why)
		}
		return
	}
	var id *ast.Ident
	switch f := fun.(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	}
	if id == nil {
		r.add(n, "call of a function value or a generic function")
		return
	}
	r.called[id] = true
	switch obj := r.TypesInfo.Uses[id].(type) {
	case *types.Builtin:
		if !listed([]string{"len", "min", "max", "copy"}, obj.Name()) {
			r.add(n, "builtin %s", obj.Name())
		}
	case *types.Func:
		r.callee(n, obj)
	default:
		r.add(n, "call of function value %s", id.Name)
	}
}

func (r *subset) callee(n *ast.CallExpr, f *types.Func) {
	sig := f.Signature()
	if sig.Recv() != nil && r.bound(sig.Recv().Type()) && listed([]string{"Reset", "Step"}, f.Name()) {
		return
	}
	if sig.Recv() != nil && types.IsInterface(sig.Recv().Type()) {
		r.add(n, "call through an interface: %s", f.Name())
		return
	}
	if sig.Variadic() {
		r.add(n, "variadic call of %s", f.Name())
	}
	f = f.Origin()
	if f.Pkg() == nil {
		r.add(n, "call of %s", f.Name())
		return
	}
	path := f.Pkg().Path()
	switch {
	case f.Pkg() == r.Types:
		if r.funcs[f] == nil {
			r.add(n, "call of %s, which is not in a step file", f.Name())
		} else if r.self != nil {
			r.calls[r.self] = append(r.calls[r.self], f)
		}
	case path == r.rules.Module+"/internal/exact", path == r.rules.Module+"/internal/noise":
	case path == r.rules.Module+"/internal/kernel":
		if listed([]string{"Use", "All", "Active", "SelfTest"}, f.Name()) {
			r.add(n, "kernel.%s: the kernel is chosen at start, not in step code", f.Name())
		}
	case r.rules.Step(path, r.Fset.Position(f.Pos()).Filename):
	default:
		r.add(n, "call of %s.%s, which is not step code", strings.TrimPrefix(path, r.rules.Module+"/"), f.Name())
	}
}

// recursion reports every function that can come back to itself.
func (r *subset) recursion() {
	for f, d := range r.funcs {
		seen := map[types.Object]bool{}
		next := append([]types.Object(nil), r.calls[f]...)
		for len(next) > 0 {
			g := next[0]
			next = next[1:]
			if g == f {
				r.add(d.Name, "recursion through %s", d.Name.Name)
				break
			}
			if !seen[g] {
				seen[g] = true
				next = append(next, r.calls[g]...)
			}
		}
	}
}
