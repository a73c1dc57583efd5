package translate

import (
	"go/ast"
	"go/types"
)

// frame adds up what the variables of u take, and what those of its callees do. A compiler may lay two variables in the
// same place or copy one, so this is an estimate; it is there to find the array that should not be on a stack.
func (t *translation) frame(u *unit) {
	var own int64
	count := func(v *types.Var) {
		if x := v.Type(); !types.IsInterface(x) {
			own += t.sizes.Sizeof(x)
		}
	}
	for _, v := range parameters(u.obj) {
		count(v)
	}
	ast.Inspect(u.decl, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := u.pkg.TypesInfo.Defs[id].(*types.Var); ok && v.Kind() == types.LocalVar {
				count(v)
			}
		}
		return true
	})
	below, widest := int64(0), ""
	for _, g := range u.callees {
		if g.stack > below {
			below, widest = g.stack, g.obj.Name()
		}
	}
	u.stack = own + below
	if own+below <= t.Stack || below > t.Stack {
		return // fine, or reported below
	}
	if widest == "" {
		t.refusal(u.decl.Name, "stack: the variables of %s take %d bytes, more than %d", u.obj.Name(), own, t.Stack)
		return
	}
	t.refusal(u.decl.Name, "stack: the variables of %s take %d bytes and those of what it calls (%s) %d, together more than %d", u.obj.Name(), own, widest, below, t.Stack)
}

// Deepest returns the chain of calls that takes most of the stack, and how much, where frames says what a compiler gave
// each function of the translation; one that it inlined is not there.
func (p *Program) Deepest(o Options, frames map[string]int64) (bytes int64, chain []string, err error) {
	t, err := p.translate(o)
	if err != nil {
		return 0, nil, err
	}
	depth, next := map[*unit]int64{}, map[*unit]*unit{}
	var deepest *unit
	for _, u := range t.order { // callees come first
		for _, g := range u.callees {
			if next[u] == nil || depth[g] > depth[next[u]] {
				next[u] = g
			}
		}
		depth[u] = frames[u.name] + depth[next[u]]
		if deepest == nil || depth[u] > depth[deepest] {
			deepest = u
		}
	}
	for u := deepest; u != nil; u = next[u] {
		if frames[u.name] > 0 {
			chain = append(chain, u.name)
		}
	}
	return depth[deepest], chain, nil
}
