package lint

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// offline names what never needs a network: who trains, sweeps or writes an environment links none.
var offline = []string{".", "./node/sweep", "./envs/...", "./examples/..."}

// network names the modules that only programs which meet others may link.
var network = []string{"github.com/libp2p", "github.com/quic-go", "github.com/pion", "github.com/prometheus"}

// networkImports returns the ways from packages of this module into network packages, and how many packages were seen.
func networkImports(t *testing.T, patterns ...string) (found []string, seen int) {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps, Dir: root, Env: os.Environ(),
	}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		seen++
		for path := range p.Imports {
			if below(network, path) && !below(network, p.PkgPath) {
				found = append(found, fmt.Sprintf("%s imports %s", p.PkgPath, path))
			}
		}
	})
	sort.Strings(found)
	return found, seen
}

func TestOffline(t *testing.T) {
	found, seen := networkImports(t, offline...)
	if len(found) > 0 {
		t.Errorf("%s must link no network package:\n%s", strings.Join(offline, ", "), strings.Join(found, "\n"))
	}
	t.Logf("%d packages, those of the standard library included", seen)
}

func TestOfflineFixture(t *testing.T) {
	if found, _ := networkImports(t, "./internal/mesh"); len(found) == 0 {
		t.Error("internal/mesh links no network package: the rule sees nothing")
	}
}
