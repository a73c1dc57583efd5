package replay

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
	"github.com/evoswarm/evoswarm/internal/store"
	"github.com/evoswarm/evoswarm/node/verb"
)

// trained makes a log and returns its name and what training said about each generation.
func trained(t testing.TB, options runspec.Options, until solo.Until) (string, []solo.Progress) {
	t.Helper()
	spec, err := runspec.NewSpec(options)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := seedlog.NewRules(spec)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run.seedlog")
	log, err := store.OpenLog(path, rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []solo.Progress
	_, err = solo.Train(t.Context(), solo.Config{Log: log, Until: until, OnGeneration: func(p solo.Progress) { all = append(all, p) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return path, all
}

// The best entry is the one that training itself saw do best, and of equal ones the last.
func TestReplayAtBest(t *testing.T) {
	path, all := trained(t, runspec.Options{Env: "CartPole-v1", Strategy: "dises", Seed: 5, Settings: runspec.Settings{"population": uint64(16)}}, solo.Until{Evaluations: 16 * 25})
	best := all[0]
	for _, p := range all {
		if *p.Return >= *best.Return {
			best = p
		}
	}
	s := &verb.IO{Out: io.Discard, Err: new(bytes.Buffer)}
	for _, workers := range []int{1, 2} {
		r, found, err := (&Source{At: "best", Workers: workers}).Log(t.Context(), s, path)
		if err != nil {
			t.Fatal(err)
		}
		if r.Height != best.Gen || r.Link != best.Head || found.Return != *best.Return || found.Seen != len(all) {
			t.Errorf("best of %d is height %d with %v, want %d with %v of %d", found.Seen, r.Height, found.Return, best.Gen, *best.Return, len(all))
		}
	}
}

// The solved entry is the one that training ends at.
func TestReplayAtSolved(t *testing.T) {
	path, all := trained(t, runspec.Options{Env: "CartPole-v1", Seed: 2}, solo.Until{Solved: true})
	s := &verb.IO{Out: io.Discard, Err: new(bytes.Buffer)}
	r, _, err := (&Source{At: "solved"}).Log(t.Context(), s, path)
	if err != nil {
		t.Fatal(err)
	}
	if last := all[len(all)-1]; r.Height != last.Gen || r.Link != last.Head {
		t.Errorf("solved at height %d, training ended at %d", r.Height, last.Gen)
	}
}
