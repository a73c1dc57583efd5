package mutants

import (
	"flag"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

var (
	run  = flag.Bool("mutants.run", false, "run the tests against every mutant, which takes minutes")
	few  = flag.Bool("mutants.few", false, "run the test alone that each mutant names")
	only = flag.String("mutants.only", "", "only those whose file and name have this")
)

// leastKilled is the part of all mutants that tests must notice, in 40.
const leastKilled = 38

// root is the module's folder.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestMutantsApply: each mutant still changes the source, what it makes of it is Go, and the test that it names is
// there.
func TestMutantsApply(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutants {
		if names[m.Name] || m.Breaks == "" || m.Old == m.New {
			t.Errorf("%q is there twice, changes nothing or breaks nothing", m.Name)
		}
		names[m.Name] = true
		text, err := m.apply(root(t))
		if err == nil {
			_, err = parser.ParseFile(token.NewFileSet(), m.File, text, 0)
		}
		if err != nil {
			t.Errorf("%q: %v", m.Name, err)
		}
		if err := m.named(root(t)); err != nil {
			t.Error(err)
		}
	}
	if len(mutants) < 40 {
		t.Errorf("got %d mutants, want 40", len(mutants))
	}
}

// TestMutants runs against each mutant the test that it names and, if that does not notice, the suites. Without a
// mutant they pass, or it would say nothing that they fail: make test sees to that.
func TestMutants(t *testing.T) {
	if !*run {
		t.Skip("-mutants.run runs it")
	}
	dir, at := t.TempDir(), root(t)
	killed, all := 0, 0
	for _, m := range mutants {
		if !strings.Contains(m.File+" "+m.Name, *only) {
			continue
		}
		all++
		v, err := m.Run(at, dir, !*few)
		switch {
		case err != nil:
			t.Error(err)
		case v.Killed:
			killed++
			t.Logf("killed    %-44s %4.0f s  %s", m.Name, v.Took.Seconds(), v.Noticed)
		default:
			t.Logf("SURVIVED  %-44s %4.0f s  %s: %s", m.Name, v.Took.Seconds(), m.File, m.Breaks)
		}
	}
	t.Logf("%d of %d mutants were killed", killed, all)
	if killed*40 < all*leastKilled {
		t.Errorf("want %d of 40 killed", leastKilled)
	}
}
