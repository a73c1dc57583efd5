package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/settings"
	"github.com/evoswarm/evoswarm/node/verb"
)

// plan is what to try, a TOML file.
type plan struct {
	Worlds []*world `toml:"world"`
}

// world is an environment whose settings are to be found.
type world struct {
	Env     string   `toml:"env"`
	Share   float64  `toml:"share"`   // of the cores, in relation to the others' shares
	Workers int      `toml:"workers"` // cores of each trial on fresh seeds; 0: 1. Trials on tuning seeds have one
	Tuning  []uint64 `toml:"tuning"`  // seeds by which settings are chosen
	Fresh   []uint64 `toml:"fresh"`   // seeds on which the choice is run then
	Confirm []string `toml:"confirm"` // strategies whose best settings are run too; the best of all always are
	Keep    float64  `toml:"keep"`    // share of the settings that a round keeps; 0: a half
	Rounds  int      `toml:"rounds"`  // 0: as many as leave one of the settings
	Trials  []string `toml:"trials"`  // settings, as flags of evonode train

	held time.Duration // cores that its trials had, times how long; guarded by the gate
}

// readPlan reads a plan and refuses what cannot be run.
func readPlan(name string) (*plan, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var p plan
	if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&p); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(p.Worlds) == 0 {
		return nil, fmt.Errorf("%s: no [[world]]", name)
	}
	for _, w := range p.Worlds {
		if err := w.complete(); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, w.Env, err)
		}
	}
	return &p, nil
}

// complete fills in defaults and checks everything before the first trial begins.
func (w *world) complete() error {
	if w.Workers == 0 {
		w.Workers = 1
	}
	if w.Keep == 0 {
		w.Keep = 0.5
	}
	if !(w.Share > 0) || w.Workers < 0 || !(w.Keep > 0 && w.Keep < 1) || w.Rounds < 0 || len(w.Trials) == 0 || len(w.Tuning) == 0 {
		return fmt.Errorf("want a share above 0, keep between 0 and 1, workers and rounds from 0, and at least one of trials and of tuning")
	}
	if w.Rounds == 0 {
		for n := len(w.Trials); n > 1; n = w.kept(n) {
			w.Rounds++
		}
		w.Rounds = max(w.Rounds, 1)
	}
	for _, flags := range w.Trials {
		if _, err := rulesOf(w.Env, flags, w.Tuning[0]); err != nil {
			return fmt.Errorf("%q: %w", flags, err)
		}
	}
	return nil
}

// kept is how many of n settings a round keeps.
func (w *world) kept(n int) int { return max(1, min(n-1, int(w.Keep*float64(n)))) }

// rulesOf returns the rules of the run that evonode train would make of such flags.
func rulesOf(env, flags string, seed uint64) (*seedlog.Rules, error) {
	var f settings.Flags
	fs := verb.NewFlags()
	f.Bind(fs)
	if _, err := fs.Parse(strings.Fields(flags), "train"); err != nil {
		return nil, err
	}
	o, err := f.Options(env)
	if err != nil {
		return nil, err
	}
	o.Seed = seed
	return runspec.New(o)
}
