// Package runspec writes the genesis block of a run from what a user asks for: an environment, a strategy and the settings
// that differ from their preset.
package runspec

import (
	"errors"
	"fmt"
	"maps"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// ErrPopulation is returned by NewSpec for a population that cannot be cut into claims.
var ErrPopulation = errors.New("runspec: bad population")

// testEpisodes is the number of episodes of the test that decides "solved", as Gymnasium's thresholds are meant.
const testEpisodes = 100

// swarmClaim is the least number of evaluations in a claim of a swarm: a claim's key, link and signature take 150 bytes,
// which are to be shared by enough results that one evaluation costs less than 16 bytes.
const swarmClaim = 32

// swarmClaimNS is how long the steps of a claim of a swarm may take on one core; of evaluations that take longer there are
// fewer in it. Of walks of 1,600 steps a tab does 32 in some seconds, and nodes would have closed the generation long
// before; and such evaluations are so rare that the log stays short.
const swarmClaimNS = 200_000_000

// Options says what a new run is to be. Everything else comes from the world's preset.
type Options struct {
	Env        string        // id of the world, without regard to case
	Strategy   string        // name; empty: the one that learns the world fastest
	Params     evolve.Params // settings that differ from the preset's; read-only
	Population uint64        // evaluations that close a generation, both signs counted; 0: the preset's, in a swarm at least 32
	Seed       uint64        // of the first parameters

	Policy   Policy // what differs from the preset's policy
	Episodes uint64 // per candidate; 0: the preset's
	Shared   *bool  // whether all candidates of a generation meet the same episodes; nil: the preset's
	Chunk    uint64 // seeds of a claim, made smaller until it divides the population; 0, and less than a swarm takes: as fits
	Every    uint64 // generations between two looks at the mean policy; 0: the preset's
	Validate uint64 // episodes of a look; 0: the preset's

	ActionNoise *float64 // as in rollout.Conditions; nil: the preset's
	Bonus       *float64 // the same
	Penalty     *float64 // the same
	Cap         *float64 // the same
	Skip        uint64   // the same; 1: none; 0: the preset's
	// Observations says how observations are normalised. Zero fields are the preset's, or frozen: 10,000 steps;
	// running: 1 episode; clip: 10. The kind NoObservations asks for none.
	Observations rollout.Observations

	// Init is what a run on one machine goes on from; nil: fresh parameters.
	Init *Init

	// Nonce makes the run of a swarm unique; drawn at random by who starts it. Zero: a run on one machine, whose
	// generations are closed by their evaluations alone and whose key follows from the spec.
	Nonce [16]byte
	// Origin is the key of who starts a swarm's run; it leads at first. Not used without a Nonce.
	Origin seedlog.Peer
}

// NewSpec is the spec of New.
func NewSpec(o Options) (*seedlog.Spec, error) {
	rules, err := New(o)
	if err != nil {
		return nil, err
	}
	return rules.Spec, nil
}

// New makes the genesis block of a run, with every default written out, and resolves it. The same options give the same
// bytes. Errors wrap those of envs.Find, evolve.Find, evolve.Method.Complete and policy.New, ErrPopulation, ErrInit and
// seedlog.ErrSpec. Canonical.
func New(o Options) (*seedlog.Rules, error) {
	env, err := envs.Find(o.Env)
	if err != nil {
		return nil, err
	}
	preset, method, err := settings(env, o)
	if err != nil {
		return nil, err
	}
	spec := &seedlog.Spec{
		Format: seedlog.Format, Numerics: seedlog.Numerics,
		Env:          seedlog.EnvRef{ID: env.ID, Revision: env.Revision},
		Policy:       preset.Policy,
		Strategy:     seedlog.StrategyRef{Name: method.Name, Revision: method.Revision, Params: preset.Params},
		Episodes:     seedlog.Episodes{Count: preset.Episodes, Shared: preset.SharedEpisodes, Conditions: preset.Conditions},
		Generation:   seedlog.Generation{Evaluations: preset.Population, Chunk: o.Chunk},
		Checks:       seedlog.Checks{Every: preset.EvalEvery, Validate: preset.EvalEpisodes, Test: testEpisodes},
		Observations: preset.Observations,
		Seed:         o.Seed, Nonce: o.Nonce[:], Origin: o.Origin[:],
	}
	if spec.Solo() {
		spec.Origin = make([]byte, len(o.Origin))
	}
	if n := preset.Population; n > seedlog.MaxEvaluations {
		return nil, fmt.Errorf("%w: %d evaluations; at most %d", ErrPopulation, n, seedlog.MaxEvaluations)
	}
	// Checks the policy and the strategy, and tells whether it is antithetic.
	plan, err := rollout.NewPlan(spec.Setup())
	if err != nil {
		return nil, err
	}
	if err := setGeneration(spec, env, plan.Strategy.Antithetic()); err != nil {
		return nil, err
	}
	if o.Init != nil {
		return newSuccessor(spec, plan, o.Init)
	}
	setOrigin(spec)
	return seedlog.NewRules(spec)
}

// newSuccessor completes the spec of a run that goes on from weights.
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

// settings returns the preset of the world and the strategy, changed as o asks.
func settings(env *envs.Spec, o Options) (presets.Preset, evolve.Method, error) {
	name := o.Strategy
	if name == "" {
		name = presets.DefaultStrategy(env.ID)
	}
	method, err := evolve.Find(name)
	if err != nil {
		return presets.Preset{}, method, err
	}
	preset := presets.For(env, method)
	params := evolve.Params{}
	maps.Copy(params, preset.Params)
	maps.Copy(params, o.Params)
	if preset.Params, err = method.Complete(params); err != nil {
		return preset, method, err
	}
	o.choose(&preset)
	return preset, method, nil
}

// setGeneration settles how work is cut and what an entry weighs at most.
func setGeneration(spec *seedlog.Spec, env *envs.Spec, antithetic bool) error {
	g := &spec.Generation
	signs := uint64(1)
	if antithetic {
		signs = 2
	}
	switch {
	case !spec.Solo():
		g.Chunk = max(g.Chunk, min(swarmClaim, swarmClaimNS/evaluationNS(env, spec.Episodes.Count))/signs, 1)
	case g.Chunk == 0:
		g.Chunk = seedlog.MaxChunk // nobody waits for a part of the work: fewer claims make a shorter log
	}
	if g.Evaluations == 0 || g.Evaluations%signs != 0 || g.Evaluations > seedlog.MaxEvaluations {
		return fmt.Errorf("%w: %d evaluations; %s takes a multiple of %d up to %d", ErrPopulation, g.Evaluations, spec.Strategy.Name, signs, seedlog.MaxEvaluations)
	}
	var chunks uint64
	if g.Chunk, chunks = cutChunks(g.Evaluations/signs, g.Chunk); chunks > seedlog.MaxClaims {
		return fmt.Errorf("%w: %d evaluations cannot be cut into at most %d equal claims; take a number with more divisors, such as a power of two", ErrPopulation, g.Evaluations, seedlog.MaxClaims)
	}
	g.Open = !spec.Solo()
	// One peer alone can close a generation; in a swarm it may add as much again, so that many add more than one does.
	g.Quota = chunks
	if g.Open {
		g.Quota = min(2*chunks, seedlog.MaxClaims)
	}
	// Four times what a generation of whole episodes takes: growing beyond it wins no fork.
	g.WeightSteps = min(4*g.Evaluations*spec.Episodes.Count*uint64(env.MaxSteps), 1<<40)
	return nil
}

// envStepNS is what a step of a world takes that does not say so itself, and of the loop around it.
const envStepNS = 100

// StepNS is roughly how long a step of a world takes on one core, in nanoseconds.
func StepNS(env *envs.Spec) int { return max(env.StepNS, envStepNS) }

// evaluationNS is roughly how long the steps of an evaluation take on one core, if all of its episodes go to the limit.
func evaluationNS(env *envs.Spec, episodes uint64) uint64 {
	return uint64(StepNS(env)) * uint64(env.MaxSteps) * episodes
}

// cutChunks divides counters into equal claims: of the wished size or the next smaller one that divides, unless that makes too
// many claims, then of the smallest larger one.
func cutChunks(counters, wish uint64) (chunk, chunks uint64) {
	for chunk = min(max(wish, 1), counters, seedlog.MaxChunk); counters%chunk != 0; chunk-- {
	}
	for counters/chunk > seedlog.MaxClaims && chunk < seedlog.MaxChunk {
		for chunk++; chunk < seedlog.MaxChunk && counters%chunk != 0; chunk++ {
		}
	}
	if counters%chunk != 0 {
		return chunk, seedlog.MaxClaims + 1
	}
	return chunk, counters / chunk
}
