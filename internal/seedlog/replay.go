package seedlog

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/evoswarm/evoswarm/internal/cores"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// ErrHeight is returned if a log ends below the requested height.
var ErrHeight = errors.New("seedlog: no such height")

// Check says how much of a log Replay verifies. Each level includes those before it.
type Check string

// The levels of checking.
const (
	CheckLinks   Check = "links"   // form, links, order, counts, signatures; nothing is computed
	CheckDigests Check = "digests" // and folds every entry and compares both digests: rebuilds the model
	CheckClaims  Check = "claims"  // and runs every evaluation again and compares fitness and steps
)

// ReplayOptions says what Replay does. The zero value folds the whole log.
type ReplayOptions struct {
	// At is the height to stop after, if HasAt; 0 is the genesis. Without HasAt the whole log is read.
	At    uint64
	HasAt bool
	// Check is how much is verified; empty: CheckDigests.
	Check Check
	// Pool runs evaluations for CheckClaims; it must be the run's own. nil: one of Workers is made.
	Pool *rollout.Pool
	// Workers is the number of goroutines of that pool; 0: one for each core.
	Workers int
	// Synced is the length up to which the file is known to be fsynced: a tear before it is an error. 0: not known.
	Synced int64
	// Progress, if not nil, is called after each generation with its height and where it ends in the file. An
	// error stops the replay and is returned.
	Progress func(height uint64, offset int64) error
	// Visit, if not nil, is called after each generation, before Progress, with the generation and what the
	// replay would return if it ended there; both are read-only and do not change afterwards. An error stops
	// the replay and is returned.
	Visit func(g *Record, at Replayed) error
}

// Replayed is the result of a replay.
type Replayed struct {
	Rules  *Rules
	Parent               // the entry that the replay stopped at, or the genesis: Link, Height, Term
	State  *evolve.State // after it; nil for CheckLinks

	Evaluations uint64 // of all entries up to it
	Steps       uint64 // env-steps of training up to it: of all entries and, except with CheckLinks, of normalization
	Check       Check  // what was verified
	Checked     uint64 // evaluations that were re-run and found true
	Base        uint64 // height of the state that the log begins with, which is not checked: what lies below is not there; 0: the genesis
	End         int64  // where it ends in the file
	Truncated   bool   // whether a part of a generation follows; see Tail
	Tail        error  // why the file ends, if Truncated: a *FileError that wraps ErrTorn
}

// Replay reads a log from r, which may be a pipe, and folds it back into the model. Bit exact. It reads nothing
// after the requested height. A log that begins at a base is folded from there on: Visit and Progress hear of
// nothing below, and a height below gives ErrBelow. A log that ends within a generation is still being written or
// was cut: that is no error, unless opts.Synced says that there was more. Every other fault is a [*FileError] of
// the block.
func Replay(r io.Reader, opts ReplayOptions) (*Replayed, error) {
	if opts.Check == "" {
		opts.Check = CheckDigests
	}
	if !slices.Contains([]Check{CheckLinks, CheckDigests, CheckClaims}, opts.Check) {
		return nil, fmt.Errorf("seedlog: unknown check %q; known: links, digests, claims", opts.Check)
	}
	scanner, err := NewScanner(r)
	if err != nil {
		return nil, err
	}
	p := &replay{opts: opts, scanner: scanner, states: make(map[Link]*evolve.State)}
	p.out = Replayed{Rules: scanner.Rules(), Parent: scanner.Parent(), Check: opts.Check, End: scanner.Offset()}
	if opts.Check != CheckLinks {
		p.out.State = p.out.Rules.Initial()
		p.out.Steps = p.out.Rules.ObserveSteps(p.out.State)
	}
	if opts.Check == CheckClaims && opts.Pool == nil {
		rules := p.out.Rules
		p.opts.Pool = rollout.NewPool(rules.Plan, opts.Workers)
	}
	if err := p.run(); err != nil {
		return nil, err
	}
	return &p.out, nil
}

type replay struct {
	opts    ReplayOptions
	scanner *Scanner
	out     Replayed
	base    *Base                  // nil: the genesis
	states  map[Link]*evolve.State // of the entries that claims may lie on, to re-run them
	recent  []Link                 // of states, oldest first
}

// readAhead is how many generations are read and checked while others are folded.
const readAhead = 16

func (p *replay) run() error {
	read := uint64(0)
	next, stop := cores.Ahead(readAhead, func() (*Record, error) {
		if p.opts.HasAt && read >= p.opts.At {
			return nil, errFarEnough
		}
		g, err := p.scanner.Next()
		if err == nil {
			read = g.Entry.Height
		}
		return g, err
	})
	defer stop()
	for !p.opts.HasAt || p.out.Height < p.opts.At {
		g, err := next()
		if err == io.EOF || Torn(err) {
			return p.end(err)
		}
		if err != nil {
			return err
		}
		err = p.begin(g)
		if err == nil {
			err = p.fold(g)
		}
		if errors.Is(err, ErrBelow) {
			return err
		}
		if err != nil {
			return &FileError{Height: g.Entry.Height, Offset: g.Offset, Err: err}
		}
		if p.out.Height < p.out.Base {
			continue
		}
		if p.opts.Visit != nil {
			if err := p.opts.Visit(g, p.out); err != nil {
				return err
			}
		}
		if p.opts.Progress != nil {
			if err := p.opts.Progress(p.out.Height, p.out.End); err != nil {
				return err
			}
		}
	}
	return nil
}

// errFarEnough stops reading at the requested height; it is never returned.
var errFarEnough = errors.New("seedlog: far enough")

// end is reached where the log ends, whole (io.EOF) or torn.
func (p *replay) end(err error) error {
	if p.out.Height < p.out.Base {
		return &FileError{Height: p.out.Height + 1, Offset: p.out.End, Err: fmt.Errorf("%w below the state of height %d that it begins with", ErrTorn, p.out.Base)}
	}
	if p.out.End < p.opts.Synced {
		return &FileError{Height: p.out.Height + 1, Offset: p.out.End, Err: fmt.Errorf("%w, but %d bytes of it had been fsynced", ErrTorn, p.opts.Synced)}
	}
	if err != io.EOF {
		p.out.Truncated, p.out.Tail = true, err
	}
	if p.opts.HasAt {
		return fmt.Errorf("%w: the log ends at height %d, below the requested %d", ErrHeight, p.out.Height, p.opts.At)
	}
	return nil
}

// begin begins at the base in front of a generation, if there is one.
func (p *replay) begin(g *Record) error {
	if g.base == nil {
		return nil
	}
	if p.opts.HasAt && p.opts.At < g.base.At {
		return fmt.Errorf("%w: it has no state below height %d", ErrBelow, g.base.At)
	}
	p.base = g.base
	p.out.Base, p.out.Parent, p.out.Evaluations, p.out.Steps = g.base.At, g.base.Parent(), g.base.Evaluations, g.base.Steps
	if p.opts.Check != CheckLinks {
		p.out.State = g.state
		p.out.Steps += p.out.Rules.ObserveSteps(g.state)
	}
	return nil
}

// fold applies one generation that the scanner has checked. Those up to the base are in its state.
func (p *replay) fold(g *Record) error {
	if e := g.Entry; e.Height <= p.out.Base {
		if e.Height == p.out.Base && p.out.State != nil {
			if err := p.base.check(p.out.State, e); err != nil {
				return err
			}
		}
		p.take(g)
		return nil
	}
	if p.opts.Check == CheckClaims {
		if err := p.rerun(g.Claims); err != nil {
			return err
		}
		if err := p.test(g.Entry); err != nil {
			return err
		}
	}
	if p.opts.Check != CheckLinks {
		next, err := p.out.Rules.Advance(p.out.State, g.Entry, g.Claims)
		if err != nil {
			return err
		}
		p.out.Steps += p.out.Rules.ObserveSteps(next) - p.out.Rules.ObserveSteps(p.out.State)
		p.out.State = next
	}
	p.take(g)
	return nil
}

// take makes a generation the one that the replay is at.
func (p *replay) take(g *Record) {
	p.out.Parent = p.out.Rules.After(p.out.Parent, g.Link, g.Entry, g.Claims)
	p.out.Parent.Marks.drop(p.out.Base)
	p.out.Evaluations += g.Entry.Evaluations
	p.out.Steps += g.Entry.Steps
	p.out.End = g.End
}

// rerun re-runs the claims of the next entry, each on the state that it names; right above a base, but for those on
// entries below.
func (p *replay) rerun(claims []*Claim) error {
	p.states[p.out.Link] = p.out.State
	p.recent = append(p.recent, p.out.Link)
	keep := p.out.Rules.Spec.Generation.MaxStale
	if u := p.out.Rules.Spec.Until; u != nil && u.Solved {
		keep = max(keep, MaxSolvedAge)
	}
	if uint64(len(p.recent)) > keep+1 {
		delete(p.states, p.recent[0])
		p.recent = p.recent[1:]
	}
	for _, on := range p.recent {
		var same []*Claim
		for _, c := range claims {
			if c.Parent == on {
				same = append(same, c)
				p.out.Checked += c.Evaluations()
			}
		}
		if err := p.out.Rules.Rerun(p.opts.Pool, p.states[on], same); err != nil {
			return err
		}
	}
	return nil
}

// test tests the state that the next entry names.
func (p *replay) test(e *Entry) error {
	if e.Solved == 0 {
		return nil
	}
	back := p.out.Height - e.Solved
	if back >= uint64(len(p.recent)) {
		return nil // it lies below the base
	}
	on := p.recent[uint64(len(p.recent))-1-back] // the last is the entry's parent
	return p.out.Rules.Test(p.opts.Pool, p.states[on], on)
}

// Rerun re-runs every evaluation of claims, on all workers of pool, and compares. The claims must have passed
// [Rules.CheckClaim], and their parent must be the entry whose state is given. The error wraps ErrFalseClaim
// and names the first difference.
func (r *Rules) Rerun(pool *rollout.Pool, state *evolve.State, claims []*Claim) error {
	for len(claims) > 0 {
		task := rollout.Task{State: state}
		n, chunks := 0, r.chunksPerTask()
		for n < len(claims) && (n == 0 || r.Chunks(claims[n]) <= uint64(chunks) && claims[n].HeldOut() == claims[0].HeldOut()) {
			chunks -= int(r.Chunks(claims[n]))
			r.extend(&task, claims[n])
			n++
		}
		results, err := pool.Evaluate(task, nil)
		if err != nil {
			return err
		}
		for _, c := range claims[:n] {
			if err := r.compare(c, results[:len(c.Steps)]); err != nil {
				return err
			}
			results = results[len(c.Steps):]
		}
		claims = claims[n:]
	}
	return nil
}

// compare compares a claim with what its evaluations really gave.
func (r *Rules) compare(c *Claim, results []rollout.CandidateResult) error {
	fitness, steps := r.Columns(c.Chunk, results)
	if slices.Equal(fitness, c.Fitness) && slices.Equal(steps, c.Steps) {
		return nil
	}
	_, link := c.Encode()
	for i := range steps {
		counter := r.First(c) + uint64(i)
		said, saidSteps := r.At(c, counter)
		signs := r.signs(c)
		if gave := fitness[i*signs : (i+1)*signs]; !slices.Equal(gave, said) || steps[i] != saidSteps {
			return fmt.Errorf("%w: %s of %s says %d in %d steps for counter %d, a re-run gives %d in %d", ErrFalseClaim, link, c.Peer.Short(), said, saidSteps, counter, gave, steps[i])
		}
	}
	return nil
}

// Evaluator evaluates tasks of a run: a [rollout.Pool], or what gives the same results.
type Evaluator interface {
	Evaluate(t rollout.Task, cancel func() bool) ([]rollout.CandidateResult, error)
}

// Measure runs the first n chunks of key's own work on parent and returns them as claims. Once cancel (nil:
// never) returns true it gives up with rollout.ErrCanceled. Bit exact: it does not matter what evaluates them.
func (r *Rules) Measure(evaluator Evaluator, state *evolve.State, parent Link, key ed25519.PrivateKey, n uint64, cancel func() bool) ([]*Claim, error) {
	peer := PeerOf(key)
	claims := make([]*Claim, 0, n)
	size := int(r.Spec.Generation.Chunk)
	for uint64(len(claims)) < n {
		first := uint64(len(claims))
		last := min(n, first+uint64(r.chunksPerTask()))
		task := r.Range(state, parent, peer, first*uint64(size), (last-first)*uint64(size))
		results, err := evaluator.Evaluate(task, cancel)
		if err != nil {
			return nil, err
		}
		for k := first; k < last; k++ {
			claims = append(claims, r.Claim(parent, key, k, results[:size]))
			results = results[size:]
		}
	}
	return claims, nil
}

// extend adds the work of a claim to a task on the same state.
func (r *Rules) extend(task *rollout.Task, c *Claim) {
	t := r.Range(task.State, c.Parent, c.Peer, r.First(c), uint64(len(c.Steps)))
	task.Seeds = append(task.Seeds, t.Seeds...)
	if task.HeldOut = t.HeldOut; t.HeldOut || !r.Spec.Episodes.Shared || len(task.Episodes) == 0 {
		task.Episodes = append(task.Episodes, t.Episodes...)
	}
}

// chunksPerTask is how many chunks one task of the pool may hold, at least 1.
func (r *Rules) chunksPerTask() int {
	n := rollout.MaxCandidates
	if !r.Spec.Episodes.Shared {
		n = min(n, rollout.MaxEpisodeSeeds/int(r.Spec.Episodes.Count))
	}
	return max(n/int(r.Spec.Generation.Chunk), 1)
}
