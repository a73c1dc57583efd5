package worlds_test

import (
	"errors"
	"testing"
	"time"

	_ "github.com/evoswarm/evoswarm/envs/all"
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
