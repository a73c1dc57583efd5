package main

import (
	"encoding/json"
	"errors"
	"testing"

	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

func linear() rollout.Setup {
	return rollout.Setup{EnvID: "CartPole-v1", Policy: policy.Spec{Kind: "linear", Head: "argmax"}}
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

func TestTheaterPlaysWholeEpisodes(t *testing.T) {
	th, err := newTheater(linear())
	if err != nil {
		t.Fatal(err)
	}
	th.state = &evolve.State{Gen: 3, Theta: make([]float32, th.policy.Dim())}
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

func TestTheaterKeepsThePolicyOfAnEpisode(t *testing.T) {
	th, err := newTheater(linear())
	if err != nil {
		t.Fatal(err)
	}
	th.state = &evolve.State{Gen: 1, Theta: make([]float32, th.policy.Dim())}
	play(t, th, 1)
	th.state = &evolve.State{Gen: 2, Theta: make([]float32, th.policy.Dim())}
	if got := play(t, th, 1).Frames[0].Gen; got != 1 {
		t.Errorf("got generation %d in mid-episode, want 1", got)
	}
	play(t, th, maxPlay)
	if got := play(t, th, 1).Frames[0].Gen; got != 2 {
		t.Errorf("got generation %d in the next episode, want 2", got)
	}
}

func TestTheaterWithoutState(t *testing.T) {
	th, err := newTheater(linear())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := th.play(1, 0); !errors.Is(err, evolve.ErrState) {
		t.Errorf("got %v, want ErrState", err)
	}
}
