package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// stepRule holds step code to the kernel subset of Go (docs/spec/numerics.md), so that one source can be translated to
// OpenCL C and to C. Step code is every file step.go in and below envs, every file of the engine envs/box2d (not of the
// worlds below it, and not state.go, which is for traces), and internal/policy/forward.go.
func stepRule(c *code) []finding {
	r := &step{code: c, funcs: map[types.Object]*ast.FuncDecl{}, files: map[string]bool{}, calls: map[types.Object][]types.Object{}}
	var files []*ast.File
	for _, f := range c.Syntax {
		if name := c.Fset.Position(f.Package).Filename; isStep(c.room, name) {
			files = append(files, f)
			r.files[name] = true
		}
	}
	if len(files) == 0 {
		return nil
	}
	for _, f := range files {
		for _, d := range f.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				r.funcs[c.TypesInfo.Defs[f.Name]] = f
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
	sort.Slice(r.found, func(i, j int) bool { return r.found[i].line < r.found[j].line })
	return r.found
}

func isStep(room, file string) bool {
	dir, name := filepath.Split(file)
	switch room {
	case "envs":
		return name == "step.go" || strings.HasSuffix(filepath.ToSlash(dir), "/envs/box2d/") && name != "state.go"
	case "internal/policy":
		return name == "forward.go"
	}
	return false
}

type step struct {
	*code
	files   map[string]bool                 // the package's step files
	funcs   map[types.Object]*ast.FuncDecl  // functions declared in them
	calls   map[types.Object][]types.Object // who calls whom among them
	written map[types.Object]bool           // package-level variables that are changed somewhere
	called  map[*ast.Ident]bool             // identifiers in the place of a called function
	self    types.Object                    // the function being read
	found   []finding
}

func (r *step) add(n ast.Node, format string, args ...any) {
	r.found = append(r.found, r.at(n, "step code: "+format, args...))
}

// writtenVars looks at the whole package for assignments to its variables, and for their addresses being taken.
func (r *step) writtenVars() map[types.Object]bool {
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
func (r *step) rootVar(e ast.Expr) types.Object {
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

func (r *step) decl(d ast.Decl) {
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

func (r *step) typeSpec(s *ast.TypeSpec) {
	if s.TypeParams != nil {
		r.add(s, "generic type")
	}
	if st, ok := s.Type.(*ast.StructType); ok {
		for _, f := range st.Fields.List {
			if why := refusedType(r.TypesInfo.TypeOf(f.Type), true); why != "" {
				r.add(f, "field of type %s", why)
			}
		}
		return
	}
	if why := refusedType(r.TypesInfo.TypeOf(s.Type), true); why != "" {
		r.add(s, "type %s", why)
	}
}

// packageVar admits an array that is written out and never changed.
func (r *step) packageVar(s *ast.ValueSpec) {
	for i, name := range s.Names {
		obj := r.TypesInfo.Defs[name]
		if obj == nil {
			continue
		}
		_, array := obj.Type().Underlying().(*types.Array)
		if !array || refusedType(obj.Type(), true) != "" || i >= len(s.Values) || !r.literal(s.Values[i]) || r.written[obj] {
			r.add(name, "package-level variable %s is not a constant array of literal values", name.Name)
		}
	}
}

// literal says whether e is a constant, or an array or struct of such.
func (r *step) literal(e ast.Expr) bool {
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
func refusedType(t types.Type, stored bool) string {
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
		return refusedType(u.Elem(), true)
	case *types.Struct:
		for f := range u.Fields() {
			if why := refusedType(f.Type(), true); why != "" {
				return why
			}
		}
		return ""
	case *types.Pointer:
		if stored {
			return "pointer"
		}
		if opaque(u.Elem()) {
			return ""
		}
		return refusedType(u.Elem(), true)
	case *types.Slice:
		if stored {
			return "slice"
		}
		return refusedType(u.Elem(), true)
	case *types.Map:
		return "map"
	case *types.Chan:
		return "channel"
	case *types.Interface:
		return "interface"
	case *types.Signature:
		return "func"
	}
	return t.String()
}

// opaque is *noise.Stream: an intrinsic, passed on but not looked into.
func opaque(t types.Type) bool {
	named, ok := t.(*types.Named)
	return ok && named.Obj().Name() == "Stream" && named.Obj().Pkg().Path() == module+"/internal/noise"
}

// reported says whether t comes from a type that is declared in step code, where what is wrong with it is
// reported once.
func (r *step) reported(t types.Type) bool {
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

func (r *step) walk(d *ast.FuncDecl) {
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

func (r *step) statement(n ast.Node) {
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
		if why := refusedType(r.TypesInfo.TypeOf(n.X), false); why != "" {
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
func (r *step) ident(id *ast.Ident) {
	if v, ok := r.TypesInfo.Defs[id].(*types.Var); ok {
		if why := refusedType(v.Type(), false); why != "" && !r.reported(v.Type()) {
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

func (r *step) usedVar(id *ast.Ident, v *types.Var) {
	_, array := v.Type().Underlying().(*types.Array)
	switch {
	case v.Pkg() != r.Types || !r.files[r.Fset.Position(v.Pos()).Filename]:
		r.add(id, "package-level variable %s is not declared in step code of this package", id.Name)
	case !array || r.written[v]:
		r.add(id, "package-level variable %s changes or is no array", id.Name)
	}
}

func (r *step) call(n *ast.CallExpr) {
	fun := ast.Unparen(n.Fun)
	if tv := r.TypesInfo.Types[fun]; tv.IsType() {
		if why := refusedType(tv.Type, false); why != "" {
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

func (r *step) callee(n *ast.CallExpr, f *types.Func) {
	sig := f.Signature()
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
	switch room, _, _ := roomOf(path); {
	case f.Pkg() == r.Types:
		if r.funcs[f] == nil {
			r.add(n, "call of %s, which is not in a step file", f.Name())
		} else if r.self != nil {
			r.calls[r.self] = append(r.calls[r.self], f)
		}
	case path == module+"/internal/exact", path == module+"/internal/noise":
	case path == module+"/internal/kernel":
		if listed([]string{"Use", "All", "Active", "SelfTest"}, f.Name()) {
			r.add(n, "kernel.%s: the kernel is chosen at start, not in step code", f.Name())
		}
	case inModule(path) && isStep(room, r.Fset.Position(f.Pos()).Filename):
	default:
		r.add(n, "call of %s.%s, which is not step code", strings.TrimPrefix(path, module+"/"), f.Name())
	}
}

// recursion reports every function that can come back to itself.
func (r *step) recursion() {
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

func TestStep(t *testing.T) {
	report(t, stepRule)
	all, err := pure()
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, c := range all {
		for _, f := range c.Syntax {
			if isStep(c.room, c.Fset.Position(f.Package).Filename) {
				files++
			}
		}
	}
	t.Logf("%d files of step code", files)
}

// Which files are held to the subset: the engine's, not its tests' and worlds' wrappers.
func TestIsStep(t *testing.T) {
	for _, c := range []struct {
		room, file string
		want       bool
	}{
		{"envs", "/src/envs/step.go", true},
		{"envs", "/src/envs/spec.go", false},
		{"envs", "/src/envs/classic/pendulum/step.go", true},
		{"envs", "/src/envs/classic/pendulum/pendulum.go", false},
		{"envs", "/src/envs/box2d/joint.go", true},
		{"envs", "/src/envs/box2d/state.go", false},
		{"envs", "/src/envs/box2d/lunarlander/step.go", true},
		{"envs", "/src/envs/box2d/lunarlander/draw.go", false},
		{"internal/policy", "/src/internal/policy/forward.go", true},
		{"internal/rollout", "/src/internal/rollout/step.go", false},
	} {
		if got := isStep(c.room, c.file); got != c.want {
			t.Errorf("%s %s: got %v, want %v", c.room, c.file, got, c.want)
		}
	}
}

func TestStepFixture(t *testing.T) {
	wanted(t, "testdata/step", stepRule(fixture(t, "step", "envs/classic")))
	if got := stepRule(fixture(t, "stepgood", "envs/classic")); len(got) != 0 {
		t.Errorf("good step code: got %v", got)
	}
}
