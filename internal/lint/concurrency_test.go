package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"testing"
)

// hasWorkers names the rooms of floor 2 that compute on several cores.
var hasWorkers = map[string]bool{"internal/rollout": true, "internal/cores": true}

// concurrencyRule reports goroutines and channels, but for rooms that have workers.
func concurrencyRule(c *code) (found []finding) {
	if hasWorkers[c.room] {
		return nil
	}
	for _, f := range c.Syntax {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				found = append(found, c.at(n, "goroutine"))
			case *ast.SelectStmt:
				found = append(found, c.at(n, "select"))
			case *ast.ChanType, *ast.SendStmt:
				found = append(found, c.at(n, "channel"))
			case *ast.UnaryExpr:
				if n.Op == token.ARROW {
					found = append(found, c.at(n, "channel"))
				}
			case *ast.RangeStmt:
				if t := c.TypesInfo.TypeOf(n.X); t != nil {
					if _, ok := t.Underlying().(*types.Chan); ok {
						found = append(found, c.at(n, "channel"))
					}
				}
			}
			return true
		})
	}
	return found
}

func TestConcurrency(t *testing.T) { report(t, concurrencyRule) }

func TestConcurrencyFixture(t *testing.T) {
	wanted(t, "testdata/concurrency", concurrencyRule(fixture(t, "concurrency", "coordinator")))
}
