package lint

import (
	"go/ast"
	"go/types"
	"testing"
)

// slow are the functions that may take long: they fold, evaluate, or read whole states. The coordinator has
// them done by its driver.
var slow = map[string]bool{
	"(*github.com/evoswarm/evoswarm/internal/seedlog.Rules).Apply":    true,
	"(*github.com/evoswarm/evoswarm/internal/seedlog.Rules).Advance":  true,
	"(*github.com/evoswarm/evoswarm/internal/seedlog.Rules).NewEntry": true,
	"(*github.com/evoswarm/evoswarm/internal/seedlog.Rules).Results":  true,
	"(*github.com/evoswarm/evoswarm/internal/seedlog.Rules).Decisive": true,
	"(github.com/evoswarm/evoswarm/internal/rollout.Plan).Apply":      true,
	"(github.com/evoswarm/evoswarm/internal/rollout.Plan).Fold":       true,
	"(*github.com/evoswarm/evoswarm/internal/evolve.State).Digest":    true,
	"(*github.com/evoswarm/evoswarm/internal/evolve.State).Clone":     true,

	"(*github.com/evoswarm/evoswarm/internal/evolve.State).MarshalBinary": true,
}

// driven are the types of the coordinator whose methods its driver calls, outside the loop that calls Step.
var driven = map[string]bool{"Fold": true, "Summaries": true, "Summary": true, "Pack": true, "Unpack": true, "Advance": true}

// loopRule reports calls of slow functions in the coordinator, also by way of methods that are for its driver.
func loopRule(c *code) (found []finding) {
	if c.room != "coordinator" {
		return nil
	}
	for _, f := range c.Syntax {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && (driven[receiver(c.TypesInfo.Defs[fn.Name])] || fn.Recv == nil && fn.Name.Name == "Check") {
				continue // Check is the driver's, too
			}
			ast.Inspect(d, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				fn, ok := c.TypesInfo.Uses[id].(*types.Func)
				switch {
				case !ok:
				case slow[fn.FullName()]:
					found = append(found, c.at(n, "%s in the loop: let the driver do it", fn.FullName()))
				case fn.Pkg() == c.Types && driven[receiver(fn)]:
					found = append(found, c.at(n, "%s is the driver's", fn.Name()))
				}
				return true
			})
		}
	}
	return found
}

// receiver names the type that a method belongs to.
func receiver(o types.Object) string {
	fn, ok := o.(*types.Func)
	if !ok || fn.Signature().Recv() == nil {
		return ""
	}
	t := fn.Signature().Recv().Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name()
	}
	return ""
}

func TestLoop(t *testing.T) { report(t, loopRule) }

func TestLoopFixture(t *testing.T) {
	wanted(t, "testdata/loop", loopRule(fixture(t, "loop", "coordinator")))
}
