package episode

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/policy"
)

// MaxLanes is the largest number of episodes in lockstep.
const MaxLanes = 16

// Setup is what the episodes of one batch have in common, as one flat value.
type Setup struct {
	// Net is the policy.
	Net policy.Network
	// ObsDim and ActDim are the lengths of an observation and of an action.
	ObsDim, ActDim int32
	// Widest is the width of the widest layer, not counting the input.
	Widest int32
	// Lanes is the number of episodes in lockstep, 1 to MaxLanes.
	Lanes int32
	// Hold is the number of env-steps for each action, at least 1.
	Hold int32
	// Limit is the number of env-steps after which an episode ends, at least 1.
	Limit int64
	// Normalize says that the policy sees (x - mean) * scale, clamped to ±Clip.
	Normalize bool
	// Clip bounds normalized observations.
	Clip float32
	// Penalty, if not 0, bounds the cost of an env-step: a reward below -Penalty counts as -Penalty.
	Penalty float64
	// Bonus is subtracted from every reward.
	Bonus float64
	// Jitter is the standard deviation of the noise that is added to continuous actions.
	Jitter float64
}

// Values returns the length of mem in Play.
func (s *Setup) Values() int { return int(s.Lanes) * (2*int(s.ObsDim) + 2*int(s.Widest)) }

// Reals returns the length of work in Play.
func (s *Setup) Reals() int { return int(s.Lanes) * 2 * int(s.ActDim) }

// Lane is an episode in progress.
type Lane struct {
	rng   noise.Stream // of the environment
	draws noise.Stream // of action noise
	index int64        // of its seed
	left  int64        // env-steps until the limit
	ret   float64      // so far
	world int32        // the index of its world
}

// Play runs one episode for each seed, writes their returns to returns, and returns their env-steps. Up to s.Lanes of
// them run in lockstep: their observations pass through the layers of the policy as one batch, which reads the
// weights once for all of them. A return does not depend on which episodes run together. The environment draws from
// the stream of the seed in noise.DomainEpisode, action noise from its stream in noise.DomainAction.
//
// There are s.Lanes worlds and lanes, whose contents before do not matter. theta holds the parameters of s.Net. norm
// is empty, or holds mean and scale of observations, one after the other. bounds holds the lower bounds of a
// continuous action, then the upper ones; a discrete action needs none. sums is empty, or has SumsLen words for each
// seed, to which every observation that the policy acts on is added. mem (s.Values() long) and work (s.Reals()) are
// working memory. Play keeps no reference and does not allocate. Bit exact.
func Play(s *Setup, worlds []envs.Env, lanes []Lane, seeds []uint64, theta, norm, mem []float32, bounds, work, returns []float64, sums []uint64) (steps int64) {
	obsDim, actDim := int(s.ObsDim), int(s.ActDim)
	next, n := 0, 0
	for n < int(s.Lanes) && n < len(seeds) {
		lanes[n].world = int32(n)
		begin(s, worlds[n], &lanes[n], seeds[n], int64(n), mem[n*obsDim:(n+1)*obsDim])
		n++
	}
	next = n
	for n > 1 {
		decide(s, lanes, n, theta, norm, mem, bounds, work, sums)
		for i := n - 1; i >= 0; i-- {
			l, obs := &lanes[i], mem[i*obsDim:(i+1)*obsDim]
			taken, over := advance(s, worlds[l.world], l, work[i*actDim:(i+1)*actDim], obs)
			steps += taken
			if !over {
				continue
			}
			returns[l.index] = l.ret
			if next < len(seeds) {
				begin(s, worlds[l.world], l, seeds[next], int64(next), obs)
				next++
				continue
			}
			// The last lane in use moves into the gap.
			n--
			if i < n {
				other := lanes[i]
				lanes[i] = lanes[n]
				lanes[n] = other
				copy(obs, mem[n*obsDim:(n+1)*obsDim])
			}
		}
	}
	for n == 1 {
		steps += alone(s, worlds[lanes[0].world], lanes, theta, norm, mem, bounds, work, sums)
		returns[lanes[0].index] = lanes[0].ret
		n = 0
		if next < len(seeds) {
			begin(s, worlds[lanes[0].world], &lanes[0], seeds[next], int64(next), mem[:obsDim])
			next++
			n = 1
		}
	}
	return steps
}

// begin starts the episode of seed in lane l and writes its first observation to obs.
func begin(s *Setup, world envs.Env, l *Lane, seed uint64, index int64, obs []float32) {
	l.rng = noise.NewStream(seed, noise.DomainEpisode)
	l.draws = noise.NewStream(seed, noise.DomainAction)
	l.index, l.left, l.ret = index, s.Limit, 0
	world.Reset(&l.rng, obs)
}

// advance repeats act for up to s.Hold env-steps and reports whether the episode is over.
func advance(s *Setup, world envs.Env, l *Lane, act []float64, obs []float32) (steps int64, over bool) {
	n := min(int64(s.Hold), l.left)
	for steps < n {
		reward, terminated := world.Step(&l.rng, act, obs)
		l.ret += score(s, reward)
		steps++
		if terminated {
			return steps, true
		}
	}
	l.left -= steps
	return steps, l.left == 0
}

// alone runs the episode in the first lane to its end and returns its env-steps. Of a small policy,
// unneeded calls and copies take a tenth of the time.
func alone(s *Setup, world envs.Env, lanes []Lane, theta, norm, mem []float32, bounds, work []float64, sums []uint64) (steps int64) {
	l, obs, act := &lanes[0], mem[:s.ObsDim], work[:s.ActDim]
	bare := !s.Normalize && s.Jitter == 0 && len(sums) == 0
	a, b := s.layers(mem)
	y := a[:s.Net.Sizes[s.Net.Layers]]
	if s.Net.Layers%2 == 0 {
		y = b[:len(y)]
	}
	low, high := bounds[:len(bounds)/2], bounds[len(bounds)/2:]
	ret, held := l.ret, int32(0)
	for steps < l.left {
		if held == 0 {
			if bare {
				s.Net.Forward(theta, obs, a, b, 1)
				s.Net.Choose(act, y, low, high, work[:0])
			} else {
				decide(s, lanes, 1, theta, norm, mem, bounds, work, sums)
			}
			held = s.Hold
		}
		held--
		reward, terminated := world.Step(&l.rng, act, obs)
		ret += score(s, reward)
		steps++
		if terminated {
			break
		}
	}
	l.ret = ret
	return steps
}

// score returns the reward as it counts.
func score(s *Setup, reward float64) float64 {
	if s.Penalty != 0 && reward < -s.Penalty {
		reward = -s.Penalty
	}
	return reward - s.Bonus
}
