package translate

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"
)

// constant writes the value that go/types computed for e.
func (t *translation) constant(e ast.Expr, tv types.TypeAndValue) string {
	b, ok := tv.Type.Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsString != 0 || basic(b) == "" {
		t.refusal(e, "constant of type %s", tv.Type)
		return "0"
	}
	return t.number(tv.Value, basic(b))
}

// number writes a value of a basic type of prelude.h.
func (t *translation) number(v constant.Value, name string) string {
	switch name {
	case "f32":
		f, _ := constant.Float32Val(constant.ToFloat(v))
		return parenthesized(fmt.Sprintf("%xf", f))
	case "f64":
		f, _ := constant.Float64Val(constant.ToFloat(v))
		return parenthesized(fmt.Sprintf("%x", f))
	}
	if v.Kind() == constant.Bool {
		if constant.BoolVal(v) {
			return "1"
		}
		return "0"
	}
	s, long := constant.ToInt(v).ExactString(), t.longSuffix()
	switch name {
	case "u32", "u16":
		return s + "u"
	case "u64":
		return s + "u" + long
	case "i64":
		if s == "-9223372036854775808" {
			return "(-9223372036854775807" + long + " - 1)"
		}
		return parenthesized(s + long)
	}
	if s == "-2147483648" {
		return "(-2147483647 - 1)"
	}
	return parenthesized(s)
}

func parenthesized(s string) string {
	if strings.HasPrefix(s, "-") {
		return "(" + s + ")"
	}
	return s
}

// packageVar returns the name of a package-level variable: a table, written at the first call, or a pointer to data
// that the host hands over.
func (f *function) packageVar(n ast.Node, v *types.Var) string {
	t := f.translation
	name := v.Pkg().Name() + "_" + v.Name()
	if t.isHosted(v) {
		if t.Target == OpenCL {
			return name // a parameter
		}
		if !t.out.done[name] {
			t.out.done[name] = true
			word := "extern "
			if t.Target == CUDA {
				word = "__device__ "
			}
			fmt.Fprintf(&t.out.vars, "%s%s%s; // handed over by the host\n", word, t.typ(n, v.Type(), Generic, nil), name)
		}
		return name
	}
	if t.out.done[name] {
		return name
	}
	t.out.done[name] = true
	decl := t.vars[v]
	if _, array := v.Type().Underlying().(*types.Array); !array || decl.value == nil {
		t.refusal(n, "package-level variable %s is no constant array", v.Name())
		return name
	}
	t.claim(n, name, "variable "+v.Pkg().Path()+"."+v.Name())
	text := t.table(decl.pkg, decl.value)
	fmt.Fprintf(&t.out.vars, "%s%s %s = %s;\n", t.tableWords(), t.typ(n, v.Type(), Generic, nil), name, text)
	return name
}

// isHosted says whether v is a package-level pointer.
func (t *translation) isHosted(v *types.Var) bool {
	_, pointer := v.Type().Underlying().(*types.Pointer)
	return pointer && isPackageVar(v)
}

// table writes an initial value that consists of constants.
func (t *translation) table(p *packages.Package, e ast.Expr) string {
	tv := p.TypesInfo.Types[e]
	if tv.Value != nil {
		return t.constant(e, tv)
	}
	lit, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok {
		t.refusal(e, "the initial value of a package-level variable is no literal")
		return "0"
	}
	var parts []string
	for _, x := range lit.Elts {
		if _, keyed := x.(*ast.KeyValueExpr); keyed {
			t.refusal(x, "key in a table")
			continue
		}
		parts = append(parts, t.table(p, x))
	}
	s := "{" + strings.Join(parts, ", ") + "}"
	if _, array := tv.Type.Underlying().(*types.Array); array {
		s = "{" + s + "}"
	}
	return s
}
