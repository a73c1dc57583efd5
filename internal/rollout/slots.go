package rollout

import (
	"runtime"
	"sync/atomic"

	"github.com/evoswarm/evoswarm/internal/cores"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/policy"
)

// Slots that a plan adds after the strategy's, in this order.
const (
	slotMean      = "obs/mean"       // of observations, float32
	slotStd       = "obs/std"        // of observations, float32; 0: the value is ignored
	slotSums      = "obs/sums"       // moments, uint64
	slotReference = "obs/reference"  // batch for virtual batch normalization, float32
	slotSteps     = "obs/steps"      // env-steps taken so far for the slots above, uint64
	slotLength    = "episode/length" // running mean of episode lengths, uint64
)

// referenceEvery says that the reference batch takes every eighth observation of the random policy, since
// consecutive ones are too similar.
const referenceEvery = 8

// lengthOne is one env-step in the slot of the running mean length.
const lengthOne = 1 << 16

// slots returns the shapes of the slots that the plan adds.
func (p Plan) slots() []evolve.SlotShape {
	var slots []evolve.SlotShape
	n := p.Env.ObsDim
	o := p.Episodes.Observations
	if o != nil {
		slots = append(slots, evolve.SlotShape{Name: slotMean, Kind: evolve.Float32, Len: n}, evolve.SlotShape{Name: slotStd, Kind: evolve.Float32, Len: n})
	}
	if o != nil && o.Kind == Running {
		slots = append(slots, evolve.SlotShape{Name: slotSums, Kind: evolve.Uint64, Len: momentsLen(n)})
	}
	if p.Policy.VBN() {
		slots = append(slots, evolve.SlotShape{Name: slotReference, Kind: evolve.Float32, Len: policy.ReferenceSize * n})
	}
	if len(slots) > 0 {
		slots = append(slots, evolve.SlotShape{Name: slotSteps, Kind: evolve.Uint64, Len: 1})
	}
	if p.Episodes.Cap != 0 {
		slots = append(slots, evolve.SlotShape{Name: slotLength, Kind: evolve.Uint64, Len: 1})
	}
	return slots
}

// begin fills the plan's slots of the initial state from episodes of the random policy, which seed determines.
func (p Plan) begin(s *evolve.State, seed uint64) {
	o := p.Episodes.Observations
	if o != nil {
		sums := make(moments, momentsLen(p.Env.ObsDim))
		if o.Kind == Frozen {
			p.wander(s, seed, int(o.Steps), func(_ int, obs []float32) { sums.add(obs) })
		}
		sums.write(s.Slot(slotMean).Values, s.Slot(slotStd).Values)
	}
	if p.Policy.VBN() {
		reference, seen := s.Slot(slotReference).Values, 0
		p.wander(s, seed, referenceEvery*policy.ReferenceSize, func(_ int, obs []float32) {
			if seen%referenceEvery == 0 {
				copy(reference[seen/referenceEvery*len(obs):], obs)
			}
			seen++
		})
	}
}

// wander calls see with the first n observations of the random policy, which draws actions uniformly, one episode after
// another, and adds its env-steps to the slot of s.
func (p Plan) wander(s *evolve.State, seed uint64, n int, see func(episode int, obs []float32)) {
	e := NewEvaluator(p)
	e.random, e.see = true, see
	seeds := noise.NewStream(seed, noise.DomainRandom)
	one := batch{seeds: make([]uint64, 1), returns: make([]float64, 1)}
	for n > 0 {
		one.seeds[0], one.limit = seeds.Uint64(), min(p.Env.MaxSteps, n*e.hold)
		one.next.Store(0)
		steps := e.play(&one, 1)
		n -= (int(steps) + e.hold - 1) / e.hold
		s.Slot(slotSteps).Words[0] += steps
	}
}

// observe adds the observations of the mean policy of s, in one episode per seed, to the running statistics
// of next. Each episode has its own sums, which are added in order.
func (p Plan) observe(s, next *evolve.State, seeds []uint64) {
	parts := make([]moments, len(seeds))
	for i := range parts {
		parts[i] = make(moments, momentsLen(p.Env.ObsDim))
	}
	b := &batch{seeds: seeds, limit: p.Env.MaxSteps, returns: make([]float64, len(seeds))}
	shares := min(runtime.GOMAXPROCS(0), len(seeds))
	var steps atomic.Uint64
	cores.Each(shares, func(int) {
		e := NewEvaluator(p)
		e.see = func(episode int, obs []float32) { parts[episode].add(obs) }
		steps.Add(e.share(s, b, (len(seeds)+shares-1)/shares))
	})
	sums := moments(next.Slot(slotSums).Words)
	for i := range parts {
		sums.merge(parts[i])
	}
	next.Slot(slotSteps).Words[0] += steps.Load()
	sums.write(next.Slot(slotMean).Values, next.Slot(slotStd).Values)
}

// lengthen moves the running mean length of next halfway to the mean length of the episodes of results, or
// all the way if it is still 0.
func (p Plan) lengthen(next *evolve.State, results []evolve.Result) {
	episodes := uint64(len(results)) * max(p.Episodes.Count, 1)
	if p.Strategy.Antithetic() {
		episodes *= 2
	}
	var steps uint64
	for i := range results {
		steps += results[i].Steps
	}
	if episodes == 0 {
		return
	}
	// Below 2^17 results of 2^12 episodes of 2^20 steps: 2^49 of them.
	mean := min(steps, 1<<47) * lengthOne / episodes
	length := &next.Slot(slotLength).Words[0]
	if *length != 0 {
		mean = min(*length, 1<<62)/2 + mean/2
	}
	*length = mean
}

// limit returns the number of env-steps after which an episode of training on s ends.
func (p Plan) limit(s *evolve.State) int {
	if p.Episodes.Cap == 0 {
		return p.Env.MaxSteps
	}
	length := s.Slot(slotLength).Words[0]
	steps := float64(p.Episodes.Cap*float64(int64(min(length, 1<<62)))) / lengthOne
	if length == 0 || steps >= float64(p.Env.MaxSteps) {
		return p.Env.MaxSteps
	}
	n := int(steps)
	if float64(n) < steps {
		n++
	}
	return max(n, 1)
}

// ObserveSteps returns the number of env-steps taken up to s for observation statistics and the reference
// batch. They count as training steps, in addition to those of the candidates.
func (p Plan) ObserveSteps(s *evolve.State) uint64 {
	if slot := s.Slot(slotSteps); slot != nil && len(slot.Words) == 1 {
		return slot.Words[0]
	}
	return 0
}
