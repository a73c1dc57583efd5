package translate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

func (f *function) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.EmptyStmt:
	case *ast.BlockStmt:
		f.braces(func() { f.block(s.List) })
	case *ast.ExprStmt:
		if x := f.expr(s.X); x != "" {
			f.emit("%s;", x)
		}
	case *ast.AssignStmt:
		f.assign(s)
	case *ast.IncDecStmt:
		op := token.ADD
		if s.Tok == token.DEC {
			op = token.SUB
		}
		x := f.changed(s.X)
		f.emit("%s = %s;", x, f.arithmetic(s, op, x, "1", f.info.TypeOf(s.X)))
	case *ast.DeclStmt:
		f.declaration(s.Decl.(*ast.GenDecl))
	case *ast.ReturnStmt:
		f.ret(s)
	case *ast.IfStmt:
		f.ifStmt(s)
	case *ast.ForStmt:
		f.forStmt(s)
	case *ast.RangeStmt:
		f.rangeStmt(s)
	case *ast.SwitchStmt:
		f.switchStmt(s)
	case *ast.BranchStmt:
		f.branch(s)
	default:
		f.refusal(s, "%s is not in the kernel subset", statementName(s))
	}
}

// statementName names a statement in words.
func statementName(s ast.Stmt) string {
	switch s.(type) {
	case *ast.LabeledStmt:
		return "a label"
	case *ast.GoStmt:
		return "go"
	case *ast.DeferStmt:
		return "defer"
	case *ast.SelectStmt:
		return "select"
	case *ast.SendStmt:
		return "a channel"
	case *ast.TypeSwitchStmt:
		return "a type switch"
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", s), "*ast.")
}

func (f *function) branch(s *ast.BranchStmt) {
	switch {
	case s.Label != nil || s.Tok == token.GOTO || s.Tok == token.FALLTHROUGH:
		f.refusal(s, "%s is not in the kernel subset", strings.TrimSpace(s.Tok.String()+" "+labelName(s.Label)))
	case s.Tok == token.CONTINUE:
		f.emit("continue;")
	default:
		label := f.breaks[len(f.breaks)-1]
		if label == "" {
			f.emit("break;")
			return
		}
		f.jumped[label] = true
		f.emit("goto %s;", label)
	}
}

func labelName(id *ast.Ident) string {
	if id == nil {
		return ""
	}
	return id.Name
}

func (f *function) ret(s *ast.ReturnStmt) {
	switch {
	case len(s.Results) == 0 && len(f.named) > 0:
		f.emit("%s", f.returnNamed())
	case len(s.Results) == 0:
		f.emit("return;")
	case len(s.Results) == 1:
		f.emit("return %s;", bare(f.valueAs(s.Results[0], f.obj.Signature().Results().At(0).Type(), f.results[0])))
	default:
		var v []string
		for i, r := range s.Results {
			v = append(v, f.valueAs(r, f.obj.Signature().Results().At(i).Type(), f.results[i]))
		}
		f.emit("return LIT(%s, %s);", f.resultType(), strings.Join(v, ", "))
	}
}

func (f *function) ifStmt(s *ast.IfStmt) {
	body := func() {
		f.emit("if (%s) {", bare(f.expr(s.Cond)))
		f.depth++
		f.block(s.Body.List)
		f.depth--
		if s.Else == nil {
			f.emit("}")
			return
		}
		f.emit("} else {")
		f.depth++
		switch e := s.Else.(type) {
		case *ast.BlockStmt:
			f.block(e.List)
		case *ast.IfStmt:
			f.ifStmt(e)
		}
		f.depth--
		f.emit("}")
	}
	if s.Init == nil {
		body()
		return
	}
	f.braces(func() { f.stmt(s.Init); body() })
}

// loop writes the body of a loop and its closing brace. first runs at the start of each round.
func (f *function) loop(body *ast.BlockStmt, first func()) {
	f.breaks = append(f.breaks, "")
	f.depth++
	if first != nil {
		first()
	}
	f.block(body.List)
	f.depth--
	f.breaks = f.breaks[:len(f.breaks)-1]
	f.emit("}")
}

func (f *function) forStmt(s *ast.ForStmt) {
	if s.Cond == nil {
		f.refusal(s, "for without a condition")
		return
	}
	inner := func() {
		var cond, post string
		before := f.captured(func() { f.depth++; cond = f.expr(s.Cond); f.depth-- })
		if s.Post != nil {
			depth := f.depth
			f.depth = 0
			post = strings.TrimSpace(f.captured(func() { f.stmt(s.Post) }))
			f.depth = depth
			if strings.Count(post, "\n") > 0 {
				f.refusal(s.Post, "post statement of more than one assignment")
			}
			post = strings.TrimSuffix(post, ";")
		}
		if before == "" {
			f.emit("for (; %s; %s) {", bare(cond), post)
			f.loop(s.Body, nil)
			return
		}
		f.emit("for (;; %s) {", post)
		f.loop(s.Body, func() {
			f.b.WriteString(before)
			f.emit("if (!(%s)) break;", cond)
		})
	}
	if s.Init == nil {
		inner()
		return
	}
	f.perIteration(s)
	f.braces(func() { f.stmt(s.Init); inner() })
}

// perIteration refuses a loop variable whose address is taken: in Go each round has its own.
func (f *function) perIteration(s *ast.ForStmt) {
	init, ok := s.Init.(*ast.AssignStmt)
	if !ok || init.Tok != token.DEFINE {
		return
	}
	taken := addressTaken(f.unit)
	for _, l := range init.Lhs {
		if id, ok := l.(*ast.Ident); ok && taken[f.info.Defs[id]] {
			f.refusal(id, "the address of the loop variable %s is taken", id.Name)
		}
	}
}

func (f *function) rangeStmt(s *ast.RangeStmt) {
	if s.Tok == token.ASSIGN {
		f.refusal(s, "range that assigns to variables that exist")
		return
	}
	object := func(e ast.Expr) types.Object {
		if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
			return f.info.Defs[id]
		}
		return nil
	}
	k, v := object(s.Key), object(s.Value)
	x := f.info.TypeOf(s.X)
	f.braces(func() {
		i, typ := f.temp(), "i64"
		var n, elem string
		switch u := x.Underlying().(type) {
		case *types.Basic:
			if u.Info()&types.IsInteger == 0 {
				f.refusal(s, "range over %s", x)
				return
			}
			typ = f.typ(s, x, Generic, nil)
			if k != nil {
				typ = f.typ(s, k.Type(), Generic, nil)
			}
			n = f.temp()
			f.emit("%s %s = %s;", typ, n, f.expr(s.X))
		case *types.Array:
			n = fmt.Sprint(u.Len())
			if v != nil {
				// The elements are those of a copy, except that tables do not change.
				c := f.expr(s.X)
				if id, ok := ast.Unparen(s.X).(*ast.Ident); !ok || rootVariable(f.info, id) == nil || !isPackageVar(rootVariable(f.info, id).(*types.Var)) {
					c = f.hold(s.X, c)
				}
				elem = c + ".a[" + i + "]"
			}
		case *types.Pointer:
			a, ok := u.Elem().Underlying().(*types.Array)
			if !ok {
				f.refusal(s, "range over %s", x)
				return
			}
			n, elem = fmt.Sprint(a.Len()), f.hold(s.X, f.expr(s.X))+"->a["+i+"]"
		case *types.Slice:
			if f.isInterface(u.Elem()) && v != nil {
				f.refusal(s, "range over the values of %s; range over the indices", x)
				return
			}
			c := f.hold(s.X, f.expr(s.X))
			n, elem = c+".n", c+".p["+i+"]"
		default:
			f.refusal(s, "range over %s", x)
			return
		}
		f.emit("for (%s %s = 0; %s < %s; %s++) {", typ, i, i, n, i)
		f.loop(s.Body, func() {
			if k != nil {
				f.emit("%s = %s;", f.declare(s, k), i)
			}
			if v != nil {
				f.emit("%s = %s;", f.declare(s, v), elem)
			}
		})
	})
}

func (f *function) switchStmt(s *ast.SwitchStmt) {
	f.braces(func() {
		if s.Init != nil {
			f.stmt(s.Init)
		}
		tag := ""
		if s.Tag != nil {
			tag = f.hold(s.Tag, f.expr(s.Tag))
		}
		f.ends++
		end := fmt.Sprintf("end_%d", f.ends)
		f.breaks = append(f.breaks, end)
		var other *ast.CaseClause
		depth := f.depth
		for _, c := range s.Body.List {
			c := c.(*ast.CaseClause)
			if c.List == nil {
				other = c
				continue
			}
			f.emit("if (%s) {", f.caseCondition(c, tag))
			f.depth++
			f.block(c.Body)
			f.depth--
			f.emit("} else {")
			f.depth++
		}
		if other != nil {
			f.block(other.Body)
		}
		for f.depth > depth {
			f.depth--
			f.emit("}")
		}
		f.breaks = f.breaks[:len(f.breaks)-1]
		if f.jumped[end] {
			f.emit("%s:;", end)
		}
	})
}

func (f *function) caseCondition(c *ast.CaseClause, tag string) string {
	var conds []string
	for i, e := range c.List {
		var x string
		before := f.captured(func() { x = f.expr(e) })
		if before != "" && i > 0 {
			f.refusal(e, "a case that takes statements, behind another one of the same clause")
		}
		f.b.WriteString(before)
		if tag != "" {
			x = "(" + tag + " == " + x + ")"
		}
		conds = append(conds, x)
	}
	if len(conds) == 1 {
		return bare(conds[0])
	}
	return strings.Join(conds, " || ")
}
