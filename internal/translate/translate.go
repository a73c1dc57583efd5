package translate

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
)

// Translate writes the roots and all that they call as one text, which follows prelude.h. The error is [Refusals] if
// there is something that cannot be kept.
func (p *Program) Translate(o Options) (string, error) {
	t, err := p.translate(o)
	if err != nil {
		return "", err
	}
	return t.out.text(), nil
}

func (p *Program) translate(o Options) (*translation, error) {
	t, err := p.start(o)
	if err != nil {
		return nil, err
	}
	for _, r := range o.Roots {
		if err := t.addRoot(r); err != nil {
			return nil, err
		}
	}
	for _, u := range t.order {
		t.function(u)
	}
	return t, t.found.err()
}

// Hashes writes functions that hash all numbers in a value of some types, in their order, for tests. They follow the
// translation with the same options.
func (p *Program) Hashes(o Options, names ...string) (string, error) {
	t, err := p.translate(o)
	if err != nil {
		return "", err
	}
	done := t.out.done
	t.out = newOutput()
	t.out.done = done
	for _, name := range names {
		n, err := p.named(name)
		if err != nil {
			return "", err
		}
		t.hash(n, true)
	}
	return t.out.text(), t.found.err()
}

// hostedBy lists the data of the host that u and its callees read, in the order of their names.
func (t *translation) hostedBy(u *unit) {
	add := func(v *types.Var) {
		if !slices.Contains(u.hosted, v) {
			u.hosted = append(u.hosted, v)
		}
	}
	ast.Inspect(u.decl.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := u.pkg.TypesInfo.Uses[id].(*types.Var); ok && t.isHosted(v) {
				add(v)
			}
		}
		return true
	})
	for _, g := range u.callees {
		for _, v := range g.hosted {
			add(v)
		}
	}
	slices.SortFunc(u.hosted, func(a, b *types.Var) int { return cmpNames(a, b) })
}

func cmpNames(a, b *types.Var) int {
	x, y := a.Pkg().Path()+"."+a.Name(), b.Pkg().Path()+"."+b.Name()
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// hostedName is the name of a hosted variable as a parameter.
func hostedName(v *types.Var) string { return fmt.Sprintf("%s_%s", v.Pkg().Name(), v.Name()) }
