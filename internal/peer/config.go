package peer

import (
	"crypto/ed25519"
	"log/slog"
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// Evaluator computes what the coordinator asks for. All methods return at once and may be called from any goroutine.
// The native one is [PoolEvaluator]; in the tab Web Workers do it.
type Evaluator interface {
	// Evaluate begins task under an id that is not in use, urgent tasks before others, and calls done once, from any
	// goroutine, unless Cancel or Close came first; after those done may be called or not. task is read-only and stays
	// valid.
	Evaluate(id uint64, task rollout.Task, urgent bool, done func([]rollout.CandidateResult, error))
	// Fold begins a fold under an id that is not in use, folds in the order of their coming and before all
	// other work, and calls done as Evaluate does: once, with one element per step. The last step has its
	// state, the others need not. It runs also while no core is lent: a peer that cannot fold cannot follow
	// the run. fold is read-only and stays valid.
	Fold(id uint64, fold rollout.Fold, done func([]rollout.Folded, error))
	// Cancel drops a task or a fold whose answer no longer matters. Unknown ids are ignored.
	Cancel(id uint64)
	// Slots is how many tasks of chunk counters each keep it busy. At least 1.
	Slots(chunk uint64) int
	// SetWorkers changes how many cores are lent, 0 for none: tasks then wait.
	SetWorkers(n int)
	// Workers is how many cores are lent.
	Workers() int
	// Devices is how many devices, such as GPUs, evaluate candidates too.
	Devices() int
	// Close ends all work and waits for what runs.
	Close()
}

// Validator is an Evaluator that can also run held-out episodes of a policy, between its other work.
type Validator interface {
	// Validate runs one episode per seed of the mean policy of state, which is read-only and stays valid,
	// before candidates if that is urgent, and calls done once with the returns, in order of the seeds, or with
	// an error; not at all if Close came first.
	Validate(state *evolve.State, episodeSeeds []uint64, urgent bool, done func(returns []float64, err error))
}

// Config is what a peer is made of. Zero values are defaults unless said otherwise.
type Config struct {
	Rules *seedlog.Rules     // required
	Key   ed25519.PrivateKey // required
	Kind  coordinator.Kind   // Native or Tab
	Hub   bool               // whether others can dial this peer

	// Mesh connects to the others; nil: alone. The peer owns it: Close closes it.
	Mesh *mesh.Mesh
	// Store keeps blocks and state; required. The peer owns it: Close closes it.
	Store store.Store
	// Reopen opens the store again after it failed, such as when the disk was full. While it fails the peer
	// neither leads nor works, and says so. nil: the peer stays so until it is started again.
	Reopen func() (store.Store, error)
	// Curve is what [Peer.Curve] gave at an earlier start; points whose entries the store does not hold as
	// canonical are left out.
	Curve []Point
	// Evaluator computes; required. The peer owns it: Close closes it.
	Evaluator Evaluator

	Timing coordinator.Timing // zero: coordinator.LAN
	Tick   time.Duration      // what a coordinator.Tick lasts; zero: 50 ms, for which the profiles are written

	// Decisive is how many results of an entry are re-run before following it; zero: 2 for natives, none for tabs.
	Decisive int
	// Audit is how many of 1024 claims of an entry are re-run after following it; zero: 32 for natives, none for tabs;
	// negative: none.
	Audit int
	// Mandate is how many entries a leader may append; zero: 20.
	Mandate uint64
	// Paused starts without own work.
	Paused bool
	// Seed is secret and draws timeouts and audits; zero: from crypto/rand.
	Seed uint64
	// Retry is how long to wait between two attempts to reopen the store; zero: 5 s.
	Retry time.Duration

	// Dropped, if not nil, is called when the store dropped the older part of the chain, which begins at a height now;
	// elsewhere says whether a hub that is heard has the whole run.
	Dropped func(first uint64, elsewhere bool)

	Logger *slog.Logger // nil: none
}
