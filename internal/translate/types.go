package translate

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// output holds the parts of the text, in their order.
type output struct {
	types, vars, protos, funcs strings.Builder
	done                       map[string]bool // types and variables that are written
}

func newOutput() output { return output{done: map[string]bool{}} }

func (o *output) text() string {
	var b strings.Builder
	for _, part := range []*strings.Builder{&o.types, &o.vars, &o.protos} {
		if part.Len() > 0 {
			b.WriteString(part.String())
			b.WriteByte('\n')
		}
	}
	b.WriteString(strings.TrimSuffix(o.funcs.String(), "\n"))
	return b.String()
}

// typ returns the name of a type, which it writes at the first call. s is where a pointer or a slice points to, w the
// world in place of the interface, n what needs the type.
func (t *translation) typ(n ast.Node, x types.Type, s Space, w *world) string {
	if t.isInterface(x) {
		if w == nil {
			t.refusal(n, "%s where no world is bound", t.Interface)
			return "void *"
		}
		return t.typ(n, types.NewPointer(w.state), s, w)
	}
	switch u := x.(type) {
	case *types.Alias:
		return t.typ(n, types.Unalias(u), s, w)
	case *types.Basic:
		if name := basic(u); name != "" {
			return name
		}
	case *types.Pointer:
		if !t.points(u.Elem()) {
			return spaceWords[s] + t.typ(n, u.Elem(), s, w) + " *"
		}
	case *types.Named:
		if st, ok := u.Underlying().(*types.Struct); ok {
			name := u.Obj().Pkg().Name() + "_" + u.Obj().Name()
			t.claim(n, name, "type "+u.String())
			t.structType(n, name, st, w)
			return name
		}
		return t.typ(n, u.Underlying(), s, w)
	case *types.Array:
		if !t.points(u.Elem()) {
			e := t.typ(n, u.Elem(), Generic, w)
			return t.define("array%d_%s", "typedef struct { %s a[%d]; } %s;\n", e, u.Len())
		}
	case *types.Slice:
		elem := u.Elem()
		if t.isInterface(elem) && w != nil {
			elem = w.state
		}
		if !t.points(elem) {
			e := t.typ(n, elem, Generic, w)
			name := "slice_" + e
			if s > Private {
				name += "_" + spaceLetter[s]
			}
			if !t.out.done[name] {
				t.out.done[name] = true
				fmt.Fprintf(&t.out.types, "typedef struct { %s%s *p; i64 n; } %s;\n", spaceWords[s], e, name)
			}
			return name
		}
	}
	t.refusal(n, "type %s is not in the kernel subset", x)
	return "void"
}

// define writes an array type at the first call and returns its name.
func (t *translation) define(name, text, elem string, n int64) string {
	name = fmt.Sprintf(name, n, elem)
	if !t.out.done[name] {
		t.out.done[name] = true
		fmt.Fprintf(&t.out.types, text, elem, n, name)
	}
	return name
}

// tuple is the type of several results.
func (t *translation) tuple(n ast.Node, list *types.Tuple, s []Space, w *world) string {
	var names, fields []string
	for i := range list.Len() {
		e := t.typ(n, list.At(i).Type(), s[i], w)
		names = append(names, strings.NewReplacer(" *", "_at", "__", "", " ", "_").Replace(e))
		fields = append(fields, fmt.Sprintf("%s v%d;", e, i))
	}
	name := "tuple_" + strings.Join(names, "_")
	if !t.out.done[name] {
		t.out.done[name] = true
		fmt.Fprintf(&t.out.types, "typedef struct { %s } %s;\n", strings.Join(fields, " "), name)
	}
	return name
}

func (t *translation) structType(n ast.Node, name string, s *types.Struct, w *world) {
	if t.out.done[name] {
		return
	}
	t.out.done[name] = true
	var b strings.Builder
	for f := range s.Fields() {
		if t.points(f.Type()) {
			t.refusal(n, "field %s of %s is a %s; pointers and slices cannot be stored", f.Name(), name, f.Type())
			continue
		}
		fmt.Fprintf(&b, " %s %s;", t.typ(n, f.Type(), Generic, w), field(f))
	}
	if b.Len() == 0 {
		b.WriteString(" u8 none;")
	}
	fmt.Fprintf(&t.out.types, "typedef struct {%s } %s;\n", b.String(), name)
}

func field(f *types.Var) string { return safe(f.Name()) }

// basic is the name of a basic type; "" for one outside of the subset.
func basic(b *types.Basic) string {
	switch b.Kind() {
	case types.Bool, types.UntypedBool, types.Uint8:
		return "u8"
	case types.Int, types.Int64, types.UntypedInt, types.UntypedRune:
		return "i64"
	case types.Uint, types.Uint64:
		return "u64"
	case types.Int32:
		return "i32"
	case types.Uint32:
		return "u32"
	case types.Uint16:
		return "u16"
	case types.Float32:
		return "f32"
	case types.Float64, types.UntypedFloat:
		return "f64"
	}
	return ""
}
