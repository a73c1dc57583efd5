package translate

import (
	"go/ast"
	"go/token"
	"go/types"
)

// effect is what a function does through pointers.
type effect int

const (
	none effect = iota
	reads
	writes
)

// effects finds out what u does through pointers. Its callees are known.
func (t *translation) effects(u *unit) {
	info := u.pkg.TypesInfo
	raise := func(e effect) { u.effect = max(u.effect, e) }
	for _, v := range parameters(u.obj) {
		if t.points(v.Type()) {
			raise(reads)
		}
	}
	ast.Inspect(u.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				if t.throughPointer(info, l) {
					raise(writes)
				}
			}
		case *ast.IncDecStmt:
			if t.throughPointer(info, n.X) {
				raise(writes)
			}
		case *ast.CallExpr:
			if g := u.calls[n]; g != nil {
				if g.effect == writes && !t.onlyLocals(info, n, g.obj) {
					raise(writes)
				}
			} else if b := builtin(info, n); (b == "copy" || b == "clear") && !t.isLocal(info, n.Args[0]) {
				raise(writes)
			}
		}
		return true
	})
}

// builtin is the name of the builtin function that a call goes to, or "".
func builtin(info *types.Info, c *ast.CallExpr) string {
	if id, ok := ast.Unparen(c.Fun).(*ast.Ident); ok {
		if b, ok := info.Uses[id].(*types.Builtin); ok {
			return b.Name()
		}
	}
	return ""
}

// throughPointer says whether the place e is reached through a pointer or a slice.
func (t *translation) throughPointer(info *types.Info, e ast.Expr) bool {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			if t.points(info.TypeOf(x.X)) {
				return true
			}
			e = x.X
		case *ast.SelectorExpr:
			if s, ok := info.Selections[x]; ok && (s.Indirect() || t.points(info.TypeOf(x.X))) {
				return true
			}
			e = x.X
		case *ast.StarExpr:
			return true
		default:
			return false
		}
	}
}

// onlyLocals says whether every pointer given to a call is to a variable of the caller.
func (t *translation) onlyLocals(info *types.Info, c *ast.CallExpr, f *types.Func) bool {
	for _, a := range c.Args {
		if t.points(info.TypeOf(a)) && !t.isLocal(info, a) {
			return false
		}
	}
	if f.Signature().Recv() == nil {
		return true
	}
	s, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if t.points(info.TypeOf(s.X)) {
		return t.isLocal(info, s.X)
	}
	return !t.throughPointer(info, s.X)
}

// isLocal says whether e is the address or a slice of a variable of the function itself.
func (t *translation) isLocal(info *types.Info, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		return e.Op == token.AND && !t.throughPointer(info, e.X)
	case *ast.SliceExpr:
		return !t.points(info.TypeOf(e.X)) && !t.throughPointer(info, e.X)
	}
	return false
}
