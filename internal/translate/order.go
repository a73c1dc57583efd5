package translate

import (
	"go/ast"
	"go/token"
	"go/types"
)

// ordered refuses what neither C nor, for reads, Go puts in order: within one statement, a call that writes through
// pointers next to another call that reads or writes, or next to a read of memory. Operands of && and || are in order,
// and so are a call and what its arguments do.
func (t *translation) ordered(u *unit) {
	o := &ordering{translation: t, unit: u, info: u.pkg.TypesInfo, taken: addressTaken(u)}
	ast.Inspect(u.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				o.collect(l, n.Tok != token.ASSIGN && n.Tok != token.DEFINE)
			}
			o.collectAll(n.Rhs)
		case *ast.IncDecStmt:
			o.collect(n.X, true)
		case *ast.ExprStmt:
			o.collect(n.X, true)
		case *ast.ReturnStmt:
			o.collectAll(n.Results)
		case *ast.ValueSpec:
			o.collectAll(n.Values)
		case *ast.IfStmt:
			o.collect(n.Cond, true)
		case *ast.ForStmt:
			if n.Cond != nil {
				o.collect(n.Cond, true)
			}
		case *ast.SwitchStmt:
			if n.Tag != nil {
				o.collect(n.Tag, true)
			}
		case *ast.CaseClause:
			o.collectAll(n.List)
		case *ast.RangeStmt:
			o.collect(n.X, t.points(o.info.TypeOf(n.X)))
		default:
			return true
		}
		o.judge()
		return true
	})
}

// ordering is what happens within one statement.
type ordering struct {
	*translation
	unit  *unit
	info  *types.Info
	taken map[types.Object]bool // variables whose address is taken
	path  []ast.Expr            // from the statement to the expression at hand
	sites []site
}

// site is a call, or a read of memory that a call may write.
type site struct {
	at   ast.Expr
	path []ast.Expr // what it is part of
	call *unit      // nil for a read
}

func addressTaken(u *unit) map[types.Object]bool {
	info, taken := u.pkg.TypesInfo, map[types.Object]bool{}
	mark := func(e ast.Expr) {
		if o := rootVariable(info, e); o != nil {
			taken[o] = true
		}
	}
	ast.Inspect(u.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				mark(n.X)
			}
		case *ast.SliceExpr:
			if _, array := info.TypeOf(n.X).Underlying().(*types.Array); array {
				mark(n.X)
			}
		case *ast.SelectorExpr: // a method with a pointer receiver takes the address of a variable
			if s, ok := info.Selections[n]; ok && s.Kind() == types.MethodVal {
				_, pointer := s.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer)
				if _, already := info.TypeOf(n.X).Underlying().(*types.Pointer); pointer && !already {
					mark(n.X)
				}
			}
		}
		return true
	})
	return taken
}

// rootVariable is the variable that the place e is part of; nil if it is reached through a pointer or a slice.
func rootVariable(info *types.Info, e ast.Expr) types.Object {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			if _, array := info.TypeOf(x.X).Underlying().(*types.Array); !array {
				return nil
			}
			e = x.X
		case *ast.SelectorExpr:
			if s, ok := info.Selections[x]; !ok || s.Indirect() {
				return nil
			}
			e = x.X
		case *ast.Ident:
			v, _ := info.ObjectOf(x).(*types.Var)
			if v == nil {
				return nil
			}
			return v
		default:
			return nil
		}
	}
}

func (o *ordering) collectAll(list []ast.Expr) {
	for _, e := range list {
		o.collect(e, true)
	}
}

func (o *ordering) add(e ast.Expr, call *unit) {
	o.sites = append(o.sites, site{e, append([]ast.Expr(nil), o.path...), call})
}

// collect adds the sites in e. load says that the value of e is used, not only its place.
func (o *ordering) collect(e ast.Expr, load bool) {
	if o.info.Types[e].Value != nil {
		return
	}
	if load && o.memory(e) {
		o.add(e, nil)
	}
	o.path = append(o.path, e)
	switch e := e.(type) {
	case *ast.ParenExpr:
		o.path = o.path[:len(o.path)-1]
		o.collect(e.X, load)
		return
	case *ast.SelectorExpr:
		if _, ok := o.info.Selections[e]; ok {
			o.collect(e.X, o.points(o.info.TypeOf(e.X)))
		}
	case *ast.IndexExpr:
		o.collect(e.X, o.points(o.info.TypeOf(e.X)))
		o.collect(e.Index, true)
	case *ast.StarExpr:
		o.collect(e.X, true)
	case *ast.UnaryExpr:
		o.collect(e.X, e.Op != token.AND)
	case *ast.SliceExpr:
		o.collect(e.X, o.points(o.info.TypeOf(e.X)))
		for _, x := range []ast.Expr{e.Low, e.High, e.Max} {
			if x != nil {
				o.collect(x, true)
			}
		}
	case *ast.BinaryExpr:
		o.collect(e.X, true)
		o.collect(e.Y, true)
	case *ast.CompositeLit:
		for _, x := range e.Elts {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				x = kv.Value
			}
			o.collect(x, true)
		}
	case *ast.CallExpr:
		if s, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok && o.info.Selections[s] != nil {
			f, _ := o.info.Uses[s.Sel].(*types.Func)
			byValue := f != nil && f.Signature().Recv() != nil && !o.points(f.Signature().Recv().Type())
			o.collect(s.X, byValue || o.points(o.info.TypeOf(s.X)))
		}
		o.collectAll(e.Args)
	}
	o.path = o.path[:len(o.path)-1]
	if c, ok := e.(*ast.CallExpr); ok && o.unit.calls[c] != nil {
		o.add(e, o.unit.calls[c])
	}
}

// memory says whether e is a place that a call could change: behind a pointer, or a variable whose address is taken.
func (o *ordering) memory(e ast.Expr) bool {
	switch e.(type) {
	case *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr, *ast.Ident:
	default:
		return false
	}
	if o.throughPointer(o.info, e) {
		return true
	}
	v := rootVariable(o.info, e)
	return v != nil && o.taken[v]
}

// judge looks at the sites of a statement and forgets them.
func (o *ordering) judge() {
	for i, a := range o.sites {
		for _, b := range o.sites[i+1:] {
			if !disordered(a, b) {
				continue
			}
			switch {
			case a.call != nil && b.call != nil:
				o.refusal(b.at, "two calls in one statement, of which one writes: %s and %s; give the result of the first one a name", a.call.obj.Name(), b.call.obj.Name())
			case a.call == nil:
				o.refusal(b.at, "%s is read next to a call that writes: %s; Go does not say which comes first", types.ExprString(a.at), b.call.obj.Name())
			default:
				o.refusal(b.at, "%s is read next to a call that writes: %s; Go does not say which comes first", types.ExprString(b.at), a.call.obj.Name())
			}
		}
	}
	o.sites = nil
}

// disordered says whether one of the two writes what the other may see, and nothing says which comes first.
func disordered(a, b site) bool {
	write := func(s site) bool { return s.call != nil && s.call.effect == writes }
	touch := func(s site) bool { return s.call == nil || s.call.effect > none }
	if !(write(a) && touch(b) || write(b) && touch(a)) {
		return false
	}
	for _, e := range a.path {
		if e == b.at {
			return false
		}
	}
	for _, e := range b.path {
		if e == a.at {
			return false
		}
	}
	// The innermost expression that both are part of.
	var common ast.Expr
	for i := 0; i < min(len(a.path), len(b.path)) && a.path[i] == b.path[i]; i++ {
		common = a.path[i]
	}
	x, ok := common.(*ast.BinaryExpr)
	return !ok || x.Op != token.LAND && x.Op != token.LOR
}
