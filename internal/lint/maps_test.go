package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// mapRule reports walks over maps in their random order.
func mapRule(c *code) (found []finding) {
	for _, f := range c.Syntax {
		m := &mapWalk{code: c, excused: excuses(c, f)}
		ast.Inspect(f, m.visit)
		found = append(found, m.found...)
	}
	return found
}

type mapWalk struct {
	*code
	excused map[int]bool
	sorted  map[ast.Node]bool
	found   []finding
}

// excuses returns the lines that a comment `//lint:sorted why` covers: its own and the next.
func excuses(c *code, f *ast.File) map[int]bool {
	lines := map[int]bool{}
	for _, group := range f.Comments {
		for _, comment := range group.List {
			why, ok := strings.CutPrefix(comment.Text, "//lint:sorted ")
			if ok && strings.TrimSpace(why) != "" {
				line := c.Fset.Position(comment.Pos()).Line
				lines[line], lines[line+1] = true, true
			}
		}
	}
	return lines
}

func (m *mapWalk) visit(n ast.Node) bool {
	if m.sorted == nil {
		m.sorted = map[ast.Node]bool{}
	}
	switch n := n.(type) {
	case *ast.BlockStmt:
		m.block(n.List)
	case *ast.CaseClause:
		m.block(n.Body)
	case *ast.RangeStmt:
		if m.isMap(n.X) && !m.sorted[n] {
			m.add(n)
		}
	case *ast.CallExpr:
		if name := m.callee(n); strings.HasPrefix(name, "slices.Sorted") && len(n.Args) > 0 {
			m.sorted[ast.Unparen(n.Args[0])] = true
		} else if strings.HasPrefix(name, "maps.") && (strings.HasSuffix(name, "Keys") || strings.HasSuffix(name, "Values") || strings.HasSuffix(name, "All")) && !m.sorted[n] {
			m.add(n)
		}
	}
	return true
}

func (m *mapWalk) add(n ast.Node) {
	if !m.excused[m.Fset.Position(n.Pos()).Line] {
		m.found = append(m.found, m.at(n, "map walked in random order: collect the keys and sort them, or say //lint:sorted why"))
	}
}

// block marks loops that only collect keys which the next statement sorts.
func (m *mapWalk) block(list []ast.Stmt) {
	for i, s := range list {
		loop, ok := s.(*ast.RangeStmt)
		if !ok || i+1 == len(list) {
			continue
		}
		if keys := m.collects(loop.Body.List); keys != nil && m.sorts(list[i+1], keys) {
			m.sorted[loop] = true
		}
	}
}

// collects returns the slice that the body appends to, if that is all it does, under a condition or not.
func (m *mapWalk) collects(body []ast.Stmt) types.Object {
	if len(body) != 1 {
		return nil
	}
	if cond, ok := body[0].(*ast.IfStmt); ok && cond.Init == nil && cond.Else == nil {
		return m.collects(cond.Body.List)
	}
	set, ok := body[0].(*ast.AssignStmt)
	if !ok || set.Tok != token.ASSIGN || len(set.Lhs) != 1 {
		return nil
	}
	call, ok := set.Rhs[0].(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return nil
	}
	if id, ok := call.Fun.(*ast.Ident); !ok || id.Name != "append" || m.object(call.Args[0]) != m.object(set.Lhs[0]) {
		return nil
	}
	return m.object(set.Lhs[0])
}

func (m *mapWalk) sorts(s ast.Stmt, keys types.Object) bool {
	expr, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := expr.X.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || m.object(call.Args[0]) != keys {
		return false
	}
	name := m.callee(call)
	return strings.HasPrefix(name, "sort.") || strings.HasPrefix(name, "slices.Sort")
}

func (m *mapWalk) object(e ast.Expr) types.Object {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		return m.TypesInfo.ObjectOf(id)
	}
	return nil
}

// callee returns "pkg.Func" for a call of another package's function.
func (m *mapWalk) callee(call *ast.CallExpr) string {
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
		if f, ok := m.TypesInfo.Uses[sel.Sel].(*types.Func); ok && f.Pkg() != nil {
			return f.Pkg().Path() + "." + f.Name()
		}
	}
	return ""
}

func (m *mapWalk) isMap(e ast.Expr) bool {
	t := m.TypesInfo.TypeOf(e)
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

func TestMaps(t *testing.T) { report(t, mapRule) }

func TestMapsFixture(t *testing.T) {
	wanted(t, "testdata/maps", mapRule(fixture(t, "maps", "internal/evolve")))
}
