package translate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

func (f *function) expr(e ast.Expr) string {
	if tv := f.info.Types[e]; tv.Value != nil {
		return f.constant(e, tv)
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.expr(e.X)
	case *ast.Ident:
		return f.ident(e)
	case *ast.SelectorExpr:
		return f.selector(e)
	case *ast.IndexExpr:
		return f.index(e)
	case *ast.SliceExpr:
		return f.slice(e)
	case *ast.StarExpr:
		return "(*" + f.expr(e.X) + ")"
	case *ast.UnaryExpr:
		return f.unary(e)
	case *ast.BinaryExpr:
		return f.binaryExpr(e)
	case *ast.CallExpr:
		return f.call(e)
	case *ast.CompositeLit:
		return f.composite(e)
	case *ast.FuncLit:
		f.refusal(e, "closure")
		return "0"
	}
	f.refusal(e, "%s is not in the kernel subset", types.ExprString(e))
	return "0"
}

// valueAs is an expression as a value of type t, which says what a nil slice is.
func (f *function) valueAs(e ast.Expr, t types.Type, s Space) string {
	if _, slice := t.Underlying().(*types.Slice); slice && f.info.Types[e].IsNil() {
		return "ZERO(" + f.typ(e, t, s, f.world) + ")"
	}
	return f.expr(e)
}

func (f *function) ident(e *ast.Ident) string {
	if f.info.Types[e].IsNil() {
		f.refusal(e, "nil")
		return "0"
	}
	v, ok := f.info.ObjectOf(e).(*types.Var)
	switch {
	case !ok:
		f.refusal(e, "function value %s", e.Name)
		return "0"
	case isPackageVar(v):
		return f.packageVar(e, v)
	}
	return f.name(v)
}

func (f *function) selector(e *ast.SelectorExpr) string {
	s, ok := f.info.Selections[e]
	switch {
	case !ok:
		if v, ok := f.info.Uses[e.Sel].(*types.Var); ok {
			return f.packageVar(e, v)
		}
		f.refusal(e, "function value %s", e.Sel.Name)
		return "0"
	case s.Kind() != types.FieldVal:
		f.refusal(e, "method value %s", e.Sel.Name)
		return "0"
	}
	return f.path(f.followed(e.X), f.info.TypeOf(e.X), s.Index())
}

// path follows fields, embedded ones too.
func (f *function) path(x string, t types.Type, index []int) string {
	for _, i := range index {
		op := "."
		if p, ok := t.Underlying().(*types.Pointer); ok {
			op, t = "->", p.Elem()
		}
		v := t.Underlying().(*types.Struct).Field(i)
		x += op + field(v)
		t = v.Type()
	}
	return x
}

// followed is an expression that . or [ may follow: what a call returns gets a name.
func (f *function) followed(e ast.Expr) string {
	x := f.expr(e)
	switch ast.Unparen(e).(type) {
	case *ast.CallExpr, *ast.CompositeLit:
		return f.hold(e, x)
	}
	return x
}

// bare drops the parentheses around a whole expression, which a statement does not need.
func bare(s string) string {
	if !strings.HasPrefix(s, "(") || !strings.HasSuffix(s, ")") {
		return s
	}
	depth := 0
	for i, r := range s {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 && i < len(s)-1 {
			return s
		}
	}
	return s[1 : len(s)-1]
}

// plain says whether s is a name or a number.
func plain(s string) bool {
	for _, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return false
		}
	}
	return true
}

func (f *function) index(e *ast.IndexExpr) string {
	x := f.followed(e.X)
	i := f.expr(e.Index)
	checked := f.CheckIndices && f.info.Types[e.Index].Value == nil
	var n, place string
	switch u := f.info.TypeOf(e.X).Underlying().(type) {
	case *types.Array:
		n, place = fmt.Sprint(u.Len()), x+".a["
	case *types.Pointer:
		a, ok := u.Elem().Underlying().(*types.Array)
		if !ok {
			f.refusal(e, "index of %s", f.info.TypeOf(e.X))
			return "0"
		}
		n, place = fmt.Sprint(a.Len()), x+"->a["
	case *types.Slice:
		n, place = x+".n", x+".p["
		checked = f.CheckIndices
	default:
		f.refusal(e, "index of %s", f.info.TypeOf(e.X))
		return "0"
	}
	if checked {
		i = fmt.Sprintf("go_check((i64)(%s), (i64)(%s))", i, n)
	}
	if f.isInterface(f.info.TypeOf(e)) {
		return "(&" + place + i + "])"
	}
	return place + i + "]"
}

// slice ignores a capacity, which the subset has no means to see.
func (f *function) slice(e *ast.SliceExpr) string {
	if f.isInterfaces(f.info.TypeOf(e)) && f.world == nil {
		f.refusal(e, "slice of worlds")
		return "0"
	}
	var base, length string
	switch u := f.info.TypeOf(e.X).Underlying().(type) {
	case *types.Slice:
		x := f.followed(e.X)
		if !plain(x) {
			x = f.hold(e.X, x)
		}
		base, length = x+".p", x+".n"
	case *types.Array:
		base, length = "&"+f.expr(e.X)+".a[0]", fmt.Sprint(u.Len())
	case *types.Pointer:
		base, length = "&"+f.expr(e.X)+"->a[0]", fmt.Sprint(u.Elem().Underlying().(*types.Array).Len())
	default:
		f.refusal(e, "slice of %s", f.info.TypeOf(e.X))
		return "0"
	}
	if f.placeSpace(f.unit, e.X) == Constant || f.rootIsTable(e.X) {
		f.refusal(e, "slice of a table; take the table itself, or an element")
	}
	low, high := "0", length
	if e.Low != nil {
		low = f.integer(e.Low)
		if !plain(low) {
			v := f.temp()
			f.emit("i64 %s = %s;", v, low)
			low = v
		}
	}
	if e.High != nil {
		high = f.integer(e.High)
		if f.CheckIndices {
			high = fmt.Sprintf("go_check(%s, (i64)(%s) + 1)", high, length)
		}
	}
	if f.CheckIndices && e.Low != nil {
		low = fmt.Sprintf("go_check(%s, (i64)(%s) + 1)", low, length)
	}
	typ := f.typeOf(e)
	if e.Low == nil {
		return fmt.Sprintf("LIT(%s, %s, %s)", typ, base, high)
	}
	return fmt.Sprintf("LIT(%s, %s + %s, %s - %s)", typ, base, low, high, low)
}

// integer is an expression as i64.
func (f *function) integer(e ast.Expr) string {
	x := f.expr(e)
	if f.info.Types[e].Value != nil {
		return f.number(f.info.Types[e].Value, "i64")
	}
	if f.typeOf(e) == "i64" {
		return x
	}
	return "(i64)(" + x + ")"
}

func (f *function) unary(e *ast.UnaryExpr) string {
	typ := f.typeOf(e)
	switch e.Op {
	case token.AND:
		if lit, ok := ast.Unparen(e.X).(*ast.CompositeLit); ok {
			f.refusal(lit, "address of a literal")
			return "0"
		}
		x := f.expr(e.X)
		if f.rootIsTable(e.X) && f.Target != OpenCL {
			return "(" + typ + ")&" + x // nobody writes to a table
		}
		return "&" + x
	case token.SUB:
		x := f.expr(e.X)
		if !f.PlainSigned && (typ == "i32" || typ == "i64") {
			return fmt.Sprintf("(%s)(0 - (u%s)(%s))", typ, typ[1:], x)
		}
		if typ == "u16" || typ == "u8" {
			return fmt.Sprintf("(%s)(0 - (u32)(%s))", typ, x)
		}
		return "(-" + x + ")"
	case token.ADD:
		return f.expr(e.X)
	case token.NOT:
		return "(!" + f.expr(e.X) + ")"
	case token.XOR:
		return "((" + typ + ")~" + f.expr(e.X) + ")"
	}
	f.refusal(e, "operator %s", e.Op)
	return "0"
}

// rootIsTable says whether e is part of a package-level table.
func (f *function) rootIsTable(e ast.Expr) bool {
	v, ok := rootVariable(f.info, e).(*types.Var)
	return ok && isPackageVar(v)
}

func (f *function) composite(e *ast.CompositeLit) string {
	t := f.info.TypeOf(e)
	switch u := t.Underlying().(type) {
	case *types.Struct:
		if len(e.Elts) == 0 {
			return f.zero(e, t)
		}
		values := make([]string, u.NumFields())
		for i, x := range e.Elts {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				x = kv.Value
				for j := range u.NumFields() {
					if u.Field(j).Name() == kv.Key.(*ast.Ident).Name {
						i = j
					}
				}
			}
			values[i] = f.expr(x)
		}
		for j := range values {
			if values[j] == "" {
				values[j] = f.zero(e, u.Field(j).Type())
			}
		}
		return fmt.Sprintf("LIT(%s, %s)", f.typeOf(e), strings.Join(values, ", "))
	case *types.Array:
		if len(e.Elts) == 0 {
			return f.zero(e, t)
		}
		var values []string
		for _, x := range e.Elts {
			if _, ok := x.(*ast.KeyValueExpr); ok {
				f.refusal(x, "key in an array literal")
				continue
			}
			values = append(values, f.expr(x))
		}
		return fmt.Sprintf("LIT(%s, {%s})", f.typeOf(e), strings.Join(values, ", "))
	}
	f.refusal(e, "literal of type %s allocates", t)
	return "0"
}
