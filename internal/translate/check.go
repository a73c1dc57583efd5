package translate

import "slices"

// Check translates every function of the step files, with all that it calls, and returns what cannot be kept and the
// number of those functions. The worlds of o are bound; its roots do not matter.
func (p *Program) Check(o Options, step func(path, file string) bool) (Refusals, int, error) {
	t, err := p.start(o)
	if err != nil {
		return nil, 0, err
	}
	var all []*source
	for _, s := range p.funcs {
		if step(s.pkg.PkgPath, p.fset.Position(s.decl.Pos()).Filename) {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *source) int {
		x, y := p.fset.Position(a.decl.Pos()), p.fset.Position(b.decl.Pos())
		if x.Filename != y.Filename {
			if x.Filename < y.Filename {
				return -1
			}
			return 1
		}
		return x.Line - y.Line
	})
	for _, s := range all {
		if s.decl.Recv == nil && s.decl.Name.Name == "init" {
			continue // of the package, and refused as such
		}
		if !t.isBound(s) {
			t.rootUnit(s, nil, make([]Space, len(parameters(s.obj))))
			continue
		}
		for _, w := range t.worlds {
			t.rootUnit(s, w, make([]Space, len(parameters(s.obj))))
		}
	}
	for _, u := range t.order {
		t.function(u)
	}
	return t.found.sorted(), len(all), nil
}
