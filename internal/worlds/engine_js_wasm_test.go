package worlds_test

import (
	"errors"
	"testing"
	"time"

	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/internal/episode"
	"github.com/evoswarm/evoswarm/internal/worlds"
)

// TestUseFastest: the worlds that the host of this test brings are those of this program, and give its bits.
func TestUseFastest(t *testing.T) {
	defer worlds.Use(worlds.Go)
	for _, w := range worlds.Table {
		begin := time.Now()
		engine, err := worlds.UseFastest(w.ID)
		t.Logf("%s: %v", w.ID, time.Since(begin))
		if engine != worlds.C || err != nil {
			t.Errorf("%s: got engine %q, error %v", w.ID, engine, err)
		}
	}
	if err := worlds.Use(worlds.C); err != nil {
		t.Error(err)
	}
}

func TestUseOfAbsentWorlds(t *testing.T) {
	defer worlds.Use(worlds.Go)
	if engine, err := worlds.UseFastest("Nothing-v0"); engine != worlds.Go || !errors.Is(err, worlds.ErrAbsent) {
		t.Errorf("got engine %q, error %v", engine, err)
	}
	if err := worlds.Use("rust"); !errors.Is(err, worlds.ErrUnknown) {
		t.Errorf("got error %v, want ErrUnknown", err)
	}
}

// linear is a setup of CartPole with a linear policy, and its parameters.
func linear() (s episode.Setup, theta []float32) {
	s = episode.Setup{ObsDim: 4, ActDim: 1, Widest: 2, Lanes: 2, Hold: 1, Limit: 10}
	s.Net.Layers, s.Net.Sizes[0], s.Net.Sizes[1] = 1, 4, 2
	return s, make([]float32, 8)
}

// TestPlayThatCannotBe: what worlds.wasm has no memory for is left to Go, and so is everything after it has failed.
// It comes last, since the module is of no use after that.
func TestPlayThatCannotBe(t *testing.T) {
	defer worlds.Use(worlds.Go)
	if err := worlds.Use(worlds.C, "CartPole-v1"); err != nil {
		t.Fatal(err)
	}
	play := func(s episode.Setup, theta []float32) bool {
		_, ok := worlds.Play(worlds.Find("CartPole-v1"), &s, nil, []uint64{1, 2}, theta, nil, nil, make([]float64, 2), nil)
		return ok
	}
	s, theta := linear()
	if !play(s, theta) {
		t.Fatal("an ordinary candidate was not played")
	}
	wide := s
	wide.Widest = 1 << 28
	if play(wide, theta) {
		t.Error("working memory of 4 GiB was there")
	}
	if !play(s, theta) {
		t.Error("an ordinary candidate was not played after one without memory")
	}
	if _, ok := worlds.Play(worlds.Find("Pendulum-v1"), &s, nil, []uint64{1}, theta, nil, nil, make([]float64, 1), nil); ok {
		t.Error("a world was played that has not been tested")
	}
	outside := s
	outside.Net.Sizes[1] = 1 << 26 // more weights than the memory has
	if play(outside, theta) {
		t.Error("a layer outside of the memory was computed")
	}
	if play(s, theta) {
		t.Error("an ordinary candidate was played after a failure")
	}
	if err := worlds.Use(worlds.C, "CartPole-v1"); !errors.Is(err, worlds.ErrDiffers) {
		t.Errorf("got %v, want ErrDiffers", err)
	}
}
