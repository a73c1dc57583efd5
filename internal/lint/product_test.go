package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"testing"
)

// productRule reports every + and - whose operand is a product that no conversion has rounded: Go may fuse the two. So
// does the conversion of such a product to uint64 or another unsigned type, which some targets make with a subtraction.
// An operand counts as a product also behind parentheses, a sign, or a variable of the same package that is anywhere
// set to a product. Products that reach a sum through an inlined call are left to the fusion rule.
func productRule(c *code) (found []finding) {
	r := &products{code: c, vars: map[types.Object]bool{}}
	for _, f := range c.Syntax {
		ast.Inspect(f, r.collect)
	}
	for _, f := range c.Syntax {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if (n.Op == token.ADD || n.Op == token.SUB) && r.float(n) && (r.product(n.X) || r.product(n.Y)) {
					found = append(found, c.at(n, "unrounded product in a sum: wrap it in float64() or float32()"))
				}
			case *ast.CallExpr:
				if r.unsigned(n.Fun) && len(n.Args) == 1 && r.product(n.Args[0]) {
					found = append(found, c.at(n, "unrounded product converted to an unsigned integer: wrap it in float64() or float32()"))
				}
			case *ast.AssignStmt:
				sum := n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN
				if sum && r.float(n.Lhs[0]) && (r.product(n.Rhs[0]) || r.product(n.Lhs[0])) {
					found = append(found, c.at(n, "unrounded product in a sum: wrap it in float64() or float32()"))
				}
			}
			return true
		})
	}
	return found
}

type products struct {
	*code
	vars map[types.Object]bool // variables that hold an unrounded product at some place
}

func (r *products) collect(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok == token.MUL_ASSIGN && r.float(n.Lhs[0]) {
			r.mark(n.Lhs[0])
		}
		if (n.Tok == token.ASSIGN || n.Tok == token.DEFINE) && len(n.Lhs) == len(n.Rhs) {
			for i, e := range n.Rhs {
				if r.mul(e) {
					r.mark(n.Lhs[i])
				}
			}
		}
	case *ast.ValueSpec:
		for i, e := range n.Values {
			if len(n.Values) == len(n.Names) && r.mul(e) {
				r.mark(n.Names[i])
			}
		}
	}
	return true
}

// mark remembers local variables. Fields and elements are left to the fusion rule, since one field name has
// many values.
func (r *products) mark(e ast.Expr) {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		if obj := r.TypesInfo.ObjectOf(id); obj != nil {
			r.vars[obj] = true
		}
	}
}

func (r *products) float(e ast.Expr) bool {
	t := r.TypesInfo.TypeOf(e)
	if t == nil {
		return false
	}
	if p, ok := t.(*types.TypeParam); ok {
		t = p.Constraint()
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsFloat|types.IsComplex) != 0
}

// unsigned says whether e is the name of an unsigned integer type.
func (r *products) unsigned(e ast.Expr) bool {
	tv, ok := r.TypesInfo.Types[e]
	if !ok || !tv.IsType() {
		return false
	}
	b, ok := tv.Type.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsUnsigned != 0
}

// mul says whether e itself is a product that is computed when the program runs.
func (r *products) mul(e ast.Expr) bool {
	e = ast.Unparen(e)
	if tv, ok := r.TypesInfo.Types[e]; ok && tv.Value != nil {
		return false
	}
	switch e := e.(type) {
	case *ast.UnaryExpr:
		return (e.Op == token.SUB || e.Op == token.ADD) && r.mul(e.X)
	case *ast.BinaryExpr:
		return e.Op == token.MUL && r.float(e)
	}
	return false
}

func (r *products) product(e ast.Expr) bool {
	e = ast.Unparen(e)
	switch e := e.(type) {
	case *ast.UnaryExpr:
		if e.Op == token.SUB || e.Op == token.ADD {
			return r.product(e.X)
		}
	case *ast.Ident:
		return r.float(e) && r.vars[r.TypesInfo.ObjectOf(e)]
	}
	return r.mul(e)
}

func TestProduct(t *testing.T) { report(t, productRule) }

func TestProductFixture(t *testing.T) {
	wanted(t, "testdata/product", productRule(fixture(t, "product", "internal/kernel")))
}
