package coordinator_test

import (
	"crypto/ed25519"
	"fmt"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// blocks is an archive in memory.
type blocks map[seedlog.Link][]byte

func (b blocks) Block(link seedlog.Link) ([]byte, bool) {
	data, ok := b[link]
	return data, ok
}

// First implements coordinator.Archive.
func (b blocks) First() uint64 { return 1 }

// At implements coordinator.Archive. Nobody asks for entries of old here.
func (b blocks) At(uint64) (entry, seal seedlog.Link, ok bool) { return entry, seal, false }

// Height implements coordinator.Archive.
func (b blocks) Height(seedlog.Link) (uint64, bool) { return 0, false }

// Summary implements coordinator.Archive.
func (b blocks) Summary(uint64) (height uint64, data []byte, ok bool) { return 0, nil, false }

// One peer starts a run, evaluates, and logs the first generation, alone. The driver is the loop: it passes time and
// results in, and carries out the actions in the order of their fields.
func Example() {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	origin := seedlog.PeerOf(key)
	rules, err := seedlog.NewRules(&seedlog.Spec{
		Format: seedlog.Format1, Numerics: seedlog.Numerics,
		Env:        seedlog.EnvRef{ID: "CartPole-v1", Revision: 1},
		Policy:     policy.Spec{Kind: "linear", Hidden: []uint64{}, Head: "argmax"},
		Strategy:   strategy("dises"),
		Episodes:   seedlog.Episodes{Count: 1, Shared: true},
		Generation: seedlog.Generation{Evaluations: 8, Open: true, Chunk: 4, Quota: 2, WeightSteps: 1 << 20},
		Checks:     seedlog.Checks{Every: 1, Validate: 1, Test: 1},
		Origin:     origin[:], Nonce: make([]byte, 16),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	archive := make(blocks)
	c, err := coordinator.New(coordinator.Config{Rules: rules, Key: key, Hub: true, Timing: coordinator.LAN(), Archive: archive, Slots: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for now := coordinator.Tick(1); c.Snapshot().Height < 1; now++ {
		actions := c.Step(now, coordinator.Passed{})
		for {
			for _, b := range actions.Blocks {
				archive[b.Link()] = b.Bytes()
			}
			for _, note := range actions.Notes {
				fmt.Println(note.Text)
			}
			if f := actions.Fold; f != nil {
				task, err := f.Task(rules, archive, nil)
				if err != nil {
					fmt.Println(err)
					return
				}
				actions = c.Step(now, f.Answer(rules, rules.Plan.Fold(task)))
				continue
			}
			if len(actions.Work) == 0 {
				break
			}
			w := actions.Work[0]
			actions = c.Step(now, coordinator.Evaluated{ID: w.ID, Results: evaluate(w.Task)})
		}
	}
	s := c.Snapshot()
	fmt.Printf("height %d after %d evaluations, %d of them by this peer\n", s.Height, s.Evaluations, s.Mine.Evaluations)
	// Output:
	// this peer leads term 1
	// height 1 after 8 evaluations, 8 of them by this peer
}

func strategy(name string) seedlog.StrategyRef {
	method, err := evolve.FindRevision(name, 1)
	if err != nil {
		panic(err)
	}
	params, err := method.Complete(nil)
	if err != nil {
		panic(err)
	}
	return seedlog.StrategyRef{Name: name, Revision: method.Revision, Params: params}
}

// evaluate takes the place of an evaluator, which would run episodes: every candidate gets the same result.
func evaluate(t rollout.Task) []rollout.CandidateResult {
	results := make([]rollout.CandidateResult, len(t.Seeds))
	for i := range results {
		results[i] = rollout.CandidateResult{Fitness: [2]int64{1 << 20}, Steps: 10}
	}
	return results
}
