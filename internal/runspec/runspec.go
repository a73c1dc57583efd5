// Package runspec writes the genesis block of a run from what a user asks for: an environment, a strategy and
// the settings that differ from their preset.
//
// Floor 2, learning: floors 2 to 6 import it.
package runspec

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// testEpisodes is the number of episodes of the test that decides "solved": Gymnasium defines its thresholds so.
const testEpisodes = 100

// Options say what a new run is to be. Everything else comes from the preset of the environment and the strategy.
type Options struct {
	Env       string        // id of the environment, in upper or lower case
	EnvParams envs.Params   // parameters of the environment that differ from its defaults; read-only
	Strategy  string        // name; empty: the one that learns the environment best, in a swarm of format 2 of those that grow with it
	Params    evolve.Params // settings of the strategy that differ from the preset's; read-only
	Seed      uint64        // of the initial parameters
	Settings  Settings      // of the rest, where it differs from the preset; read-only

	// Init is what a run on one machine begins with; nil: fresh parameters.
	Init *Init

	// Nonce makes the run of a swarm unique; the peer that starts it draws it at random. Zero: a run on one
	// machine, whose generations are closed by their evaluations alone and whose key follows from the spec.
	Nonce [16]byte
	// Origin is the key of the peer that starts a swarm's run; it leads at first. Unused without a Nonce.
	Origin seedlog.Peer
	// Format is that of a swarm's run, 1 or 2; 0: 2. A run on one machine is of format 1, unless it has EnvParams.
	Format uint64
	// Until is what ends a swarm's run of format 2; nil: nothing.
	Until *seedlog.Until
	// GenerationMS is how long a generation of such a run lasts at least, in milliseconds; 0: 250.
	GenerationMS uint64
	// Trust lists the keys of such a run of trusted keys, in any order; Origin is one of them anyway. nil: the run is
	// open to all.
	Trust []seedlog.Peer
	// StepNS is what an env-step takes, in nanoseconds, where it is not what the environment says: claims fit that. 0:
	// what it says.
	StepNS int
}

// NewSpec is the spec of New.
func NewSpec(o Options) (*seedlog.Spec, error) {
	rules, err := New(o)
	if err != nil {
		return nil, err
	}
	return rules.Spec, nil
}

// New makes the genesis block of a run, with every default written out, and resolves it. The same options
// give the same bytes. Errors wrap those of envs.Find, envs.Spec.With, evolve.Find, evolve.Method.Complete and
// policy.New, ErrSetting, ErrPopulation, ErrInit and seedlog.ErrSpec. Canonical.
func New(o Options) (*seedlog.Rules, error) {
	env, err := envs.Find(o.Env)
	if err != nil {
		return nil, err
	}
	if env, err = env.With(o.EnvParams); err != nil {
		return nil, err
	}
	d, method, err := o.draft(env)
	if err != nil {
		return nil, err
	}
	spec := &seedlog.Spec{
		Format: seedlog.Format1, Numerics: seedlog.Numerics,
		Env:          seedlog.EnvRef{ID: env.ID, Revision: env.Revision, Params: env.Given()},
		Policy:       d.Policy,
		Strategy:     seedlog.StrategyRef{Name: method.Name, Revision: method.Revision, Params: d.Params},
		Episodes:     seedlog.Episodes{Count: d.Episodes, Shared: d.SharedEpisodes, Conditions: d.conditions()},
		Generation:   seedlog.Generation{Evaluations: d.Population, Chunk: d.chunk},
		Checks:       seedlog.Checks{Every: d.EvalEvery, Validate: d.EvalEpisodes, Test: testEpisodes},
		Observations: d.normalization(),
		Seed:         o.Seed, Nonce: o.Nonce[:], Origin: o.Origin[:],
	}
	if spec.Solo() {
		spec.Origin = make([]byte, len(o.Origin))
	}
	// Checks the policy and the strategy, and tells whether it is antithetic.
	plan, err := rollout.NewPlan(spec.Setup())
	if err != nil {
		return nil, err
	}
	if err := setGeneration(spec, env, cmp.Or(o.StepNS, rollout.StepNS(env)), plan.Strategy.Antithetic()); err != nil {
		return nil, err
	}
	switch {
	case spec.Solo() && spec.Env.Params != nil:
		spec.Format, spec.SpotChecks, spec.Generation.Duration = seedlog.Format2, spotChecks(), generationMS
	case spec.Solo():
	case o.format() == seedlog.Format2:
		setFormat2(spec, plan.Strategy, cmp.Or(o.GenerationMS, generationMS))
		spec.Until = o.Until
		setTrust(spec, o.Trust)
	case o.Format != seedlog.Format1:
		return nil, fmt.Errorf("%w: format %d; runs are of format %d or %d", ErrSetting, o.Format, seedlog.Format1, seedlog.Format2)
	case spec.Env.Params != nil || o.Until != nil || o.Trust != nil:
		return nil, fmt.Errorf("%w: a run of format 1 has no end, no trusted keys and no parameters of its environment", ErrSetting)
	}
	if o.Init != nil {
		return newSuccessor(spec, plan, o.Init)
	}
	setOrigin(spec)
	return seedlog.NewRules(spec)
}

// newSuccessor completes the spec of a run that begins with weights.
func newSuccessor(spec *seedlog.Spec, plan rollout.Plan, init *Init) (*seedlog.Rules, error) {
	if !spec.Solo() {
		return nil, fmt.Errorf("%w: a swarm cannot send them to those who join", ErrInit)
	}
	weights, err := init.weightsFor(plan)
	if err != nil {
		return nil, err
	}
	digest := weights.Digest()
	spec.Successor = &seedlog.Successor{Run: init.Run, Head: init.Head, State: digest[:]}
	setOrigin(spec)
	return seedlog.NewSuccessor(spec, weights)
}

// setOrigin writes the key of a run on one machine, which follows from all the rest.
func setOrigin(spec *seedlog.Spec) {
	if spec.Solo() {
		origin := seedlog.PeerOf(seedlog.SoloKey(spec))
		spec.Origin = origin[:]
	}
}

// format is that of a swarm's run.
func (o *Options) format() uint64 { return cmp.Or(o.Format, seedlog.Format2) }

// preferred is the strategy of a run that names none.
func (o *Options) preferred(envID string) string {
	if o.Nonce != [16]byte{} && o.format() == seedlog.Format2 {
		return presets.SwarmStrategy
	}
	return presets.DefaultStrategy(envID)
}

// draft returns the preset of the environment and the strategy, changed as o asks.
func (o *Options) draft(env *envs.Spec) (*draft, evolve.Method, error) {
	name := o.Strategy
	if name == "" {
		name = o.preferred(env.ID)
	}
	method, err := evolve.Find(name)
	if err != nil {
		return nil, method, err
	}
	preset := presets.For(env, method)
	params := evolve.Params{}
	maps.Copy(params, preset.Params)
	maps.Copy(params, o.Params)
	if preset.Params, err = method.Complete(params); err != nil {
		return nil, method, err
	}
	if o.Nonce != [16]byte{} {
		preset.Population = max(preset.Population, swarmClaim)
	}
	d := newDraft(preset)
	return d, method, d.apply(o.Settings)
}
