package seedlog

import (
	"crypto/ed25519"
	"crypto/sha256"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// newSpec returns a solo run of CartPole with a linear policy and two claims of two counters per generation.
func newSpec(t testing.TB, strategy string) *Spec {
	t.Helper()
	method, err := evolve.FindRevision(strategy, 1)
	if err != nil {
		t.Fatal(err)
	}
	params, err := method.Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	spec := &Spec{
		Format: Format1, Numerics: Numerics,
		Env:        EnvRef{ID: "CartPole-v1", Revision: 1},
		Policy:     policy.Spec{Kind: "linear", Hidden: []uint64{}, Head: "argmax"},
		Strategy:   StrategyRef{Name: method.Name, Revision: method.Revision, Params: params},
		Episodes:   Episodes{Count: 1, Shared: true},
		Generation: Generation{Evaluations: 4, Chunk: 2, Quota: 2, WeightSteps: 8000},
		Checks:     Checks{Every: 1, Validate: 8, Test: 100},
		Seed:       1, Nonce: make([]byte, 16), Origin: make([]byte, 32),
	}
	if strategy == "openai-es" {
		spec.Generation.Evaluations = 8
	}
	origin := PeerOf(SoloKey(spec))
	spec.Origin = origin[:]
	return spec
}

// strategySpec returns a solo run of CartPole with 16 evaluations per generation by any method as it is today.
func strategySpec(t testing.TB, method evolve.Method, actor policy.Spec) *Spec {
	t.Helper()
	params, err := method.Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	spec := newSpec(t, "dises")
	spec.Policy = actor
	spec.Strategy = StrategyRef{Name: method.Name, Revision: method.Revision, Params: params}
	spec.Generation = Generation{Evaluations: 16, Chunk: 4, Quota: 4, WeightSteps: 8000}
	strategy, err := method.New(params, evolve.Size{Dim: 8, Population: 16})
	if err != nil {
		t.Fatal(err)
	}
	if strategy.Antithetic() {
		spec.Generation.Chunk = 2
	}
	origin := PeerOf(SoloKey(spec))
	spec.Origin = origin[:]
	return spec
}

func newRules(t testing.TB, spec *Spec) *Rules {
	t.Helper()
	rules, err := NewRules(spec)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func newKey(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// made is one real generation.
type made struct {
	entry  *Entry
	seal   *Seal
	claims []*Claim
	state  *evolve.State // before it
}

// newChain runs n generations with the run's solo key.
func newChain(t testing.TB, rules *Rules, n int) ([]made, *evolve.State) {
	t.Helper()
	return newChainOf(t, rules, SoloKey(rules.Spec), n)
}

func newChainOf(t testing.TB, rules *Rules, key ed25519.PrivateKey, n int) ([]made, *evolve.State) {
	t.Helper()
	pool := rollout.NewPool(rules.Plan, 2)
	parent, state := Parent{Link: rules.Run}, rules.Initial()
	chunks := rules.Spec.Generation.Evaluations / rules.EvaluationsPerChunk()
	var all []made
	for range n {
		claims, err := rules.Measure(pool, state, parent.Link, key, chunks, nil)
		if err != nil {
			t.Fatal(err)
		}
		entry, next := rules.NewEntry(state, parent, 1, PeerOf(key), claims)
		all = append(all, made{entry, NewSeal(entry, key, nil), claims, state})
		_, link := entry.Encode()
		parent, state = Parent{Link: link, Height: entry.Height, Term: 1}, next
	}
	return all, state
}

// file is the log of a chain.
func file(rules *Rules, all ...made) []byte {
	b := rules.AppendBeginning(nil)
	for _, m := range all {
		b = AppendGeneration(b, m.entry, m.seal, m.claims)
	}
	return b
}
