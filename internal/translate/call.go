package translate

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

func (f *function) call(c *ast.CallExpr) string {
	fun := ast.Unparen(c.Fun)
	if tv := f.info.Types[fun]; tv.IsType() {
		return f.conversion(c, tv.Type)
	}
	if name := builtin(f.info, c); name != "" {
		return f.builtin(c, name)
	}
	o := callee(f.info, c)
	if o == nil {
		f.refusal(c, "call of a function value")
		return "0"
	}
	if isMath(o) {
		return f.math(c, o)
	}
	g := f.calls[c]
	if g == nil {
		return "0" // reported
	}
	var args []string
	if r := g.obj.Signature().Recv(); r != nil {
		args = append(args, f.receiver(fun.(*ast.SelectorExpr), r))
	}
	params := g.obj.Signature().Params()
	for i, a := range c.Args {
		args = append(args, f.valueAs(a, params.At(i).Type(), Private))
	}
	if f.Target == OpenCL {
		for _, v := range g.hosted {
			args = append(args, hostedName(v))
		}
	}
	return fmt.Sprintf("%s(%s)", g.name, strings.Join(args, ", "))
}

// receiver is the receiver of a method's call, with & or * as Go adds them.
func (f *function) receiver(s *ast.SelectorExpr, r *types.Var) string {
	x, t := f.followed(s.X), f.info.TypeOf(s.X)
	if f.isInterface(t) {
		return x // a pointer to the state
	}
	index := f.info.Selections[s].Index()
	for _, i := range index[:len(index)-1] { // embedded structs
		x = f.path(x, t, []int{i})
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		t = t.Underlying().(*types.Struct).Field(i).Type()
	}
	_, wants := r.Type().Underlying().(*types.Pointer)
	_, is := t.Underlying().(*types.Pointer)
	switch {
	case wants && !is && f.rootIsTable(s.X) && f.Target != OpenCL:
		return "(" + f.typ(s, r.Type(), Generic, nil) + ")&" + x
	case wants && !is:
		return "&" + x
	case !wants && is:
		return "*" + x
	}
	return x
}

func (f *function) builtin(c *ast.CallExpr, name string) string {
	switch name {
	case "len":
		if _, ok := f.info.TypeOf(c.Args[0]).Underlying().(*types.Slice); ok {
			return f.followed(c.Args[0]) + ".n"
		}
	case "min", "max":
		typ := f.typeOf(c)
		x := f.expr(c.Args[0])
		for _, a := range c.Args[1:] {
			x = fmt.Sprintf("go_%s_%s(%s, %s)", name, typ, x, f.expr(a))
		}
		return x
	case "copy":
		return f.copy(c)
	case "clear":
		if s, ok := f.info.TypeOf(c.Args[0]).Underlying().(*types.Slice); ok {
			a, i := f.hold(c.Args[0], f.expr(c.Args[0])), f.temp()
			f.emit("for (i64 %s = 0; %s < %s.n; %s++) %s.p[%s] = %s;", i, i, a, i, a, i, f.zero(c, s.Elem()))
			return ""
		}
	case "panic":
		return "go_panic()"
	}
	f.refusal(c, "builtin %s", name)
	return "0"
}

// copy writes a copy. Slices may overlap: it starts at the end that is read last.
func (f *function) copy(c *ast.CallExpr) string {
	if _, ok := f.info.TypeOf(c.Args[1]).Underlying().(*types.Slice); !ok {
		f.refusal(c, "copy from %s", f.info.TypeOf(c.Args[1]))
		return "0"
	}
	d, s := f.hold(c.Args[0], f.expr(c.Args[0])), f.hold(c.Args[1], f.expr(c.Args[1]))
	n, i := f.temp(), f.temp()
	f.emit("i64 %s = %s.n < %s.n ? %s.n : %s.n;", n, d, s, d, s)
	up := fmt.Sprintf("for (i64 %s = 0; %s < %s; %s++) %s.p[%s] = %s.p[%s];", i, i, n, i, d, i, s, i)
	if f.spaceOf(f.unit, c.Args[0]) != f.spaceOf(f.unit, c.Args[1]) {
		f.emit("%s", up)
		return ""
	}
	f.emit("if (%s.p <= %s.p) %s", d, s, up)
	f.emit("else for (i64 %s = %s; %s-- > 0;) %s.p[%s] = %s.p[%s];", i, n, i, d, i, s, i)
	return ""
}

// mathNames are the functions of package math that are exact, and their names in prelude.h.
var mathNames = map[string]string{
	"Sqrt": "go_sqrt", "Floor": "go_floor", "Trunc": "go_trunc", "Abs": "go_abs", "Copysign": "go_copysign", "Inf": "go_inf",
	"Float32bits": "go_f32bits", "Float32frombits": "go_f32from", "Float64bits": "go_f64bits", "Float64frombits": "go_f64from",
}

func (f *function) math(c *ast.CallExpr, g *types.Func) string {
	var args []string
	for _, a := range c.Args {
		args = append(args, f.expr(a))
	}
	name := mathNames[g.Name()]
	if name == "" || g.Pkg().Path() != "math" {
		f.refusal(c, "%s is not the same on every target", g.FullName())
		return "0"
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}
