package translate

import (
	"go/ast"
	"go/token"
	"go/types"
)

var spaceWords = [...]string{Generic: "", Private: "", Global: "__global ", Local: "__local ", Constant: "__constant "}

// spaceLetter marks a space in names; Private, the common one, has no mark of its own.
var spaceLetter = [...]string{Generic: "", Private: "p", Global: "g", Local: "l", Constant: "c"}

// spaceLetters tells the units of a function apart; "" if all is private.
func spaceLetters(list []Space) string {
	s, plain := "", true
	for _, x := range list {
		s += spaceLetter[x]
		plain = plain && x <= Private
	}
	if plain {
		return ""
	}
	return s
}

// spaces finds out where the local pointers and slices of u point to. A variable points into one space all its life.
func (t *translation) spaces(u *unit) {
	if t.Target != OpenCL {
		u.results = make([]Space, u.obj.Signature().Results().Len())
		return
	}
	info := u.pkg.TypesInfo
	join := func(n ast.Node, o types.Object, s Space) {
		if o == nil || s == Generic || !t.points(o.Type()) {
			return
		}
		if old := u.locals[o]; old != Generic && old != s {
			t.refusal(n, "%s points into two address spaces", o.Name())
		}
		u.locals[o] = s
	}
	object := func(e ast.Expr) types.Object {
		if id, ok := e.(*ast.Ident); ok {
			return info.ObjectOf(id)
		}
		return nil
	}
	u.results = make([]Space, u.obj.Signature().Results().Len())
	ast.Inspect(u.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Lhs) == len(n.Rhs) {
				for i, l := range n.Lhs {
					join(n, object(l), t.spaceOf(u, n.Rhs[i]))
				}
			} else if c, ok := ast.Unparen(n.Rhs[0]).(*ast.CallExpr); ok && callee(info, c) != nil {
				if g := t.callee(u, c); g != nil {
					for i, l := range n.Lhs {
						join(n, object(l), g.results[i])
					}
				}
			}
		case *ast.ValueSpec:
			for i, v := range n.Values {
				join(n, info.Defs[n.Names[i]], t.spaceOf(u, v))
			}
		case *ast.RangeStmt:
			if n.Value != nil {
				join(n, object(n.Value), t.spaceOf(u, n.X))
			}
		case *ast.ReturnStmt:
			if c, ok := tail(n, len(u.results)); ok {
				if g := t.callee(u, c); g != nil {
					copy(u.results, g.results)
				}
			}
			for i, r := range n.Results {
				if len(n.Results) == len(u.results) && t.points(info.TypeOf(r)) {
					s := t.spaceOf(u, r)
					if old := u.results[i]; old != Generic && s != Generic && old != s {
						t.refusal(r, "result %d points into two address spaces", i+1)
					}
					if s != Generic {
						u.results[i] = s
					}
				}
			}
		}
		return true
	})
}

// tail is the call whose several results a statement returns as they are.
func tail(r *ast.ReturnStmt, results int) (*ast.CallExpr, bool) {
	if len(r.Results) != 1 || results < 2 {
		return nil, false
	}
	c, ok := ast.Unparen(r.Results[0]).(*ast.CallExpr)
	return c, ok
}

// spaceOf returns where the value of e points to; Generic if it points nowhere.
func (t *translation) spaceOf(u *unit, e ast.Expr) Space {
	info := u.pkg.TypesInfo
	if t.Target != OpenCL || info.TypeOf(e) == nil || !t.points(info.TypeOf(e)) {
		return Generic
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := info.ObjectOf(e).(*types.Var); ok {
			if isPackageVar(v) {
				return Global // data of the host
			}
			return u.locals[v]
		}
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return t.placeSpace(u, e.X)
		}
	case *ast.SliceExpr:
		if t.points(info.TypeOf(e.X)) {
			return t.spaceOf(u, e.X)
		}
		return t.placeSpace(u, e.X)
	case *ast.IndexExpr: // of worlds
		return t.spaceOf(u, e.X)
	case *ast.SelectorExpr:
		if v, ok := info.Uses[e.Sel].(*types.Var); ok && isPackageVar(v) {
			return Global
		}
	case *ast.CallExpr:
		if info.Types[e.Fun].IsType() {
			return t.spaceOf(u, e.Args[0])
		}
		if f := callee(info, e); f != nil && !isMath(f) {
			if g := t.callee(u, e); g != nil && len(g.results) > 0 {
				return g.results[0]
			}
		}
	}
	return Generic
}

// placeSpace returns where the place e lies.
func (t *translation) placeSpace(u *unit, e ast.Expr) Space {
	info := u.pkg.TypesInfo
	if t.Target != OpenCL {
		return Generic
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := info.ObjectOf(e).(*types.Var); ok && isPackageVar(v) {
			return Constant
		}
	case *ast.SelectorExpr:
		if _, ok := info.Selections[e]; !ok {
			return Constant
		}
		return t.heldIn(u, e.X)
	case *ast.IndexExpr:
		return t.heldIn(u, e.X)
	case *ast.StarExpr:
		return t.spaceOf(u, e.X)
	}
	return Private
}

// heldIn returns where a part of x lies: of what x points to, or of x itself.
func (t *translation) heldIn(u *unit, x ast.Expr) Space {
	if t.points(u.pkg.TypesInfo.TypeOf(x)) {
		return t.spaceOf(u, x)
	}
	return t.placeSpace(u, x)
}

// argumentSpaces returns where the receiver and the arguments of a call point to.
func (t *translation) argumentSpaces(u *unit, c *ast.CallExpr, f *types.Func) []Space {
	list := parameters(f)
	spaces := make([]Space, len(list))
	if t.Target != OpenCL {
		return spaces
	}
	first := 0
	if f.Signature().Recv() != nil {
		first = 1
		if t.points(list[0].Type()) {
			spaces[0] = t.heldIn(u, ast.Unparen(c.Fun).(*ast.SelectorExpr).X)
		}
	}
	for i, a := range c.Args {
		if t.points(list[first+i].Type()) {
			spaces[first+i] = t.spaceOf(u, a)
		}
	}
	for i, v := range list {
		if t.points(v.Type()) && spaces[i] == Generic {
			spaces[i] = Private // nil
		}
	}
	return spaces
}

func isPackageVar(v *types.Var) bool { return v.Pkg() != nil && v.Parent() == v.Pkg().Scope() }
