package envs_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/envs/envtest"
	"github.com/evoswarm/evoswarm/internal/noise"
)

func TestAllIsSortedAndComplete(t *testing.T) {
	var got []string
	for _, s := range envs.All() {
		got = append(got, s.ID)
	}
	for _, want := range []string{"Acrobot-v1", "CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1"} {
		if !slices.Contains(got, want) {
			t.Errorf("All() lacks %s", want)
		}
	}
	if !slices.IsSortedFunc(got, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }) {
		t.Errorf("All() = %v, want it sorted", got)
	}
}

// TestThresholds compares the environments with Gymnasium's registry.
func TestThresholds(t *testing.T) {
	for _, want := range []struct {
		id     string
		steps  int
		solved float64
		ours   bool
	}{
		{"Acrobot-v1", 500, -100, false},
		{"Ant-v5", 1000, 6000, false},
		{"BipedalWalker-v3", 1600, 300, false},
		{"BipedalWalkerHardcore-v3", 2000, 300, false},
		{"CartPole-v1", 500, 475, false},
		{"HalfCheetah-v5", 1000, 4800, false},
		{"Hopper-v5", 1000, 3800, false},
		{"Humanoid-v5", 1000, 6000, true},
		{"InvertedDoublePendulum-v5", 1000, 9100, false},
		{"InvertedPendulum-v5", 1000, 950, false},
		{"LunarLander-v3", 1000, 200, false},
		{"LunarLanderContinuous-v3", 1000, 200, false},
		{"MountainCar-v0", 200, -110, false},
		{"MountainCarContinuous-v0", 999, 90, false},
		{"Pendulum-v1", 200, -200, true},
		{"Reacher-v5", 50, -3.75, false},
		{"Swimmer-v5", 1000, 360, false},
		{"Walker2d-v5", 1000, 5000, true},
	} {
		s, err := envs.Find(want.id)
		if err != nil {
			t.Fatal(err)
		}
		if s.MaxSteps != want.steps || s.SolvedReturn != want.solved || s.SolvedOurs != want.ours || s.Revision != 1 {
			t.Errorf("%s: %d steps, solved at %v (ours: %t), revision %d, want %+v", s.ID, s.MaxSteps, s.SolvedReturn, s.SolvedOurs, s.Revision, want)
		}
	}
}

func TestFind(t *testing.T) {
	for _, id := range []string{"CartPole-v1", "cartpole-v1", " CARTPOLE-V1 "} {
		if s, err := envs.Find(id); err != nil || s.ID != "CartPole-v1" {
			t.Errorf("Find(%q) = %v, %v, want CartPole-v1", id, s, err)
		}
	}
}

func TestFindNamesTheNearest(t *testing.T) {
	for _, tt := range []struct{ id, want string }{
		{"CartPole", "CartPole-v1"},
		{"CartPole-v0", "CartPole-v1"},
		{"cratpole-v1", "CartPole-v1"},
		{"pendulm", "Pendulum-v1"},
		{"MountainCar", "MountainCar-v0"},
		{"MountainCarContinous-v0", "MountainCarContinuous-v0"},
		{"acro", "Acrobot-v1"},
		{"LunarLander-v2", "LunarLander-v3"},
		{"bipedal", "BipedalWalker-v3"},
	} {
		_, err := envs.Find(tt.id)
		if !errors.Is(err, envs.ErrUnknown) {
			t.Errorf("Find(%q) = %v, want an error that wraps ErrUnknown", tt.id, err)
			continue
		}
		if !strings.Contains(err.Error(), "nearest: "+tt.want) {
			t.Errorf("Find(%q) = %q, want it to name %s first", tt.id, err, tt.want)
		}
	}
	for _, id := range []string{"", "x", "zzzzzzzzzzzzzzzzzzzzzz"} {
		if _, err := envs.Find(id); !errors.Is(err, envs.ErrUnknown) || strings.Contains(err.Error(), "nearest") {
			t.Errorf("Find(%q) = %v, want ErrUnknown and no suggestion", id, err)
		}
	}
}

func TestRegisterRefuses(t *testing.T) {
	good := *envs.All()[0]
	for name, spoil := range map[string]func(*envs.Spec){
		"taken id":       func(*envs.Spec) {},
		"no id":          func(s *envs.Spec) { s.ID = "" },
		"no revision":    func(s *envs.Spec) { s.ID, s.Revision = "new", 0 },
		"short bounds":   func(s *envs.Spec) { s.ID, s.ObsLow = "new", nil },
		"no constructor": func(s *envs.Spec) { s.ID, s.New = "new", nil },
		"one action":     func(s *envs.Spec) { s.ID, s.Action = "new", envs.DiscreteSpace(1) },
		"no box":         func(s *envs.Spec) { s.ID, s.Action = "new", envs.Space{Dim: 2} },
		"no view":        func(s *envs.Spec) { s.ID, s.View = "new", envs.Bounds{} },
	} {
		t.Run(name, func(t *testing.T) {
			s := good
			spoil(&s)
			before := len(envs.All())
			defer func() {
				if recover() == nil || len(envs.All()) != before {
					t.Errorf("Register took a spec with %s", name)
				}
			}()
			envs.Register(&s)
		})
	}
}

// broken is an environment that misbehaves as its fields say.
type broken struct {
	spec   *envs.Spec
	obs    float32
	reward float64
	values int
	write  int
	length float64 // that obs has, 0: any
}

func (b *broken) Spec() *envs.Spec                    { return b.spec }
func (b *broken) State() []float64                    { return make([]float64, b.values) }
func (b *broken) SetState([]float64, []float32) error { return nil }
func (b *broken) Draw(*envs.Scene)                    {}
func (b *broken) Reset(_ *envs.Stream, obs []float32) {
	b.Step(nil, nil, obs)
	obs[b.write] = b.obs
}
func (b *broken) Step(_ *envs.Stream, _ []float64, obs []float32) (float64, bool) {
	n := len(obs)
	if b.length != 0 {
		n = int(b.length)
	}
	for i := range n {
		obs[i] = 0
	}
	return b.reward, false
}

// stretched is a broken environment with a parameter, the length of its observations.
type stretched struct{ *broken }

func (s stretched) SetParam(_ int, value float64) { s.length = value }

// Training needs no drawing, no state, and nothing for people to read; who asks for them is told what is missing. The
// environments of this module have it all.
func TestBareEnv(t *testing.T) {
	id := unused("Bare")
	s := envtest.Bare()
	s.ID = id
	s.State = []envs.Var{{Name: "x"}}
	if err := envs.Add(s); !errors.Is(err, envs.ErrSpec) || !strings.Contains(err.Error(), "has no State and SetState") {
		t.Errorf("Add with a description of no state gives %v, want ErrSpec", err)
	}
	s.State = nil
	if err := s.CanDraw(); !errors.Is(err, envs.ErrLacks) || !strings.Contains(err.Error(), id+" cannot be drawn") {
		t.Errorf("CanDraw gives %v, want ErrLacks", err)
	}
	if _, err := s.NewStateful(); !errors.Is(err, envs.ErrLacks) {
		t.Errorf("NewStateful gives %v, want ErrLacks", err)
	}
	for _, s := range envs.All() {
		if strings.HasPrefix(s.ID, "Bare") {
			continue // of an earlier run of this test
		}
		if err := s.CanDraw(); err != nil {
			t.Error(err)
		}
		if _, err := s.NewStateful(); err != nil {
			t.Error(err)
		}
		if s.Title == "" || s.Doc == "" || s.Name() != s.Title {
			t.Errorf("%s: title %q, name %q, doc of %d bytes", s.ID, s.Title, s.Name(), len(s.Doc))
		}
	}
	if s.Name() != id {
		t.Errorf("Name() = %q, want the id", s.Name())
	}
	if err := envs.Add(s); err != nil {
		t.Error(err)
	}
}

// TestAddRefuses checks that environments of others are refused in words, and nothing is registered.
func TestAddRefuses(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		want  string
		spoil func(*envs.Spec, *broken)
	}{
		{"ID has 0 characters", func(s *envs.Spec, _ *broken) { s.ID = "" }},
		{"ID has 65 characters", func(s *envs.Spec, _ *broken) { s.ID = strings.Repeat("x", 65) }},
		{"ID holds '/'", func(s *envs.Spec, _ *broken) { s.ID = "a/b" }},
		{`there is an environment "CartPole-v1" already`, func(s *envs.Spec, _ *broken) { s.ID = "cartpole-V1" }},
		{"Revision is 0", func(s *envs.Spec, _ *broken) { s.Revision = 0 }},
		{"MaxSteps is -1", func(s *envs.Spec, _ *broken) { s.MaxSteps = -1 }},
		{"FPS is 0", func(s *envs.Spec, _ *broken) { s.FPS = 0 }},
		{"SolvedReturn is NaN", func(s *envs.Spec, _ *broken) { s.SolvedReturn = nan }},
		{"New is nil", func(s *envs.Spec, _ *broken) { s.New = nil }},
		{"New returns nil", func(s *envs.Spec, _ *broken) { s.New = func() envs.Env { return nil } }},
		{"View is empty", func(s *envs.Spec, _ *broken) { s.View.MaxX = nan }},
		{"ObsDim is 0", func(s *envs.Spec, _ *broken) { s.ObsDim = 0 }},
		{"ObsLow and ObsHigh have 1 and 2 values, want 2 each", func(s *envs.Spec, _ *broken) { s.ObsLow = s.ObsLow[:1] }},
		{"ObsLow[1] and ObsHigh[1] are NaN and 1", func(s *envs.Spec, _ *broken) { s.ObsLow[1] = nan }},
		{"Action is", func(s *envs.Spec, _ *broken) { s.Action = envs.Space{Discrete: true, N: 1, Dim: 1} }},
		{"Action.Low[0] and Action.High[0] are 1 and -1", func(s *envs.Spec, _ *broken) { s.Action = envs.BoxSpace(1, 1, -1) }},
		{"Action.N is 3", func(s *envs.Spec, _ *broken) { s.Action.N = 3 }},
		{`its Params[0] is named "Wind"`, func(s *envs.Spec, _ *broken) { s.Params = []envs.Param{{Name: "Wind", Kind: envs.RealParam, High: 1}} }},
		{`its Params[0] is named ""`, func(s *envs.Spec, _ *broken) { s.Params = []envs.Param{{Kind: envs.RealParam, High: 1}} }},
		{`two Params named g`, func(s *envs.Spec, _ *broken) {
			s.Params = []envs.Param{{Name: "g", Kind: envs.RealParam, High: 1}, {Name: "g", Kind: envs.RealParam, High: 1}}
		}},
		{`Params g is of the kind "float"`, func(s *envs.Spec, _ *broken) { s.Params = []envs.Param{{Name: "g", Kind: "float", High: 1}} }},
		{`Params g ranges from 0 to NaN`, func(s *envs.Spec, _ *broken) { s.Params = []envs.Param{{Name: "g", Kind: envs.RealParam, High: nan}} }},
		{`Params g ranges from 1 to 1`, func(s *envs.Spec, _ *broken) {
			s.Params = []envs.Param{{Name: "g", Kind: envs.RealParam, Low: 1, High: 1}}
		}},
		{`0 and 1 for a bool`, func(s *envs.Spec, _ *broken) { s.Params = []envs.Param{{Name: "g", Kind: envs.BoolParam, High: 2}} }},
		{`want whole numbers within`, func(s *envs.Spec, _ *broken) {
			s.Params = []envs.Param{{Name: "g", Kind: envs.IntegerParam, High: 1e300}}
		}},
		{`its default: bad parameter of the environment: g is 2`, func(s *envs.Spec, _ *broken) {
			s.Params = []envs.Param{{Name: "g", Kind: envs.RealParam, Default: 2, High: 1}}
		}},
		{`it has 1 Params, and no SetParam`, func(s *envs.Spec, _ *broken) { s.Params = []envs.Param{{Name: "g", Kind: envs.RealParam, High: 1}} }},
		{"it has 33 Params", func(s *envs.Spec, _ *broken) { s.Params = make([]envs.Param, 33) }},
		{"State[0] is", func(s *envs.Spec, _ *broken) { s.State[0].Name = "" }},
		{"State returns 3 values, the description has 1", func(_ *envs.Spec, b *broken) { b.values = 3 }},
		{"another description", func(_ *envs.Spec, b *broken) { b.spec = envs.All()[0] }},
		{"Reset writes NaN as observation 1", func(_ *envs.Spec, b *broken) { b.obs = float32(nan) }},
		{"reward of NaN", func(_ *envs.Spec, b *broken) { b.reward = nan }},
		{"a first reset and step panics: runtime error: index out of range [7]", func(_ *envs.Spec, b *broken) { b.write = 7 }},
		{"Reset writes NaN as observation 1, or does not write it", func(_ *envs.Spec, b *broken) { b.length, b.write = 1, 0 }},
		{"its ObsBounds returns others for the defaults", func(s *envs.Spec, b *broken) { stretch(s, b, func(n int) int { return n + 1 }) }},
		{"bad parameter of the environment: with Broken-v0 length=1: its ObsDim is 0", func(s *envs.Spec, b *broken) {
			stretch(s, b, func(n int) int { return min(n, 2) &^ 1 })
		}},
		{"with Broken-v0 length=5: Reset writes NaN as observation 5, or does not write it", func(s *envs.Spec, b *broken) {
			stretch(s, b, func(n int) int { return n + n/5 })
		}},
		{"index out of range [4]", func(s *envs.Spec, b *broken) { stretch(s, b, func(n int) int { return n - n/5 }) }},
	} {
		b := &broken{values: 1, write: 1}
		s := &envs.Spec{
			ID: "Broken-v0", Revision: 1, Title: "Broken", Doc: "A test.", ObsDim: 2, ObsLow: []float64{-1, -1}, ObsHigh: []float64{1, 1},
			Action: envs.BoxSpace(1, -1, 1), State: []envs.Var{{Name: "x", Low: 0, High: 0}}, MaxSteps: 10, FPS: 10,
			View: envs.Bounds{MaxX: 1, MaxY: 1}, New: func() envs.Env { return b },
		}
		b.spec = s
		c.spoil(s, b)
		before := len(envs.All())
		if err := envs.Add(s); !errors.Is(err, envs.ErrSpec) || !strings.Contains(err.Error(), c.want) || len(envs.All()) != before {
			t.Errorf("Add gives %v, want ErrSpec with %q", err, c.want)
		}
	}
	if err := envs.Add(nil); !errors.Is(err, envs.ErrSpec) {
		t.Errorf("Add(nil) gives %v, want ErrSpec", err)
	}
}

// stretch makes the environment of s one whose observations are as long as its parameter says, and described as length
// says.
func stretch(s *envs.Spec, b *broken, length func(n int) int) {
	s.Params = []envs.Param{{Name: "length", Kind: envs.IntegerParam, Default: 2, Low: 1, High: 5}}
	s.New = func() envs.Env { b.length, b.write = 2, 0; return stretched{b} }
	s.ObsBounds = func(values []float64) (low, high []float64) {
		for range length(int(values[0])) {
			low, high = append(low, -1), append(high, 1)
		}
		return low, high
	}
}

// unused returns an id that no environment has: what is registered stays so when a test runs again in the same process.
func unused(name string) string {
	for n := 0; ; n++ {
		id := fmt.Sprintf("%s%d-v0", name, n)
		if _, err := envs.Find(id); err != nil {
			return id
		}
	}
}

// TestObsBounds makes descriptions with observations of other lengths.
func TestObsBounds(t *testing.T) {
	id := unused("Stretched")
	b := &broken{values: 1}
	s := &envs.Spec{
		ID: id, Title: "Stretched", Doc: "Observations as long as a parameter says.", Revision: 1, ObsDim: 2, ObsLow: []float64{-1, -1}, ObsHigh: []float64{1, 1},
		Action: envs.BoxSpace(1, -1, 1), State: []envs.Var{{Name: "x"}}, MaxSteps: 10, FPS: 10, View: envs.Bounds{MaxX: 1, MaxY: 1},
	}
	b.spec = s
	stretch(s, b, func(n int) int { return n })
	if err := envs.Add(s); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 5; n++ {
		with, err := s.With(envs.Params{"length": float64(n)})
		if err != nil || with.ObsDim != n || len(with.ObsLow) != n || len(with.ObsHigh) != n {
			t.Errorf("with length=%d: %+v, %v", n, with, err)
			continue
		}
		if back, err := with.With(nil); err != nil || back != s {
			t.Errorf("with length=%d and back: %+v, %v", n, back, err)
		}
	}
	if s.ObsDim != 2 {
		t.Errorf("the description has %d observations now", s.ObsDim)
	}
}

// Every drawn action is one of the environment's, and all of them occur.
func TestSample(t *testing.T) {
	for _, s := range envs.All() {
		draws, act, seen := noise.NewStream(1, noise.DomainAction), make([]float64, s.Action.Dim), map[float64]bool{}
		for range 200 {
			s.Action.Sample(act, &draws)
			if err := envs.CheckAction(s, act); err != nil {
				t.Fatalf("%s: %v", s.ID, err)
			}
			for d, a := range act {
				if !s.Action.Discrete && (a < s.Action.Low[d] || a > s.Action.High[d]) {
					t.Fatalf("%s: value %d is %v, want one in %v .. %v", s.ID, d, a, s.Action.Low[d], s.Action.High[d])
				}
			}
			seen[act[0]] = true
		}
		if s.Action.Discrete && len(seen) != s.Action.N || !s.Action.Discrete && len(seen) != 200 {
			t.Errorf("%s: 200 draws gave %d actions", s.ID, len(seen))
		}
	}
}

func TestCheckAction(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct {
		id  string
		act []float64
		ok  bool
	}{
		{"CartPole-v1", []float64{0}, true},
		{"CartPole-v1", []float64{1}, true},
		{"CartPole-v1", []float64{2}, false},
		{"CartPole-v1", []float64{-1}, false},
		{"CartPole-v1", []float64{0.5}, false},
		{"CartPole-v1", []float64{nan}, false},
		{"CartPole-v1", []float64{inf}, false},
		{"CartPole-v1", nil, false},
		{"CartPole-v1", []float64{0, 0}, false},
		{"Pendulum-v1", []float64{-2}, true},
		{"Pendulum-v1", []float64{17.5}, true},
		{"Pendulum-v1", []float64{nan}, false},
		{"Pendulum-v1", []float64{-inf}, false},
		{"Pendulum-v1", []float64{0, 0}, false},
	} {
		s, err := envs.Find(tt.id)
		if err != nil {
			t.Fatal(err)
		}
		err = envs.CheckAction(s, tt.act)
		if tt.ok != (err == nil) || (err != nil && !errors.Is(err, envs.ErrAction)) {
			t.Errorf("CheckAction(%s, %v) = %v, want ok %t", tt.id, tt.act, err, tt.ok)
		}
	}
}

func TestIndex(t *testing.T) {
	for _, tt := range []struct {
		a    float64
		want int32
	}{
		{0, 0}, {1, 1}, {2, 2}, {1.9, 1}, {-1, 0}, {3, 2}, {1e300, 2},
		{math.NaN(), 0}, {math.Inf(1), 2}, {math.Inf(-1), 0}, {math.Copysign(0, -1), 0},
	} {
		if got := envs.Index(tt.a, 3); got != tt.want {
			t.Errorf("Index(%v, 3) = %d, want %d", tt.a, got, tt.want)
		}
	}
}

func TestReal(t *testing.T) {
	for _, tt := range []struct{ a, want float64 }{
		{0.25, 0.25}, {-7, -7}, {math.NaN(), -1}, {math.Inf(1), envs.Unbounded},
		{math.Inf(-1), -envs.Unbounded}, {math.MaxFloat64, envs.Unbounded}, {math.MaxFloat32, math.MaxFloat32},
	} {
		if got := envs.Real(tt.a, -1); got != tt.want {
			t.Errorf("Real(%v, -1) = %v, want %v", tt.a, got, tt.want)
		}
	}
}
