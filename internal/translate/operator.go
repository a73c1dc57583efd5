package translate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// widths are the bits of the integer types.
var widths = map[string]int{"i32": 32, "u32": 32, "i64": 64, "u64": 64, "u16": 16, "u8": 8}

func (f *function) binaryExpr(e *ast.BinaryExpr) string {
	switch e.Op {
	case token.LAND, token.LOR:
		return f.logical(e)
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		if _, ok := f.info.TypeOf(e.X).Underlying().(*types.Basic); !ok {
			f.refusal(e, "comparison of %s", f.info.TypeOf(e.X))
		}
		return fmt.Sprintf("(%s %s %s)", f.expr(e.X), e.Op, f.expr(e.Y))
	}
	return f.binary(e, e.Op, f.expr(e.X), e.Y, f.info.TypeOf(e))
}

// logical writes && and ||. What the right side needs in statements runs only if the left side says so.
func (f *function) logical(e *ast.BinaryExpr) string {
	x := f.expr(e.X)
	var y string
	before := f.captured(func() { f.depth++; y = f.expr(e.Y); f.depth-- })
	if before == "" {
		return fmt.Sprintf("(%s %s %s)", x, e.Op, y)
	}
	v := f.temp()
	f.emit("u8 %s = %s;", v, x)
	not := ""
	if e.Op == token.LOR {
		not = "!"
	}
	f.emit("if (%s%s) {", not, v)
	f.b.WriteString(before)
	f.emit("  %s = %s;", v, y)
	f.emit("}")
	return v
}

// binary writes x op y, where the result has the type t.
func (f *function) binary(n ast.Node, op token.Token, x string, ye ast.Expr, t types.Type) string {
	y := f.expr(ye)
	typ := f.typ(n, t, Generic, nil)
	width := widths[typ]
	constant := f.info.Types[ye].Value != nil
	switch op {
	case token.SHL, token.SHR:
		return f.shift(op, x, y, ye, typ, width)
	case token.QUO, token.REM:
		switch {
		case width == 0:
			return fmt.Sprintf("(%s / %s)", x, y)
		case !constant:
			return fmt.Sprintf("go_%s_%s(%s, %s)", map[token.Token]string{token.QUO: "div", token.REM: "rem"}[op], typ, x, y)
		case typ[0] == 'i' && f.info.Types[ye].Value.ExactString() == "-1":
			f.refusal(n, "division by -1")
		}
		return fmt.Sprintf("(%s %s %s)", x, op, y)
	case token.AND_NOT:
		return fmt.Sprintf("(%s)(%s & ~(%s)(%s))", typ, x, typ, y)
	case token.AND, token.OR, token.XOR:
		return fmt.Sprintf("(%s %s %s)", x, op, y)
	}
	return f.arithmetic(n, op, x, y, t)
}

func (f *function) shift(op token.Token, x, y string, ye ast.Expr, typ string, width int) string {
	name := map[token.Token]string{token.SHL: "shl", token.SHR: "shr"}[op]
	if v := f.info.Types[ye].Value; v != nil {
		count := v.ExactString()
		if len(count) > 2 || len(count) == 2 && count >= fmt.Sprint(width) || width < 10 {
			return fmt.Sprintf("go_%s_%s(%s, %su)", name, typ, x, count)
		}
		y = count
	} else if !masked(f.info, ye, width) {
		if b, ok := f.info.TypeOf(ye).Underlying().(*types.Basic); ok && b.Info()&types.IsUnsigned == 0 {
			y = "go_count((i64)(" + y + "))"
		}
		return fmt.Sprintf("go_%s_%s(%s, (u64)(%s))", name, typ, x, y)
	} else {
		y = "(u32)(" + y + ")"
	}
	from := typ
	if op == token.SHL && typ[0] == 'i' {
		from = "u" + typ[1:]
	}
	return fmt.Sprintf("(%s)((%s)(%s) %s %s)", typ, from, x, op, y)
}

// masked says whether e is held below the width by & with a constant.
func masked(info *types.Info, e ast.Expr, width int) bool {
	e = ast.Unparen(e)
	if c, ok := e.(*ast.CallExpr); ok && len(c.Args) == 1 && info.Types[c.Fun].IsType() {
		e = ast.Unparen(c.Args[0])
	}
	b, ok := e.(*ast.BinaryExpr)
	if !ok || b.Op != token.AND {
		return false
	}
	for _, m := range []ast.Expr{b.X, b.Y} {
		if v := info.Types[m].Value; v != nil {
			s := v.ExactString()
			return len(s) == 1 || len(s) == 2 && s < fmt.Sprint(width)
		}
	}
	return false
}

// arithmetic writes x op y for + - *. Signed integers wrap around, as in Go: C leaves that open.
func (f *function) arithmetic(n ast.Node, op token.Token, x, y string, t types.Type) string {
	b, ok := t.Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsNumeric == 0 || op != token.ADD && op != token.SUB && op != token.MUL {
		f.refusal(n, "operator %s on %s", op, t)
		return "0"
	}
	switch typ := f.typ(n, t, Generic, nil); {
	case !f.PlainSigned && (typ == "i32" || typ == "i64"):
		return fmt.Sprintf("(%s)((u%s)(%s) %s (u%s)(%s))", typ, typ[1:], x, op, typ[1:], y)
	case typ == "u16" || typ == "u8":
		return fmt.Sprintf("(%s)((u32)(%s) %s (u32)(%s))", typ, x, op, y) // int, to which C promotes, could overflow
	}
	return fmt.Sprintf("(%s %s %s)", x, op, y)
}

func (f *function) conversion(c *ast.CallExpr, to types.Type) string {
	from := f.info.TypeOf(c.Args[0])
	x := f.expr(c.Args[0])
	a, ok1 := from.Underlying().(*types.Basic)
	b, ok2 := to.Underlying().(*types.Basic)
	const fine = types.IsNumeric | types.IsBoolean
	switch {
	case ok1 && ok2 && a.Info()&fine != 0 && b.Info()&fine != 0:
		if a.Info()&types.IsFloat != 0 && b.Info()&types.IsInteger != 0 {
			return fmt.Sprintf("go_%s_%s(%s)", basic(b), basic(a), x)
		}
		return "(" + basic(b) + ")(" + x + ")"
	case types.Identical(from.Underlying(), to.Underlying()) && !ok1:
		return x
	}
	if p, ok := to.Underlying().(*types.Pointer); ok {
		if _, ok := from.Underlying().(*types.Slice); ok { // to a pointer to an array
			if !plain(x) {
				x = f.hold(c.Args[0], x)
			}
			return fmt.Sprintf("((%s%s *)%s.p)", spaceWords[f.spaceOf(f.unit, c.Args[0])], f.typ(c, p.Elem(), Generic, nil), x)
		}
	}
	f.refusal(c, "conversion from %s to %s", from, to)
	return "0"
}
