package evoswarm

import (
	"fmt"
	"math"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Model is a trained policy: the mean policy at one height of a run. It is for one goroutine at a time.
type Model struct {
	rules *seedlog.Rules
	at    seedlog.Parent
	state *evolve.State
	actor *rollout.Actor
}

func newModel(rules *seedlog.Rules, at seedlog.Parent, state *evolve.State) *Model {
	m := &Model{rules, at, state, rollout.NewActor(rules.Plan)}
	m.actor.Load(state, state.Theta)
	return m
}

// Env returns the id of the environment that the policy acts in.
func (m *Model) Env() string { return m.rules.Env.ID }

// Policy describes the policy.
func (m *Model) Policy() Policy { return policyOf(m.rules.Spec.Policy) }

// Theta returns a copy of the parameters: for each layer the weights, [inputs, outputs] row by row, then the biases.
func (m *Model) Theta() []float32 { return append([]float32(nil), m.state.Theta...) }

// Act returns the action for an observation of the length in the environment's description:
// one integer for discrete actions, else one value for each dimension, within the environment's bounds. It
// panics for another length. Bit exact.
func (m *Model) Act(obs []float32) []float64 {
	if len(obs) != m.rules.Env.ObsDim {
		panic(fmt.Sprintf("evoswarm: observation of %d values, %s has %d", len(obs), m.rules.Env.ID, m.rules.Env.ObsDim))
	}
	act := make([]float64, m.rules.Policy.ActDim())
	m.actor.Act(obs, act)
	return act
}

// Evaluation is the result of held-out episodes.
type Evaluation struct {
	Episodes int
	Steps    uint64  // env-steps of all episodes
	Mean     float64 // return
	StdErr   float64 // of the mean; 0 for a single episode
	Min, Max float64
	Solved   bool // Mean is at least the environment's SolvedReturn
}

// maxEpisodes bounds Evaluate.
const maxEpisodes = 1 << 20

// Evaluate runs that many episodes of the run's test stream, which training never sees, on all cores: 1 to
// 2^20, else the error wraps ErrOptions. The same model gives the same figures everywhere.
func (m *Model) Evaluate(episodes int) (Evaluation, error) {
	if episodes < 1 || episodes > maxEpisodes {
		return Evaluation{}, fmt.Errorf("%w: %d episodes, want 1 to %d", ErrOptions, episodes, maxEpisodes)
	}
	returns := make([]float64, episodes)
	e := Evaluation{Episodes: episodes, Min: math.Inf(1), Max: math.Inf(-1)}
	e.Steps = rollout.NewPool(m.rules.Plan, 0).Returns(m.state, m.rules.TestSeeds(m.at.Link, uint64(episodes)), returns)
	for _, r := range returns {
		e.Mean += r
		e.Min, e.Max = min(e.Min, r), max(e.Max, r)
	}
	e.Mean /= float64(episodes)
	if episodes > 1 {
		squares := 0.0
		for _, r := range returns {
			squares += float64((r - e.Mean) * (r - e.Mean))
		}
		e.StdErr = math.Sqrt(squares / float64(episodes-1) / float64(episodes))
	}
	e.Solved = e.Mean >= m.rules.Env.SolvedReturn
	return e, nil
}
