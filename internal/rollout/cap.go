package rollout

import "github.com/evoswarm/evoswarm/internal/evolve"

// one is 1 in the slots of the running mean length and of the cap.
const one = 1 << 16

// capGrowth is by how much the cap of episodes grows with a generation. The mean length follows results that the last
// cap has cut, so episodes grow by the cap with each update at most. Where more peers evaluate, an update moves the
// mean further, but comes no sooner: at the cap for few results episodes would stay shorter than what the policy can
// do.
type capGrowth struct {
	population, most uint64
}

func (g capGrowth) grows() bool { return g.most > 1 }

// of is the cap after a generation of n evaluations, MaxCap at most. It lets episodes grow as far as with as many
// updates of one population as that is worth: sqrt(n / population), rounded, from 1 to the most. Bit exact.
func (g capGrowth) of(cap float64, n uint64) float64 {
	grown := cap
	for worth := uint64(2); worth <= g.most && (2*worth-1)*(2*worth-1)*g.population <= 4*n; worth++ {
		grown *= cap
	}
	return min(grown, MaxCap)
}

// lengthen moves the running mean length of next halfway to the mean length of the episodes of results, or
// all the way if it is still 0. Where the cap grows it takes the one that their number gives.
func (p Plan) lengthen(next *evolve.State, results []evolve.Result) {
	evaluations := uint64(len(results))
	if p.Strategy.Antithetic() {
		evaluations *= 2
	}
	episodes := evaluations * max(p.Episodes.Count, 1)
	var steps uint64
	for i := range results {
		steps += results[i].Steps
	}
	if episodes == 0 {
		return
	}
	// Below 2^17 results of 2^12 episodes of 2^20 steps: 2^49 of them.
	mean := min(steps, 1<<47) * one / episodes
	length := &next.Slot(slotLength).Words[0]
	if *length != 0 {
		mean = min(*length, 1<<62)/2 + mean/2
	}
	*length = mean
	if p.cap.grows() {
		next.Slot(slotCap).Words[0] = uint64(float64(p.cap.of(p.Episodes.Cap, evaluations) * one))
	}
}

// horizon returns the number of env-steps after which an episode of training in generation gen ends, however long the
// others are.
func (p Plan) horizon(gen uint64) int {
	if p.Episodes.Horizon == 0 {
		return p.Env.MaxSteps
	}
	grown := float64(p.Episodes.Horizon) + float64(p.Episodes.Growth*float64(gen))
	return int(min(grown, float64(p.Env.MaxSteps)))
}

// limit returns the number of env-steps after which an episode of training on s ends.
func (p Plan) limit(s *evolve.State) int {
	longest := p.horizon(s.Gen)
	if p.Episodes.Cap == 0 {
		return longest
	}
	length, times := s.Slot(slotLength).Words[0], p.Episodes.Cap
	if p.cap.grows() {
		times = float64(int64(min(s.Slot(slotCap).Words[0], 1<<62))) / one
	}
	steps := float64(times*float64(int64(min(length, 1<<62)))) / one
	if length == 0 || steps >= float64(longest) {
		return longest
	}
	n := int(steps)
	if float64(n) < steps {
		n++
	}
	return max(n, 1)
}
