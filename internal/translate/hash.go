package translate

import (
	"fmt"
	"go/types"
	"strings"
)

// hash writes a function that hashes all numbers in a value, in their order, and returns its name.
func (t *translation) hash(x types.Type, root bool) string {
	typ := t.typ(nil, x, Generic, nil)
	name := "hash_" + typ
	if t.out.done[name] {
		return name
	}
	t.out.done[name] = true
	var b strings.Builder
	word := "FN"
	if root {
		word = "ROOT"
	}
	fmt.Fprintf(&b, "%s u64 %s(u64 h, const %s *x) {\n", word, name, typ)
	one := func(y types.Type, place string) {
		switch u := y.Underlying().(type) {
		case *types.Basic:
			value := "(u64)" + place
			switch basic(u) {
			case "f32":
				value = "go_f32bits(" + place + ")"
			case "f64":
				value = "go_f64bits(" + place + ")"
			case "i32":
				value = "(u64)(i64)" + place
			}
			fmt.Fprintf(&b, "  h = go_mix(h, %s);\n", value)
		case *types.Struct, *types.Array:
			fmt.Fprintf(&b, "  h = %s(h, &%s);\n", t.hash(y, false), place)
		}
	}
	switch u := x.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			one(f.Type(), "x->"+field(f))
		}
	case *types.Array:
		fmt.Fprintf(&b, "  for (int i = 0; i < %d; i++) {\n", u.Len())
		one(u.Elem(), "x->a[i]")
		b.WriteString("  }\n")
	}
	b.WriteString("  return h;\n}\n\n")
	t.out.funcs.WriteString(b.String())
	return name
}
