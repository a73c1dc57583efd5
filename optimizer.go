package evoswarm

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// Errors of optimizers; compare with errors.Is. The messages name what is wrong, the value and what is allowed.
var (
	// ErrStrategy is wrapped for the name of a strategy that does not exist.
	ErrStrategy = evolve.ErrMethod
	// ErrParams is wrapped for settings of a strategy that are unknown, out of range, or contradict each other.
	ErrParams = evolve.ErrParams
	// ErrTell is wrapped if Tell does not get one fitness for each candidate.
	ErrTell = errors.New("evoswarm: bad fitness")
	// ErrState is wrapped for a state that does not belong to this optimizer.
	ErrState = evolve.ErrState
)

// Optimizer is an evolution strategy that is asked for candidates and told how good they are. It is for one
// goroutine at a time, except for AskOne.
type Optimizer struct {
	strategy   evolve.Strategy
	identity   [16]byte // of the strategy, its settings and the size
	dim        int
	population int
	seed       uint64
	state      *evolve.State
}

// Candidate is a vector to be tried.
type Candidate struct {
	Seed   uint64    // names the perturbation: with Sign, it is all that a holder of the same state needs
	Sign   int       // +1, or -1 for the mirror image of an antithetic pair
	Vector []float32 // the caller's
}

// New returns an optimizer that searches for the maximum of a function of dim values, at generation 0, with its
// mean at zero and seed 0: see [Optimizer.Start]. strategy is a name that [Strategies] lists; params (nil:
// all defaults) are settings that differ from the defaults; population is the number of candidates of a
// generation, even for strategies that try pairs. Errors wrap ErrStrategy or ErrParams.
func New(strategy string, params Params, dim, population int) (*Optimizer, error) {
	method, err := evolve.Find(strategy)
	if err != nil {
		return nil, err
	}
	given, err := params.evolve()
	if err != nil {
		return nil, err
	}
	full, err := method.Complete(given)
	if err != nil {
		return nil, err
	}
	s, err := method.New(full, evolve.Size{Dim: dim, Population: population})
	if err != nil {
		return nil, err
	}
	if s.Antithetic() && population%2 != 0 {
		return nil, fmt.Errorf("%w: %s: population is %d, want an even number: each seed is tried with both signs", ErrParams, method.Name, population)
	}
	o := &Optimizer{strategy: s, dim: dim, population: population, identity: identity(method, full, dim, population)}
	return o, o.Start(0, nil)
}

// identity tells optimizers apart.
func identity(m evolve.Method, p evolve.Params, dim, population int) (id [16]byte) {
	h := sha256.New()
	fmt.Fprintf(h, "evoswarm/optimizer/1 %q %d %d %d", m.Name, m.Revision, dim, population)
	names := make([]string, 0, len(p))
	for name := range p {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(h, " %q %#v", name, p[name])
	}
	copy(id[:], h.Sum(nil))
	return id
}

// Start begins at generation 0 again. seed names all randomness to come; mean is where to start, of length
// dim, or nil for zeros. The error wraps ErrState, and nothing changes, for a mean of another length or with
// values that are not finite.
func (o *Optimizer) Start(seed uint64, mean []float32) error {
	theta := make([]float32, o.dim)
	if mean != nil {
		if len(mean) != o.dim {
			return fmt.Errorf("%w: mean has %d values, want %d", ErrState, len(mean), o.dim)
		}
		for i, x := range mean {
			if x-x != 0 {
				return fmt.Errorf("%w: mean[%d] is %v", ErrState, i, x)
			}
		}
		copy(theta, mean)
	}
	o.seed, o.state = seed, o.strategy.Init(theta)
	return nil
}

// Ask returns the candidates of this generation: always the same ones until Tell. Those of an antithetic pair
// are neighbors. It takes 4 dim population bytes of memory: see AskOne for where that is too much.
func (o *Optimizer) Ask() []Candidate {
	all := make([]Candidate, o.population)
	vectors := make([]float32, o.dim*o.population)
	for i := range all {
		all[i] = o.AskOne(i, vectors[i*o.dim:(i+1)*o.dim:(i+1)*o.dim])
	}
	return all
}

// AskOne returns candidate i of those of Ask, from 0, with its vector written to dst, of length dim. Several goroutines
// may call it at the same time, but not during Tell, Start or Restore. It panics for an i that Ask does not have.
func (o *Optimizer) AskOne(i int, dst []float32) Candidate {
	if i < 0 || i >= o.population || len(dst) != o.dim {
		panic(fmt.Sprintf("evoswarm: candidate %d of %d in %d values of %d", i, o.population, len(dst), o.dim))
	}
	c := Candidate{Seed: o.perturbation(i / o.signs()), Sign: 1 - 2*(i%o.signs()), Vector: dst}
	o.strategy.Candidate(dst, o.state, c.Seed, float32(c.Sign))
	return c
}

func (o *Optimizer) signs() int {
	if o.strategy.Antithetic() {
		return 2
	}
	return 1
}

// perturbation names the k-th perturbation of this generation.
func (o *Optimizer) perturbation(k int) uint64 {
	b := []byte("evoswarm/ask/1")
	for _, x := range []uint64{o.seed, o.state.Gen, uint64(k)} {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	sum := sha256.Sum256(b)
	return binary.LittleEndian.Uint64(sum[:8])
}

// Tell takes the fitness of each candidate of Ask, in its order, and moves to the next generation. Fitness is
// maximized and kept with a resolution of 2^-20, about 0.000001, up to ±2^42: scale functions to which
// smaller differences matter. NaN and infinities of both signs rank below everything else. The error wraps
// ErrTell, and nothing changes, unless there are as many as candidates.
func (o *Optimizer) Tell(fitness ...float64) error {
	if len(fitness) != o.population {
		return fmt.Errorf("%w: %d values, want %d: one for each candidate of Ask, in its order", ErrTell, len(fitness), o.population)
	}
	signs := o.signs()
	results := make([]evolve.Result, o.population/signs)
	for k := range results {
		results[k] = evolve.Result{Seed: o.perturbation(k), Steps: uint64(signs)}
		for sign := range signs {
			results[k].Fitness[sign] = rollout.ToFitness(fitness[k*signs+sign])
		}
	}
	o.state = o.strategy.Apply(o.state, results)
	return nil
}

// Mean returns a copy of the mean that candidates are drawn around: the strategy's current answer.
func (o *Optimizer) Mean() []float32 { return append([]float32(nil), o.state.Theta...) }

// Generation counts the calls of Tell since Start.
func (o *Optimizer) Generation() uint64 { return o.state.Gen }

// Dim returns the number of values of a candidate.
func (o *Optimizer) Dim() int { return o.dim }

// Population returns the number of candidates of a generation.
func (o *Optimizer) Population() int { return o.population }

// stateTag begins the bytes of State.
const stateTag = "evoswarm/optimizer/1"

// State returns everything that the optimizer knows, for Restore. The same state gives the same bytes everywhere.
func (o *Optimizer) State() ([]byte, error) {
	state, err := o.state.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("evoswarm: saving the state: %w", err)
	}
	b := append([]byte(stateTag), o.identity[:]...)
	return append(binary.LittleEndian.AppendUint64(b, o.seed), state...), nil
}

// Restore continues where State was called, in this or another process: what follows is the same, bit for
// bit. The error wraps ErrState, and nothing changes, for bytes that are damaged or of an optimizer with
// another strategy, other settings or another size.
func (o *Optimizer) Restore(state []byte) error {
	const head = len(stateTag) + 16 + 8
	if len(state) < head || string(state[:len(stateTag)]) != stateTag {
		return fmt.Errorf("%w: these %d bytes are not from Optimizer.State", ErrState, len(state))
	}
	if [16]byte(state[len(stateTag):]) != o.identity {
		return fmt.Errorf("%w: it is of an optimizer with another strategy, other settings or another size", ErrState)
	}
	s := new(evolve.State)
	if err := s.UnmarshalBinary(state[head:]); err != nil {
		return err
	}
	if err := o.strategy.Shape().Check(s); err != nil {
		return err
	}
	o.seed, o.state = binary.LittleEndian.Uint64(state[head-8:]), s
	return nil
}
