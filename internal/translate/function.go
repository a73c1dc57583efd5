package translate

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// function is a unit being written.
type function struct {
	*translation
	*unit
	info   *types.Info
	names  map[types.Object]string
	used   map[string]bool
	b      *strings.Builder
	depth  int
	temps  int
	ends   int
	breaks []string // the labels to which a break goes, the innermost last; "" for C's own break
	jumped map[string]bool
	named  []*types.Var // results with names
}

// function writes a unit.
func (t *translation) function(u *unit) {
	f := &function{
		translation: t, unit: u, info: u.pkg.TypesInfo, names: map[types.Object]string{}, used: map[string]bool{},
		b: new(strings.Builder), jumped: map[string]bool{},
	}
	sig := u.obj.Signature()
	if sig.Variadic() {
		t.refusal(u.decl, "variadic function %s", u.obj.Name())
	}
	if sig.TypeParams() != nil || sig.RecvTypeParams() != nil {
		t.refusal(u.decl, "generic function %s", u.obj.Name())
		return
	}
	var params []string
	for i, v := range parameters(u.obj) {
		params = append(params, t.typ(u.decl, v.Type(), u.params[i], u.world)+" "+f.name(v))
	}
	if t.Target == OpenCL {
		for _, v := range u.hosted {
			params = append(params, t.typ(u.decl, v.Type(), Global, nil)+hostedName(v))
		}
	}
	if len(params) == 0 {
		params = []string{"void"}
	}
	word := "FN "
	switch {
	case u.extern:
		word = "EXTERN "
	case u.root:
		word = "ROOT "
	}
	if t.Target == OpenCL && sig.Results().Len() > 0 {
		// The program defines the word: see internal/gpu/device.cl.
		word += "VALUE "
	}
	head := strings.ReplaceAll(fmt.Sprintf("%s%s %s(%s)", word, f.resultType(), u.name, strings.Join(params, ", ")), "* ", "*")
	fmt.Fprintf(&t.out.protos, "%s;\n", head)
	if u.extern {
		return
	}
	f.depth = 1
	for v := range sig.Results().Variables() {
		if v.Name() == "" {
			break
		}
		f.named = append(f.named, v)
		f.emit("%s = %s;", f.declare(u.decl, v), f.zero(u.decl, v.Type()))
	}
	f.block(u.decl.Body.List)
	if len(f.named) > 0 && !returns(u.decl.Body) {
		f.emit("%s", f.returnNamed())
	}
	fmt.Fprintf(&t.out.funcs, "// %s, %s\n%s {\n%s}\n\n", functionName(u.obj), t.file(u.decl), head, f.b.String())
}

// returns says whether a body ends with a return.
func returns(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	_, ok := b.List[len(b.List)-1].(*ast.ReturnStmt)
	return ok
}

func (f *function) resultType() string {
	r := f.obj.Signature().Results()
	switch r.Len() {
	case 0:
		return "void"
	case 1:
		return f.typ(f.decl, r.At(0).Type(), f.results[0], f.world)
	}
	return f.tuple(f.decl, r, f.results, f.world)
}

func (f *function) returnNamed() string {
	if len(f.named) == 1 {
		return "return " + f.name(f.named[0]) + ";"
	}
	var v []string
	for _, r := range f.named {
		v = append(v, f.name(r))
	}
	return fmt.Sprintf("return LIT(%s, %s);", f.resultType(), strings.Join(v, ", "))
}

// name returns the name of a variable. Each has one of its own: in C, x of int x = x is the new one.
func (f *function) name(o types.Object) string {
	if n, ok := f.names[o]; ok {
		return n
	}
	if o.Name() == "_" || o.Name() == "" {
		f.names[o] = f.temp()
		return f.names[o]
	}
	base := safe(o.Name())
	n := base
	for i := 2; f.used[n]; i++ {
		n = fmt.Sprintf("%s_%d", base, i)
	}
	f.used[n] = true
	f.names[o] = n
	return n
}

func (f *function) temp() string {
	for {
		f.temps++
		n := fmt.Sprintf("t_%d", f.temps)
		if !f.used[n] {
			f.used[n] = true
			return n
		}
	}
}

// declare is the declaration of a variable without its value.
func (f *function) declare(n ast.Node, o types.Object) string {
	return join(f.typ(n, o.Type(), f.locals[o], f.world), f.name(o))
}

// join puts a name behind a type.
func join(typ, name string) string {
	if strings.HasSuffix(typ, "*") {
		return typ + name
	}
	return typ + " " + name
}

// hold gives the value x of e a name, so that it is computed once, here.
func (f *function) hold(e ast.Expr, x string) string {
	v := f.temp()
	f.emit("%s = %s;", join(f.typeOf(e), v), x)
	return v
}

// typeOf is the type of an expression.
func (f *function) typeOf(e ast.Expr) string {
	if tuple, ok := f.info.TypeOf(e).(*types.Tuple); ok {
		if c, ok := ast.Unparen(e).(*ast.CallExpr); ok && f.calls[c] != nil {
			return f.tuple(e, tuple, f.calls[c].results, f.world)
		}
	}
	return f.typ(e, f.info.TypeOf(e), f.spaceOf(f.unit, e), f.world)
}

func (f *function) emit(format string, args ...any) {
	f.b.WriteString(strings.Repeat("  ", f.depth))
	fmt.Fprintf(f.b, format, args...)
	f.b.WriteByte('\n')
}

// captured runs g and returns what it emitted.
func (f *function) captured(g func()) string {
	old := f.b
	f.b = new(strings.Builder)
	g()
	s := f.b.String()
	f.b = old
	return s
}

func (f *function) zero(n ast.Node, x types.Type) string {
	switch x.Underlying().(type) {
	case *types.Struct, *types.Array, *types.Slice:
		return "ZERO(" + f.typ(n, x, Private, f.world) + ")"
	}
	return "0"
}

func (f *function) braces(g func()) {
	f.emit("{")
	f.depth++
	g()
	f.depth--
	f.emit("}")
}

func (f *function) block(list []ast.Stmt) {
	for _, s := range list {
		f.stmt(s)
	}
}
