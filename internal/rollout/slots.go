package rollout

import (
	"runtime"

	"github.com/evoswarm/evoswarm/internal/cores"
	"github.com/evoswarm/evoswarm/internal/episode"
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
	slotCap       = "episode/cap"    // what that mean is multiplied by where the cap grows, uint64
)

// referenceEvery says that the reference batch takes every eighth observation of the random policy, since
// consecutive ones are too similar.
const referenceEvery = 8

// slots returns the shapes of the slots that the plan adds.
func (p Plan) slots() []evolve.SlotShape {
	var slots []evolve.SlotShape
	n := p.Env.ObsDim
	o := p.Episodes.Observations
	if o != nil {
		slots = append(slots, evolve.SlotShape{Name: slotMean, Kind: evolve.Float32, Len: n}, evolve.SlotShape{Name: slotStd, Kind: evolve.Float32, Len: n})
	}
	if o != nil && o.Kind == Running {
		slots = append(slots, evolve.SlotShape{Name: slotSums, Kind: evolve.Uint64, Len: episode.SumsLen(n)})
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
	if p.cap.grows() {
		slots = append(slots, evolve.SlotShape{Name: slotCap, Kind: evolve.Uint64, Len: 1})
	}
	return slots
}

// begin fills the plan's slots of the initial state from episodes of the random policy, which seed determines.
func (p Plan) begin(s *evolve.State, seed uint64) {
	o := p.Episodes.Observations
	if o != nil {
		sums := make(moments, episode.SumsLen(p.Env.ObsDim))
		if o.Kind == Frozen {
			p.wander(s, seed, int(o.Steps), func(obs []float32) { episode.Add(sums, obs) })
		}
		sums.write(s.Slot(slotMean).Values, s.Slot(slotStd).Values)
	}
	if p.Policy.VBN() {
		reference, seen := s.Slot(slotReference).Values, 0
		p.wander(s, seed, referenceEvery*policy.ReferenceSize, func(obs []float32) {
			if seen%referenceEvery == 0 {
				copy(reference[seen/referenceEvery*len(obs):], obs)
			}
			seen++
		})
	}
}

// wander calls see with the first n observations that the random policy acts on. It draws actions uniformly, in one
// episode after another, as a Player without a state does. wander adds its env-steps to the slot of s.
func (p Plan) wander(s *evolve.State, seed uint64, n int, see func(obs []float32)) {
	player, seeds, hold := NewPlayer(Plan{Env: p.Env, Episodes: p.Episodes}), noise.NewStream(seed, noise.DomainRandom), p.Episodes.Hold()
	for n > 0 {
		player.Start(nil, seeds.Uint64())
		for !player.Over() && n > 0 {
			if player.Steps()%hold == 0 {
				see(player.obs)
			}
			player.Step()
			if player.Over() || player.Steps()%hold == 0 {
				n--
			}
		}
		s.Slot(slotSteps).Words[0] += uint64(player.Steps())
	}
}

// observe adds the observations of the mean policy of s, in one episode per seed, to the running statistics
// of next. Each episode has its own sums, which are added in order.
func (p Plan) observe(s, next *evolve.State, seeds []uint64) {
	words := episode.SumsLen(p.Env.ObsDim)
	parts, returns := make([]uint64, words*len(seeds)), make([]float64, len(seeds))
	shares := shares(len(seeds), runtime.GOMAXPROCS(0))
	steps := make([]uint64, len(shares))
	cores.Each(len(shares), func(k int) {
		first, end := shares[k].first, shares[k].end
		steps[k] = NewEvaluator(p).held(s, seeds[first:end], returns[first:end], parts[words*first:words*end])
	})
	sums := moments(next.Slot(slotSums).Words)
	for i := range seeds {
		sums.merge(parts[words*i : words*(i+1)])
	}
	for _, n := range steps {
		next.Slot(slotSteps).Words[0] += n
	}
	sums.write(next.Slot(slotMean).Values, next.Slot(slotStd).Values)
}

// ObserveSteps returns the number of env-steps taken up to s for observation statistics and the reference
// batch. They count as training steps, in addition to those of the candidates.
func (p Plan) ObserveSteps(s *evolve.State) uint64 {
	if slot := s.Slot(slotSteps); slot != nil && len(slot.Words) == 1 {
		return slot.Words[0]
	}
	return 0
}
