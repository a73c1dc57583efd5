package main

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	_ "github.com/evoswarm/evoswarm/envs/all"
	_ "github.com/evoswarm/evoswarm/examples/tumble" // in space
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// reel is what play returns, as the page reads it.
type reel struct {
	Frames []frame `json:"frames"`
	FPS    int     `json:"fps"`
}

type frame struct {
	Scene     envs.Scene `json:"scene"`
	Gen       uint64     `json:"gen"`
	Candidate bool       `json:"candidate"`
	Step      int        `json:"step"`
	Return    float64    `json:"return"`
	Over      bool       `json:"over"`
}

func linear() rollout.Setup {
	method, _ := evolve.Find("dises")
	params, _ := method.Complete(nil)
	return rollout.Setup{EnvID: "CartPole-v1", Policy: policy.Spec{Kind: "linear", Head: "argmax"}, Strategy: method.Name, Params: params, Population: 8}
}

func play(t *testing.T, th *theater, n int) reel {
	t.Helper()
	data, err := th.play(n, 7)
	if err != nil {
		t.Fatal(err)
	}
	var r reel
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// begun is the encoded initial state of what th shows.
func begun(t *testing.T, th *theater) []byte {
	t.Helper()
	b, err := th.plan.Initial(1).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func cast(t *testing.T, th *theater, gen uint64) {
	t.Helper()
	if err := th.cast(gen, begun(t, th)); err != nil {
		t.Fatal(err)
	}
}

func TestTheaterPlaysWholeEpisodes(t *testing.T) {
	th, err := newTheater(linear())
	if err != nil {
		t.Fatal(err)
	}
	cast(t, th, 3)
	var frames []frame
	for len(frames) == 0 || !frames[len(frames)-1].Over {
		r := play(t, th, 5)
		if r.FPS != 50 {
			t.Fatalf("got %d frames a second, want 50", r.FPS)
		}
		frames = append(frames, r.Frames...)
		if len(frames) > 600 {
			t.Fatal("the episode does not end")
		}
	}
	for i, f := range frames {
		if f.Step != i || f.Return != float64(i) || f.Gen != 3 || len(f.Scene.Shapes) == 0 {
			t.Fatalf("frame %d: got step %d, return %v, generation %d, %d shapes", i, f.Step, f.Return, f.Gen, len(f.Scene.Shapes))
		}
	}
	if first := play(t, th, 1).Frames[0]; first.Step != 0 {
		t.Errorf("got step %d after the end, want a new episode", first.Step)
	}
}

// TestTheaterDrawsEveryWorld: the page gets the drawing, whatever shapes it has.
func TestTheaterDrawsEveryWorld(t *testing.T) {
	for _, env := range envs.All() {
		setup := linear()
		setup.EnvID = env.ID
		if !env.Action.Discrete {
			setup.Policy.Head = "clip"
		}
		th, err := newTheater(setup)
		if err != nil {
			t.Fatal(err)
		}
		cast(t, th, 1)
		frames := play(t, th, 30).Frames
		last := frames[len(frames)-1].Scene
		if !reflect.DeepEqual(last, th.scene) || len(last.Shapes) == 0 {
			t.Errorf("%s: got %+v, want %+v", env.ID, last, th.scene)
		}
	}
}

// blurred is an environment whose camera is nowhere.
type blurred struct {
	envs.Env
	spec *envs.Spec
}

func (b *blurred) Spec() *envs.Spec   { return b.spec }
func (b *blurred) Draw(s *envs.Scene) { s.Look(b.spec.View, envs.Camera{Distance: math.NaN()}) }

// A drawing that the page could not read is an error that says why, and no reel.
func TestTheaterRefusesABadDrawing(t *testing.T) {
	cart, err := envs.Find("CartPole-v1")
	if err != nil {
		t.Fatal(err)
	}
	spec := *cart
	spec.ID = "Blurred-v0"
	spec.New = func() envs.Env { return &blurred{cart.New(), &spec} }
	setup := linear()
	th, err := newTheater(setup)
	if err != nil {
		t.Fatal(err)
	}
	cast(t, th, 1)
	th.plan.Env = &spec
	th.player = rollout.NewPlayer(th.plan)
	for range 2 {
		if _, err := th.play(1, 0); !errors.Is(err, envs.ErrScene) || !strings.Contains(err.Error(), "drawing Blurred-v0: bad scene: the camera's distance is NaN") {
			t.Errorf("got %v", err)
		}
	}
}

func TestTheaterKeepsThePolicyOfAnEpisode(t *testing.T) {
	th, err := newTheater(linear())
	if err != nil {
		t.Fatal(err)
	}
	cast(t, th, 1)
	play(t, th, 1)
	cast(t, th, 2)
	if got := play(t, th, 1).Frames[0].Gen; got != 1 {
		t.Errorf("got generation %d in mid-episode, want 1", got)
	}
	play(t, th, maxPlay)
	if got := play(t, th, 1).Frames[0].Gen; got != 2 {
		t.Errorf("got generation %d in the next episode, want 2", got)
	}
}

func TestTheaterBreaksOffOldEpisodes(t *testing.T) {
	th, err := newTheater(linear())
	if err != nil {
		t.Fatal(err)
	}
	cast(t, th, 1)
	play(t, th, 1)
	cast(t, th, 1+maxLag)
	if got := play(t, th, 1).Frames[0].Gen; got != 1 {
		t.Errorf("got generation %d, want the episode to continue", got)
	}
	cast(t, th, 2+maxLag)
	if got := play(t, th, 1).Frames[0]; got.Gen != 2+maxLag || got.Step != 0 {
		t.Errorf("got generation %d, step %d, want a new episode of %d", got.Gen, got.Step, 2+maxLag)
	}
}

func TestTheaterWithoutPolicy(t *testing.T) {
	th, err := newTheater(linear())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := th.play(1, 0); !errors.Is(err, errNoPolicy) {
		t.Errorf("got %v, want errNoPolicy", err)
	}
}

// TestTheaterActsLikeTheEvaluator plays a policy that is normalized in every way and holds its actions.
func TestTheaterActsLikeTheEvaluator(t *testing.T) {
	setup := linear()
	setup.Policy = policy.Spec{Kind: "mlp", Hidden: []uint64{8}, Activation: "tanh", Bias: true, Head: "argmax", VBN: true}
	setup.Episodes = rollout.Episodes{
		Conditions:   rollout.Conditions{Skip: 3, Bonus: 0.5, Cap: 2},
		Observations: &rollout.Observations{Kind: rollout.Frozen, Steps: 100, Clip: 5},
	}
	th, err := newTheater(setup)
	if err != nil {
		t.Fatal(err)
	}
	cast(t, th, 1)
	last := play(t, th, maxPlay).Frames
	got, want := last[len(last)-1].Return, make([]float64, 1)
	rollout.NewEvaluator(th.plan).Returns(th.plan.Initial(1), []uint64{7}, want)
	if got != want[0] {
		t.Errorf("got a return of %v, the evaluator's is %v", got, want[0])
	}
}

// A candidate plays at once, with the parameters that its seed and sign give; then the policy again.
func TestTheaterPlaysACandidate(t *testing.T) {
	th, err := newTheater(linear())
	if err != nil {
		t.Fatal(err)
	}
	cast(t, th, 3)
	if r := play(t, th, 5); r.Frames[0].Candidate {
		t.Fatal("the policy is called a candidate")
	}
	if err := th.castCandidate(7, begun(t, th), 99, -1); err != nil {
		t.Fatal(err)
	}
	r := play(t, th, 1000)
	if f := r.Frames[0]; !f.Candidate || f.Gen != 7 || f.Step != 0 {
		t.Fatalf("got %+v, want the first step of the candidate", f)
	}
	s := th.plan.Initial(1)
	one := s.Clone()
	th.plan.Strategy.Candidate(one.Theta, s, 99, -1)
	p := rollout.NewPlayer(th.plan)
	for p.Start(one, 7); !p.Over(); {
		p.Step()
	}
	if last := r.Frames[len(r.Frames)-1]; last.Return != p.Return() || last.Step != p.Steps() {
		t.Errorf("the candidate gets %v in %d steps, want %v in %d", last.Return, last.Step, p.Return(), p.Steps())
	}
	if err := th.castCandidate(7, begun(t, th), 99, -1); err != nil {
		t.Fatal(err)
	}
	play(t, th, 3)
	cast(t, th, 8)
	if f := play(t, th, 3).Frames[0]; f.Candidate || f.Gen != 8 || f.Step != 0 {
		t.Errorf("got %+v, want the policy at once", f)
	}
}
