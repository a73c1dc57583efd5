package evoswarm

import (
	"slices"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/internal/runspec"
)

// Envs returns the environments that Train takes, sorted by id: those of this module, and those that envs.Add
// added. The slice is the caller's, the descriptions are shared.
func Envs() []*envs.Spec { return envs.All() }

// Strategy describes an evolution strategy.
type Strategy struct {
	Name     string
	Revision uint64 // of what it computes; runs name it
	Doc      string // what it does, and its source
	Settings []Setting
}

// Setting describes one setting of a strategy.
type Setting struct {
	Name     string
	Doc      string
	Default  any      // a float64, or a string if there are Choices
	Min, Max float64  // bounds of a number, both included
	Integer  bool     // whether a number must have no fraction
	Choices  []string // of a string; nil for a number
}

// Strategies returns all strategies, sorted by name.
func Strategies() []Strategy {
	var all []Strategy
	for _, m := range evolve.Methods() {
		s := Strategy{Name: m.Name, Revision: m.Revision, Doc: m.Doc}
		for _, x := range m.Settings {
			s.Settings = append(s.Settings, Setting{x.Name, x.Doc, x.Default, x.Min, x.Max, x.Integer, slices.Clone(x.Choices)})
		}
		all = append(all, s)
	}
	return all
}

// Preset is what Train takes for an environment and a strategy where Options say nothing else.
type Preset struct {
	Env      string
	Strategy string
	Params   Params // complete
	Default  bool   // whether this one is taken if no strategy is named
	Trials   Trials // what was measured with it

	Population   int `setting:"population"`
	Policy       Policy
	Episodes     Episodes
	EvalEvery    int `setting:"eval-every"`
	EvalEpisodes int `setting:"eval-episodes"`
}

// Trials are training runs that were made with a preset. The zero value means that nobody has tried it.
type Trials struct {
	Runs, Solved int
	Steps        uint64 // median of the training env-steps until solved, rounded; 0 if the median run did not solve the environment
	Tuning       bool   // whether the settings were chosen by these very runs; otherwise their seeds were fresh
}

// Presets returns the preset of every strategy in every environment, sorted by environment, then strategy.
// The values are the caller's.
func Presets() []Preset {
	var all []Preset
	for _, env := range envs.All() {
		for _, m := range evolve.Methods() {
			p := presets.For(env, m)
			preset := Preset{Env: env.ID, Strategy: m.Name, Params: Params(p.Params), Default: m.Name == presets.DefaultStrategy(env.ID), Trials: Trials(p.Trials)}
			fill(&preset, runspec.SettingsOf(p))
			all = append(all, preset)
		}
	}
	return all
}
