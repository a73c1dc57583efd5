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

// ErrNotSolo is returned by Train for the log of a swarm.
var ErrNotSolo = errors.New("the log is of a swarm, not of a run on one machine")

// Until says when Train ends: when the first of these comes true. Zero: only when its context ends.
type Until struct {
	Solved      bool          // the mean policy passed the test
	Evaluations uint64        // the run has at least this many evaluations, those of a resumed log included; 0: no limit
	Steps       uint64        // the run's training took at least this many env-steps, those of a resumed log included; 0: no limit
	Duration    time.Duration // this much time has passed since Train began; 0: no limit
}

// Log is where Train keeps generations: a [store.Log], or one in memory. Its methods are called from one
// goroutine at a time.
type Log interface {
	// Replayed is what the log held when it was opened. Read-only.
	Replayed() *seedlog.Replayed
	// Append writes one generation, whose parent is the one before.
	Append(entry *seedlog.Entry, seal *seedlog.Seal, claims []*seedlog.Claim) error
	// Sync makes everything appended durable.
	Sync() error
}

// Config says what to train and until when.
type Config struct {
	Log          Log               // of a solo run, just opened; Train appends to it but does not close it
	Pool         *rollout.Pool     // of the run's rules; nil: one over all cores is made
	Evaluator    seedlog.Evaluator // of candidates; nil: Pool
	Until        Until
	OnGeneration func(Progress) // called in order for each new generation once it is durable, from one other goroutine; nil: none
}

// Progress describes one generation that is in the log and durable.
type Progress struct {
	Gen             uint64 // height of its entry
	Head            seedlog.Link
	Evaluations     uint64   // of the run so far, held-out episodes not included
	Steps           uint64   // env-steps of the run's training so far
	EvaluationSteps uint64   // env-steps of held-out episodes of this process so far
	Best, Mean      float64  // fitness of the generation's evaluations; invalid ones left out (all invalid: 0)
	Return          *float64 // mean return of the held-out evaluation, if there was one
}

// Result is where Train ended. Everything up to it is durable.
type Result struct {
	Solved          bool   // the test ended the training, as Until.Solved asks for
	SolvedAt        uint64 // first generation of this process that passed the test, whatever ended the training; 0: none
	Gen             uint64 // height of the head
	Head            seedlog.Link
	State           *evolve.State // at the head
	Evaluations     uint64        // of the run, those of a resumed log included
	Steps           uint64        // env-steps of the run's training
	EvaluationSteps uint64        // env-steps of held-out episodes of this process
	HeldOut, Tests  int           // held-out evaluations, and tests for being solved, of this process
	Return          *float64      // mean return of the newest held-out evaluation or test; nil without either
}

// Train continues the run of cfg.Log until cfg.Until, or until ctx ends; then the error is that of ctx, and
// the result is valid too. The head after n generations depends on the spec alone: not on workers, nor on how
// often the run was resumed. The fsync of a generation runs while the next ones are computed; nothing is
// reported before it is durable.
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

// record is a generation on its way to the log.
type record struct {
	entry    *seedlog.Entry
	claims   []*seedlog.Claim
	progress Progress
}

type trainer struct {
	ctx      context.Context
	cfg      Config
	rules    *seedlog.Rules
	key      ed25519.PrivateKey
	start    time.Time
	parent   seedlog.Parent
	result   Result      // while finished is open, only the held-out evaluation writes, and only what it counts
	solved   atomic.Bool // by the held-out evaluation that is running
	finished chan bool   // tells that the last generation was evaluated and sent; nil: it was, or there is none
	records  chan record
	written  chan error    // what ended the writer
	broken   chan struct{} // closed when the writer failed
}

// maxPending bounds the generations that wait for the log.
const maxPending = 256

func newTrainer(ctx context.Context, cfg Config) (*trainer, error) {
	from := cfg.Log.Replayed()
	if !from.Rules.Spec.Solo() {
		return nil, ErrNotSolo
	}
	if cfg.Pool == nil {
		cfg.Pool = rollout.NewPool(from.Rules.Plan, 0)
	}
	if cfg.Evaluator == nil {
		cfg.Evaluator = cfg.Pool
	}
	return &trainer{
		ctx: ctx, cfg: cfg, rules: from.Rules, key: seedlog.SoloKey(from.Rules.Spec), start: time.Now(), parent: from.Parent,
		result:  Result{Gen: from.Height, Head: from.Link, State: from.State, Evaluations: from.Evaluations, Steps: from.Steps},
		records: make(chan record, maxPending), written: make(chan error, 1), broken: make(chan struct{}),
	}, nil
}

// loop runs generations until a limit is reached. A resumed log is evaluated first, as it was left. The
// held-out evaluation of a generation runs concurrently with the candidates of the next one, so that no core
// waits for the last episode of either; the results of the candidates are dropped if the evaluation ends the
// training.
func (t *trainer) loop() error {
	if t.result.Gen > 0 && t.cfg.Until.Solved && !t.reached() {
		t.evaluate()
		if t.result.Solved {
			return nil
		}
	}
	for !t.reached() {
		claims, err := t.measure()
		if !t.wait() || t.result.Solved {
			return nil
		}
		if errors.Is(err, rollout.ErrCanceled) {
			return t.ctx.Err() // nil: the time is up, or the writer failed
		}
		if err != nil {
			return err
		}
		t.finish(t.apply(claims))
	}
	t.wait()
	return nil
}

// reached reports whether a limit ends the training.
func (t *trainer) reached() bool {
	u := t.cfg.Until
	return u.Evaluations > 0 && t.result.Evaluations >= u.Evaluations || u.Steps > 0 && t.result.Steps >= u.Steps ||
		u.Duration > 0 && time.Since(t.start) >= u.Duration
}

// canceled is asked before each candidate.
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
	return t.rules.Measure(t.cfg.Evaluator, t.result.State, t.parent.Link, t.key, chunks, t.cancelled)
}

// apply makes an entry of the claims and advances to it.
func (t *trainer) apply(claims []*seedlog.Claim) record {
	entry, next := t.rules.NewEntry(t.result.State, t.parent, 1, t.rules.Origin, claims)
	_, link := entry.Encode()
	t.parent = t.parent.Next(link, entry)
	t.result.Steps += entry.Steps + t.rules.ObserveSteps(next) - t.rules.ObserveSteps(t.result.State)
	t.result.Gen, t.result.Head, t.result.State = entry.Height, link, next
	t.result.Evaluations += entry.Evaluations
	p := Progress{Gen: entry.Height, Head: link, Evaluations: t.result.Evaluations, Steps: t.result.Steps}
	p.Best, p.Mean = summary(claims)
	return record{entry, claims, p}
}

// finish starts the held-out evaluation of the generation in r, if one is due, and then sends r to the
// writer: wait waits for both.
func (t *trainer) finish(r record) {
	t.finished = make(chan bool, 1)
	go func(finished chan<- bool) {
		r.progress.Return = t.evaluate()
		r.progress.EvaluationSteps = t.result.EvaluationSteps
		select {
		case t.records <- r:
			finished <- true
		case <-t.broken:
			finished <- false
		}
	}(t.finished)
}

// wait waits until the last generation is evaluated and sent. It reports whether the writer still takes generations.
func (t *trainer) wait() bool {
	if t.finished == nil {
		return true
	}
	sent := <-t.finished
	t.finished = nil
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

// evaluate runs the mean policy on held-out episodes if the spec asks for it at this height, and tests it if
// they went well enough. It returns the mean return of the held-out episodes.
func (t *trainer) evaluate() *float64 {
	if t.result.Gen%t.rules.Spec.Checks.Every != 0 {
		return nil
	}
	t.result.HeldOut++
	mean := t.meanReturn(t.rules.ValidateSeeds(t.result.Head))
	t.result.Return = &mean
	if t.result.SolvedAt == 0 && mean >= t.rules.Env.SolvedReturn {
		t.result.Tests++
		tested := t.meanReturn(t.rules.TestSeeds(t.result.Head, t.rules.Spec.Checks.Test))
		t.result.Return = &tested
		if tested >= t.rules.Env.SolvedReturn {
			t.result.SolvedAt, t.result.Solved = t.result.Gen, t.cfg.Until.Solved
			t.solved.Store(t.result.Solved)
		}
	}
	return &mean
}

// meanReturn is the mean return of held-out episodes of the mean policy.
func (t *trainer) meanReturn(seeds []uint64) float64 {
	each := make([]float64, len(seeds))
	t.result.EvaluationSteps += t.cfg.Pool.Returns(t.result.State, seeds, each)
	return seedlog.Mean(each)
}

// write seals generations and appends them to the log, all that are pending at once, and reports them.
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

// pending returns the generations that are waiting.
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

// keep writes generations to the log, makes them durable and reports them.
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
