package translate

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// unit is one function of the output. A Go function has several if it is bound to several worlds, or called with
// pointers into several address spaces.
type unit struct {
	*source
	world   *world
	params  []Space // where the receiver and the parameters point to
	locals  map[types.Object]Space
	results []Space
	calls   map[*ast.CallExpr]*unit
	callees []*unit // in the order of the source, without repetitions

	name   string
	root   bool
	extern bool
	effect effect
	hosted []*types.Var // data of the host that it reads, or functions that it calls
	stack  int64        // bytes of its variables and of those of the functions that it calls
}

// world is a World that was found.
type world struct {
	World
	state *types.Named
}

// translation is a run of the translator.
type translation struct {
	*Program
	Options
	iface   types.Type
	worlds  []*world
	externs map[*types.Func]bool
	units   map[string]*unit
	order   []*unit // callees before callers
	names   map[string]string
	open    []*unit // from a root to the unit at hand
	bound   map[*types.Func]bool
	found   Refusals
	out     output
}

// start resolves the names in the options.
func (p *Program) start(o Options) (*translation, error) {
	t := &translation{
		Program: p, Options: o, externs: map[*types.Func]bool{}, units: map[string]*unit{}, names: map[string]string{},
		bound: map[*types.Func]bool{}, out: newOutput(),
	}
	if t.Stack == 0 {
		t.Stack = stackDefault
	}
	for _, name := range o.Externs {
		s, err := p.lookup(name)
		if err != nil {
			return nil, err
		}
		t.externs[s.obj] = true
	}
	if o.Interface != "" {
		named, err := p.named(o.Interface)
		if err != nil {
			return nil, err
		}
		t.iface = named
	}
	for _, w := range o.Worlds {
		state, err := p.named(w.Type)
		if err != nil {
			return nil, err
		}
		t.worlds = append(t.worlds, &world{World: w, state: state})
	}
	return t, nil
}

// named finds the type of a name such as "envs/classic/cartpole.State".
func (p *Program) named(name string) (*types.Named, error) {
	path, rest := p.split(name)
	if pkg := p.pkgs[path]; pkg != nil {
		if o, ok := pkg.Types.Scope().Lookup(rest).(*types.TypeName); ok {
			if n, ok := o.Type().(*types.Named); ok {
				return n, nil
			}
		}
	}
	return nil, fmt.Errorf("translate: there is no type %s", name)
}

func (t *translation) refusal(n ast.Node, format string, args ...any) {
	t.found = append(t.found, t.refuse(n, format, args...))
}

// addRoot makes the units of a root.
func (t *translation) addRoot(r Root) error {
	s, err := t.lookup(r.Name)
	if err != nil {
		return err
	}
	params := make([]Space, len(parameters(s.obj)))
	if t.Target == OpenCL {
		for i, v := range parameters(s.obj) {
			if !t.points(v.Type()) {
				continue
			}
			params[i] = Global
			if i < len(r.Spaces) && r.Spaces[i] != Generic {
				params[i] = r.Spaces[i]
			}
		}
	}
	if !t.isBound(s) {
		t.rootUnit(s, nil, params)
		return nil
	}
	for _, w := range t.worlds {
		t.rootUnit(s, w, params)
	}
	return nil
}

func (t *translation) rootUnit(s *source, w *world, params []Space) {
	if u := t.unit(s, w, params); u != nil {
		u.root = true
	}
}

// unit returns the unit of a function, made at the first call; nil for a recursion, which it reports.
func (t *translation) unit(s *source, w *world, params []Space) *unit {
	if !t.isBound(s) {
		w = nil
	}
	key := fmt.Sprintf("%s %p %v", s.obj.FullName(), w, params)
	if u, ok := t.units[key]; ok {
		for _, o := range t.open {
			if o == u {
				t.refusal(s.decl.Name, "recursion through %s", s.obj.Name())
				return nil
			}
		}
		return u
	}
	u := &unit{source: s, world: w, params: params, locals: map[types.Object]Space{}, calls: map[*ast.CallExpr]*unit{}}
	t.units[key] = u
	for i, v := range parameters(s.obj) {
		u.locals[v] = params[i]
	}
	t.open = append(t.open, u)
	switch {
	case t.externs[s.obj]:
		u.extern, u.effect = true, writes
	case s.decl.Body == nil:
		t.refusal(s.decl, "function %s without a body", s.obj.Name())
	default:
		t.resolve(u)
		t.hostedBy(u)
		t.effects(u)
		t.ordered(u)
		t.frame(u)
	}
	t.open = t.open[:len(t.open)-1]
	t.name(u)
	t.order = append(t.order, u)
	return u
}

// name gives a unit its name in the output.
func (t *translation) name(u *unit) {
	u.name = u.obj.Pkg().Name() + "_" + strings.ReplaceAll(functionName(u.obj), ".", "_")
	if u.world != nil {
		u.name += "_" + u.world.Name
	}
	if s := spaceLetters(u.params); t.Target == OpenCL && s != "" {
		u.name += "_" + s
	}
	t.claim(u.decl, u.name, fmt.Sprintf("%s %v", u.obj.FullName(), u.params))
}

// claim takes a name of the output for what is described; two things of one name are refused.
func (t *translation) claim(n ast.Node, name, what string) {
	if other, ok := t.names[name]; ok && other != what {
		t.refusal(n, "%s and %s would both be named %s", what, other, name)
	}
	t.names[name] = what
}

// parameters returns the receiver and the parameters.
func parameters(f *types.Func) []*types.Var {
	var list []*types.Var
	sig := f.Signature()
	if sig.Recv() != nil {
		list = append(list, sig.Recv())
	}
	for v := range sig.Params().Variables() {
		list = append(list, v)
	}
	return list
}

// isBound says whether the function has something to do with the interface.
func (t *translation) isBound(s *source) bool {
	if t.iface == nil || s.decl.Body == nil {
		return false
	}
	if b, ok := t.bound[s.obj]; ok {
		return b
	}
	b := false
	for _, v := range parameters(s.obj) {
		b = b || t.isInterface(v.Type()) || t.isInterfaces(v.Type())
	}
	t.bound[s.obj] = b
	return b
}

func (t *translation) isInterface(x types.Type) bool {
	return t.iface != nil && types.Identical(types.Unalias(x), t.iface)
}

// isInterfaces is a slice of the interface.
func (t *translation) isInterfaces(x types.Type) bool {
	s, ok := x.Underlying().(*types.Slice)
	return ok && t.isInterface(s.Elem())
}

// points says whether values of the type are addresses: of a pointer, a slice, or the interface, which is a pointer.
func (t *translation) points(x types.Type) bool {
	switch x.Underlying().(type) {
	case *types.Pointer, *types.Slice:
		return true
	}
	return t.isInterface(x)
}

// resolve finds the units that u calls.
func (t *translation) resolve(u *unit) {
	info := u.pkg.TypesInfo
	t.spaces(u)
	seen := map[*unit]bool{}
	ast.Inspect(u.decl.Body, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		f := callee(info, c)
		if f == nil || isMath(f) {
			return true
		}
		g := t.callee(u, c)
		if g != nil && !seen[g] {
			seen[g] = true
			u.callees = append(u.callees, g)
		}
		return true
	})
}

// callee returns the unit that a call in u goes to; nil if there is none, which is reported.
func (t *translation) callee(u *unit, c *ast.CallExpr) *unit {
	if g, ok := u.calls[c]; ok {
		return g
	}
	u.calls[c] = nil
	info := u.pkg.TypesInfo
	f := callee(info, c)
	w := u.world
	if r := f.Signature().Recv(); r != nil && types.IsInterface(r.Type()) {
		m := t.method(u, f)
		if m == nil {
			t.refusal(c, "call through an interface: %s", f.Name())
			return nil
		}
		f = m
	}
	s := t.funcs[f]
	if s == nil {
		t.refusal(c, "call of %s, which is not in this module", f.FullName())
		return nil
	}
	if w == nil && t.isBound(s) {
		t.refusal(c, "call of %s, which takes %s, where no world is bound", f.Name(), t.Interface)
		return nil
	}
	g := t.unit(s, w, t.argumentSpaces(u, c, f))
	u.calls[c] = g
	return g
}

// method is the world's method for the interface's f.
func (t *translation) method(u *unit, f *types.Func) *types.Func {
	name := t.Methods[f.Name()]
	if u.world == nil || name == "" || !t.isInterface(f.Signature().Recv().Type()) {
		return nil
	}
	obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(u.world.state), false, u.world.state.Obj().Pkg(), name)
	m, _ := obj.(*types.Func)
	return m
}

// callee is the function that a call names; nil for conversions, builtins and function values.
func callee(info *types.Info, c *ast.CallExpr) *types.Func {
	switch f := ast.Unparen(c.Fun).(type) {
	case *ast.Ident:
		g, _ := info.Uses[f].(*types.Func)
		return g
	case *ast.SelectorExpr:
		g, _ := info.Uses[f.Sel].(*types.Func)
		return g
	}
	return nil
}

// isMath is a function that the target takes from its own library, or from prelude.h.
func isMath(f *types.Func) bool {
	return f.Pkg() != nil && (f.Pkg().Path() == "math" || f.Pkg().Path() == "math/bits")
}

func listed(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
