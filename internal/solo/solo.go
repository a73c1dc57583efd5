// Package solo trains on one machine: a swarm of one, without a network.
//
// Floor 5, drivers: floors 5 and 6 import it.
package solo

import (
	"context"
	"crypto/ed25519"
	"errors"
	"sync/atomic"
	"time"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// ErrNotSolo is returned by Train for the run of a swarm.
var ErrNotSolo = errors.New("solo: not a run on one machine")

// Until says when Train ends: at the first of these that comes true. Zero: only when its context ends.
type Until struct {
	Solved      bool          // the mean policy passed the test
	Evaluations uint64        // the run has at least this many evaluations, those of the log resumed included; 0: no limit
	Steps       uint64        // the run's training took at least this many env-steps, those of the log resumed included; 0: no limit
	Duration    time.Duration // this much time has passed since Train began; 0: no limit
}

// Log is where Train keeps generations: a [store.Log], or one in memory. Its methods are called from one goroutine at a
// time.
type Log interface {
	// Replayed is what the log held when it was opened. Read-only.
	Replayed() *seedlog.Replayed
	// Append writes one generation, which stands on the one before.
	Append(entry *seedlog.Entry, seal *seedlog.Seal, claims []*seedlog.Claim) error
	// Sync makes everything appended durable.
	Sync() error
}

// Config says what to train and until when.
type Config struct {
	Log          Log           // of a solo run, just opened; Train appends to it but does not close it
	Pool         *rollout.Pool // of the run's rules; nil: one over all cores is made
	Until        Until
	OnGeneration func(Progress) // called in order for each new generation once it is durable, from one other goroutine; nil: none
}

// Progress describes one generation that is in the log for good.
type Progress struct {
	Gen             uint64 // height of its entry
	Head            seedlog.Link
	Evaluations     uint64   // of the run so far, held-out episodes not included
	Steps           uint64   // env-steps of the run's training so far
	EvaluationSteps uint64   // env-steps of held-out episodes of this process so far
	Best, Mean      float64  // fitness of the generation's evaluations; invalid ones left out (all invalid: 0)
	Return          *float64 // mean return of the look at the mean policy, if there was one
}

// Result is where Train ended. Everything up to it is durable.
type Result struct {
	Solved          bool   // the test ended the training, as Until.Solved asks for
	SolvedAt        uint64 // first generation of this process that passed the test, whatever ended the training; 0: none
	Gen             uint64 // height of the head
	Head            seedlog.Link
	State           *evolve.State // at the head
	Evaluations     uint64        // of the run, those of the log resumed included
	Steps           uint64        // env-steps of the run's training
	EvaluationSteps uint64        // env-steps of held-out episodes of this process
	Looks, Tests    int           // of this process
	Return          *float64      // mean return of the newest held-out evaluation or test; nil without either
}

// Train goes on with the run of cfg.Log until cfg.Until or ctx ends; then the error is that of ctx and the result is
// valid too. The head after n generations depends on the spec alone: not on workers, nor on how often it was
// resumed. The fsync of a generation runs while the next ones are computed; nothing is reported before it is durable.
func Train(ctx context.Context, cfg Config) (Result, error) {
	t, err := newTrainer(ctx, cfg)
	if err != nil {
		return Result{}, err
	}
	go t.write()
	err = t.loop()
	close(t.records)
	if failed := <-t.written; failed != nil {
		err = failed
	}
	return t.result, err
}

// record is a generation on its way to the disk.
type record struct {
	entry    *seedlog.Entry
	claims   []*seedlog.Claim
	progress Progress
}

type trainer struct {
	ctx     context.Context
	cfg     Config
	rules   *seedlog.Rules
	key     ed25519.PrivateKey
	start   time.Time
	parent  seedlog.Parent
	result  Result      // while shown is open, the look alone writes what it counts, and nobody the rest
	solved  atomic.Bool // by the look that is under way
	shown   chan bool   // tells that the last generation was looked at and sent; nil: it was, or there is none
	records chan record
	written chan error    // what ended the writer
	broken  chan struct{} // closed when the writer failed
}

// maxPending bounds the generations that wait for the disk.
const maxPending = 256

func newTrainer(ctx context.Context, cfg Config) (*trainer, error) {
	from := cfg.Log.Replayed()
	if !from.Rules.Spec.Solo() {
		return nil, ErrNotSolo
	}
	if cfg.Pool == nil {
		cfg.Pool = rollout.NewPool(from.Rules.Plan, 0)
	}
	return &trainer{
		ctx: ctx, cfg: cfg, rules: from.Rules, key: seedlog.SoloKey(from.Rules.Spec), start: time.Now(), parent: from.Parent,
		result:  Result{Gen: from.Height, Head: from.Link, State: from.State, Evaluations: from.Evaluations, Steps: from.Steps},
		records: make(chan record, maxPending), written: make(chan error, 1), broken: make(chan struct{}),
	}, nil
}

// loop runs generations until something says stop. A log that is resumed is first looked at as it was left. The look at a
// generation runs beside the candidates of the next one, so that no core waits for the last episode of either; what the
// candidates gave is thrown away if the look ends the training.
func (t *trainer) loop() error {
	if t.result.Gen > 0 && t.cfg.Until.Solved && !t.reached() {
		t.look()
		if t.result.Solved {
			return nil
		}
	}
	for !t.reached() {
		claims, err := t.measure()
		if !t.settle() || t.result.Solved {
			return nil
		}
		if errors.Is(err, rollout.ErrCanceled) {
			return t.ctx.Err() // nil: out of time, or the writer failed
		}
		if err != nil {
			return err
		}
		t.show(t.apply(claims))
	}
	t.settle()
	return nil
}

// reached reports whether a limit ends the training.
func (t *trainer) reached() bool {
	u := t.cfg.Until
	return u.Evaluations > 0 && t.result.Evaluations >= u.Evaluations || u.Steps > 0 && t.result.Steps >= u.Steps ||
		u.Duration > 0 && time.Since(t.start) >= u.Duration
}

// cancelled is asked before each candidate.
func (t *trainer) cancelled() bool {
	select {
	case <-t.broken:
		return true
	default:
		return t.solved.Load() || t.ctx.Err() != nil || t.cfg.Until.Duration > 0 && time.Since(t.start) >= t.cfg.Until.Duration
	}
}

// measure computes the claims of the next generation.
func (t *trainer) measure() ([]*seedlog.Claim, error) {
	chunks := t.rules.Spec.Generation.Evaluations / t.rules.EvaluationsPerChunk()
	return t.rules.Measure(t.cfg.Pool, t.result.State, t.parent.Link, t.key, chunks, t.cancelled)
}

// apply makes an entry of claims and moves to it.
func (t *trainer) apply(claims []*seedlog.Claim) record {
	entry, next := t.rules.NewEntry(t.result.State, t.parent, 1, t.rules.Origin, claims)
	_, link := entry.Encode()
	t.parent = seedlog.Parent{Link: link, Height: entry.Height, Term: entry.Term}
	t.result.Steps += entry.Steps + t.rules.ObserveSteps(next) - t.rules.ObserveSteps(t.result.State)
	t.result.Gen, t.result.Head, t.result.State = entry.Height, link, next
	t.result.Evaluations += entry.Evaluations
	p := Progress{Gen: entry.Height, Head: link, Evaluations: t.result.Evaluations, Steps: t.result.Steps}
	p.Best, p.Mean = summary(claims)
	return record{entry, claims, p}
}

// show begins to look at the generation that r describes and to send it to the writer then: settle waits for that.
func (t *trainer) show(r record) {
	t.shown = make(chan bool, 1)
	go func(shown chan<- bool) {
		r.progress.Return = t.look()
		r.progress.EvaluationSteps = t.result.EvaluationSteps
		select {
		case t.records <- r:
			shown <- true
		case <-t.broken:
			shown <- false
		}
	}(t.shown)
}

// settle waits until the last generation is looked at and sent. It reports whether the writer still takes them.
func (t *trainer) settle() bool {
	if t.shown == nil {
		return true
	}
	sent := <-t.shown
	t.shown = nil
	return sent
}

// summary returns the best and the mean of the valid fitness values of claims.
func summary(claims []*seedlog.Claim) (best, mean float64) {
	n := 0
	for _, c := range claims {
		for _, f := range c.Fitness {
			if f == evolve.InvalidFitness {
				continue
			}
			x := rollout.FromFitness(f)
			if n == 0 || x > best {
				best = x
			}
			mean += x
			n++
		}
	}
	return best, mean / float64(max(n, 1))
}

// look runs the mean policy on fresh validate episodes if the spec asks for it at this height, and tests it if they
// went well enough. It returns the mean return of the look.
func (t *trainer) look() *float64 {
	if t.result.Gen%t.rules.Spec.Checks.Every != 0 {
		return nil
	}
	t.result.Looks++
	looked := t.returns(t.rules.ValidateSeeds(t.result.Head))
	t.result.Return = &looked
	if t.result.SolvedAt == 0 && looked >= t.rules.Env.SolvedReturn {
		t.result.Tests++
		tested := t.returns(t.rules.TestSeeds(t.result.Head, t.rules.Spec.Checks.Test))
		t.result.Return = &tested
		if tested >= t.rules.Env.SolvedReturn {
			t.result.SolvedAt, t.result.Solved = t.result.Gen, t.cfg.Until.Solved
			t.solved.Store(t.result.Solved)
		}
	}
	return &looked
}

// returns is the mean return of held-out episodes of the mean policy.
func (t *trainer) returns(seeds []uint64) float64 {
	each := make([]float64, len(seeds))
	t.result.EvaluationSteps += t.cfg.Pool.Returns(t.result.State, seeds, each)
	sum := 0.0
	for _, x := range each {
		sum += x
	}
	return sum / float64(len(each))
}

// write seals generations and takes them to the disk, as many at once as have come, and reports them.
func (t *trainer) write() {
	var err error
	for r := range t.records {
		if err != nil {
			continue
		}
		batch := append([]record{r}, t.pending()...)
		if err = t.keep(batch); err != nil {
			close(t.broken)
		}
	}
	t.written <- err
}

// pending returns the generations that wait already.
func (t *trainer) pending() []record {
	var batch []record
	for len(t.records) > 0 {
		r, ok := <-t.records
		if !ok {
			break
		}
		batch = append(batch, r)
	}
	return batch
}

func (t *trainer) keep(batch []record) error {
	for _, r := range batch {
		if err := t.cfg.Log.Append(r.entry, seedlog.NewSeal(r.entry, t.key, nil), r.claims); err != nil {
			return err
		}
	}
	if err := t.cfg.Log.Sync(); err != nil {
		return err
	}
	if t.cfg.OnGeneration != nil {
		for _, r := range batch {
			t.cfg.OnGeneration(r.progress)
		}
	}
	return nil
}
