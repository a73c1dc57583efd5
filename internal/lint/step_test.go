package lint

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/translate"
)

// stepRule holds step code to the kernel subset of Go (docs/spec/numerics.md) with the front end of the translator, so
// that one source can run in tabs and on GPUs. Step code is every file step.go in and below envs, every file of the
// engine envs/box2d (not of the worlds below it, and not state.go, which is for traces), every file of envs/mujoco and
// what unroll.py writes for its worlds, internal/policy/forward.go, and internal/episode.
func stepRule(c *code) []finding {
	rules := translate.Rules{Module: module, Step: func(path, file string) bool {
		if path == c.PkgPath {
			return isStep(c.room, file) // also of a fixture
		}
		room, _, _ := roomOf(path)
		return inModule(path) && isStep(room, file)
	}}
	if c.room == "internal/episode" {
		rules.Interface = "envs.Env"
	}
	var found []finding
	for _, r := range rules.Check(c.Package) {
		found = append(found, finding{r.File, r.Line, r.What})
	}
	return found
}

// unrolled are the files that envs/mujoco/unroll.py writes for a world.
var unrolled = []string{"model.go", "data.go", "integrate.go", "smooth.go", "collide.go", "constraint.go", "solver.go", "forces.go"}

func isStep(room, file string) bool {
	dir, name := filepath.Split(file)
	switch room {
	case "envs":
		dir = filepath.ToSlash(dir)
		return name == "step.go" || strings.Contains(dir, "/envs/mujoco/") && slices.Contains(unrolled, name) || strings.HasSuffix(dir, "/envs/mujoco/") ||
			strings.HasSuffix(dir, "/envs/box2d/") && name != "state.go"
	case "internal/policy":
		return name == "forward.go"
	case "internal/episode":
		return true
	}
	return false
}

func TestStep(t *testing.T) {
	report(t, stepRule)
	all, err := pure()
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, c := range all {
		for _, f := range c.Syntax {
			if isStep(c.room, c.Fset.Position(f.Package).Filename) {
				files++
			}
		}
	}
	t.Logf("%d files of step code", files)
}

// TestStepWhole checks what only the whole program tells, in all that step code calls: the order of calls that write,
// recursion, the stack, and that the translator has a text for everything.
func TestStepWhole(t *testing.T) {
	p, err := translate.LoadWorlds(root)
	if err != nil {
		t.Fatal(err)
	}
	found, functions, err := p.Check(translate.WorldsOptions(), func(path, file string) bool {
		room, _, ok := roomOf(path)
		return ok && isStep(room, file)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range found {
		t.Error(r)
	}
	if functions < 200 {
		t.Errorf("%d functions of step code only: were they found?", functions)
	}
}

// Which files are held to the subset: the engine's, not its tests' and worlds' wrappers.
func TestIsStep(t *testing.T) {
	for _, c := range []struct {
		room, file string
		want       bool
	}{
		{"envs", "/src/envs/step.go", true},
		{"envs", "/src/envs/spec.go", false},
		{"envs", "/src/envs/classic/pendulum/step.go", true},
		{"envs", "/src/envs/classic/pendulum/pendulum.go", false},
		{"envs", "/src/envs/box2d/joint.go", true},
		{"envs", "/src/envs/box2d/state.go", false},
		{"envs", "/src/envs/box2d/lunarlander/step.go", true},
		{"envs", "/src/envs/box2d/lunarlander/draw.go", false},
		{"envs", "/src/envs/mujoco/collide.go", true},
		{"envs", "/src/envs/mujoco/hopper/smooth.go", true},
		{"envs", "/src/envs/mujoco/hopper/draw.go", false},
		{"internal/policy", "/src/internal/policy/forward.go", true},
		{"internal/episode", "/src/internal/episode/loop.go", true},
		{"internal/rollout", "/src/internal/rollout/step.go", false},
	} {
		if got := isStep(c.room, c.file); got != c.want {
			t.Errorf("%s %s: got %v, want %v", c.room, c.file, got, c.want)
		}
	}
}

func TestStepFixture(t *testing.T) {
	wanted(t, "testdata/step", stepRule(fixture(t, "step", "envs/classic")))
	if got := stepRule(fixture(t, "stepgood", "envs/classic")); len(got) != 0 {
		t.Errorf("good step code: got %v", got)
	}
}
