package evoswarm

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
)

// Episodes say how candidates are evaluated. As part of Options, what is zero or nil is the preset's.
type Episodes struct {
	// Count is the number of episodes of each evaluation; its fitness is their mean return.
	Count int
	// Shared says whether all candidates of a generation meet the same episodes.
	Shared *bool
	// ActionNoise is the standard deviation of the Gaussian noise that is added to real actions, in training only.
	ActionNoise *float64
	// Bonus is taken off the reward of each step, such as a reward for being alive, in training only.
	Bonus *float64
	// Penalty bounds what a step can cost: a reward below -Penalty counts as -Penalty, in training only; 0: no bound.
	Penalty *float64
	// Cap ends an episode after so many times the running mean of their lengths, in training only; 0: no cap.
	Cap *float64
	// Skip is the number of steps that each action is held for; 1: one.
	Skip int
	// Observations says how observations are normalised before the policy sees them.
	Observations Observations
}

// Observations says how observations are normalised: (x - mean) / std, held to ±Clip.
type Observations struct {
	// Kind is where mean and standard deviation come from: "frozen", from a random policy before training; "running", from
	// episodes of the mean policy so far; or "none". "": the preset's.
	Kind     string
	Steps    int     // observations that frozen statistics are taken from; 0: the preset's, or 10,000
	Episodes int     // that each generation adds to running statistics; 0: the preset's, or 1
	Clip     float64 // 0: the preset's, or 10
}

// episodesOf describes the episodes of a preset.
func episodesOf(p presets.Preset) Episodes {
	c := p.Conditions
	e := Episodes{
		Count: int(p.Episodes), Shared: &p.SharedEpisodes, ActionNoise: &c.ActionNoise, Bonus: &c.Bonus, Penalty: &c.Penalty,
		Cap: &c.Cap, Skip: max(int(c.Skip), 1), Observations: Observations{Kind: runspec.NoObservations},
	}
	if o := p.Observations; o != nil {
		e.Observations = Observations{o.Kind, int(o.Steps), int(o.Episodes), o.Clip}
	}
	return e
}

// set makes them those of o.
func (e *Episodes) set(o *runspec.Options) {
	o.Episodes, o.Shared, o.ActionNoise, o.Bonus, o.Penalty = uint64(e.Count), e.Shared, e.ActionNoise, e.Bonus, e.Penalty
	o.Cap, o.Skip = e.Cap, uint64(e.Skip)
	n := e.Observations
	o.Observations = rollout.Observations{Kind: n.Kind, Steps: uint64(n.Steps), Episodes: uint64(n.Episodes), Clip: n.Clip}
}

// count is a whole number of the options.
type count struct {
	name  string
	value int
}

// checkCounts refuses numbers below 0.
func checkCounts(all ...count) error {
	for _, n := range all {
		if n.value < 0 {
			return fmt.Errorf("%w: %s is %d, want at least 0", ErrOptions, n.name, n.value)
		}
	}
	return nil
}
