package translate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

func (f *function) declaration(g *ast.GenDecl) {
	if g.Tok != token.VAR {
		return // constants and types need no text of their own
	}
	for _, s := range g.Specs {
		s := s.(*ast.ValueSpec)
		if len(s.Values) > 0 && len(s.Values) != len(s.Names) {
			f.refusal(s, "var with the results of a call")
			return
		}
		var values []string
		for i, n := range s.Names {
			o := f.info.Defs[n]
			v := f.zero(n, o.Type())
			if i < len(s.Values) {
				v = f.expr(s.Values[i])
			}
			values = append(values, v)
		}
		for i, n := range s.Names {
			f.emit("%s = %s;", f.declare(n, f.info.Defs[n]), bare(values[i]))
		}
	}
}

// changed is a place that is read and written: its text occurs twice, so a call in it must not write.
func (f *function) changed(e ast.Expr) string {
	ast.Inspect(e, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && f.calls[c] != nil && f.calls[c].effect == writes {
			f.refusal(c, "a call that writes, %s, in a place that is read and written", f.calls[c].obj.Name())
		}
		return true
	})
	return f.expr(e)
}

var assignOps = map[token.Token]token.Token{
	token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB, token.MUL_ASSIGN: token.MUL, token.QUO_ASSIGN: token.QUO,
	token.REM_ASSIGN: token.REM, token.AND_ASSIGN: token.AND, token.OR_ASSIGN: token.OR, token.XOR_ASSIGN: token.XOR,
	token.SHL_ASSIGN: token.SHL, token.SHR_ASSIGN: token.SHR, token.AND_NOT_ASSIGN: token.AND_NOT,
}

func (f *function) assign(s *ast.AssignStmt) {
	if op, ok := assignOps[s.Tok]; ok {
		x := f.changed(s.Lhs[0])
		f.emit("%s = %s;", x, f.binary(s, op, x, s.Rhs[0], f.info.TypeOf(s.Lhs[0])))
		return
	}
	for _, l := range s.Lhs {
		if x, ok := ast.Unparen(l).(*ast.IndexExpr); ok && f.isInterface(f.info.TypeOf(x)) {
			f.refusal(l, "assignment to an element of %s, which is a state", f.info.TypeOf(x.X))
		}
	}
	if len(s.Lhs) == 1 {
		if !f.fill(s) {
			x := s.Rhs[0]
			if f.info.Types[x].IsNil() {
				f.store(s, s.Lhs[0], f.valueAs(x, f.info.TypeOf(s.Lhs[0]), f.spaceOf(f.unit, s.Lhs[0])))
				return
			}
			f.store(s, s.Lhs[0], f.expr(x))
		}
		return
	}
	f.dependent(s)
	if len(s.Rhs) == 1 {
		c, ok := ast.Unparen(s.Rhs[0]).(*ast.CallExpr)
		if !ok {
			f.refusal(s, "an assignment with two results that is no call")
			return
		}
		v := f.hold(c, f.expr(c))
		for i, l := range s.Lhs {
			f.store(s, l, fmt.Sprintf("%s.v%d", v, i))
		}
		return
	}
	// The right sides first, unless all variables are new.
	fresh := s.Tok == token.DEFINE
	for _, l := range s.Lhs {
		id, ok := l.(*ast.Ident)
		fresh = fresh && ok && (id.Name == "_" || f.info.Defs[id] != nil)
	}
	var values []string
	for i, r := range s.Rhs {
		x := f.expr(r)
		if !fresh && f.info.Types[r].Value == nil {
			x = f.hold(s.Rhs[i], x)
		}
		values = append(values, x)
		if fresh {
			f.store(s, s.Lhs[i], x)
		}
	}
	for i, l := range s.Lhs {
		if !fresh {
			f.store(s, l, values[i])
		}
	}
}

// large is the size from which a literal is not made on the stack and copied, in bytes.
const large = 512

// fill writes the assignment of a large struct's literal to a place as zeros and the values given. They must not depend
// on the place.
func (f *function) fill(s *ast.AssignStmt) bool {
	lit, ok := s.Rhs[0].(*ast.CompositeLit)
	if !ok || s.Tok == token.DEFINE || f.sizes.Sizeof(f.info.TypeOf(lit)) < large {
		return false
	}
	u, ok := f.info.TypeOf(lit).Underlying().(*types.Struct)
	if !ok || f.uses(lit) {
		return false
	}
	place := f.expr(s.Lhs[0])
	f.emit("%s = %s;", place, f.zero(lit, f.info.TypeOf(lit)))
	for i, x := range lit.Elts {
		v := u.Field(i)
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			x = kv.Value
			v = f.info.ObjectOf(kv.Key.(*ast.Ident)).(*types.Var)
		}
		f.emit("%s.%s = %s;", place, field(v), bare(f.expr(x)))
	}
	return true
}

// uses says whether e calls anything or reads through a pointer.
func (f *function) uses(e ast.Expr) bool {
	found := f.readsMemory(e)
	ast.Inspect(e, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && f.calls[c] != nil {
			found = true
		}
		return !found
	})
	return found
}

// dependent refuses a place that depends on a variable which the same statement assigns.
func (f *function) dependent(s *ast.AssignStmt) {
	assigned := map[types.Object]bool{}
	for _, l := range s.Lhs {
		if id, ok := l.(*ast.Ident); ok {
			assigned[f.info.ObjectOf(id)] = true
		}
	}
	for _, l := range s.Lhs {
		if _, ok := l.(*ast.Ident); ok {
			continue
		}
		// Also an index that is read from memory may change.
		ast.Inspect(l, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if ok && assigned[f.info.ObjectOf(id)] {
				f.refusal(l, "the place %s depends on a variable that the same statement assigns", types.ExprString(l))
			}
			if x, ok := n.(*ast.IndexExpr); ok && f.readsMemory(x.Index) {
				f.refusal(l, "the place %s has an index that is read from memory, in a statement that assigns several places", types.ExprString(l))
			}
			return true
		})
	}
}

// readsMemory says whether e reads through a pointer.
func (f *function) readsMemory(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok && f.info.Types[x].Value == nil && !f.info.Types[x].IsType() && f.throughPointer(f.info, x) {
			found = true
		}
		return !found
	})
	return found
}

// store assigns x to the place l, or declares it.
func (f *function) store(s *ast.AssignStmt, l ast.Expr, x string) {
	id, ok := l.(*ast.Ident)
	switch {
	case ok && id.Name == "_":
		if strings.Contains(x, "(") {
			f.emit("(void)%s;", x)
		}
	case ok && s.Tok == token.DEFINE && f.info.Defs[id] != nil:
		f.emit("%s = %s;", f.declare(id, f.info.Defs[id]), bare(x))
	default:
		f.emit("%s = %s;", f.expr(l), bare(x))
	}
}
