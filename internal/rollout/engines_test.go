package rollout_test

import (
	"reflect"
	"runtime"
	"testing"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/worlds"
)

// onEachEngine runs a test of golden answers with Go and, in a browser or Node, with the translated worlds.
func onEachEngine(t *testing.T, test func(t *testing.T)) {
	t.Run(worlds.Go, test)
	if runtime.GOOS != "js" {
		return
	}
	defer worlds.Use(worlds.Go)
	if err := worlds.Use(worlds.C); err != nil {
		t.Fatal(err)
	}
	t.Run(worlds.C, test)
}

// TestOtherWorldsPlayInGo: with the translation in use for one world, another one is played in Go, with the same
// results.
func TestOtherWorldsPlayInGo(t *testing.T) {
	if runtime.GOOS != "js" {
		t.Skip("the translation plays in browsers and Node only")
	}
	defer worlds.Use(worlds.Go)
	r := newRun(t, "Pendulum-v1", "openai-es")
	evaluate := func() []rollout.CandidateResult {
		got, err := rollout.NewPool(r.plan(), 0).Evaluate(r.task(2, 1, false), nil)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := evaluate()
	if err := worlds.Use(worlds.C, "CartPole-v1"); err != nil {
		t.Fatal(err)
	}
	if got := evaluate(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
