// Command cartpole steps CartPole-v1 with random actions as ../cartpole.c does, and prints the same: steps, episodes, a
// checksum over the bits in which the episodes end, and the nanoseconds of a step in the fastest window of 100,000. Its
// argument is the number of windows. ../cartpole-c.sh compares them.
package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/evoswarm/evoswarm/envs/classic/cartpole"
	"github.com/evoswarm/evoswarm/internal/noise"
)

func main() {
	windows, err := strconv.Atoi(os.Args[len(os.Args)-1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "usage: cartpole WINDOWS")
		os.Exit(2)
	}
	g, best := newGame(), math.Inf(1)
	for range windows {
		before, begin := g.steps, time.Now()
		g.play(100_000)
		best = min(best, float64(time.Since(begin).Nanoseconds())/float64(g.steps-before))
	}
	fmt.Printf("%d %d %016x %.2f\n", g.steps, g.episodes, g.sum, best)
}

type game struct {
	steps, episodes, sum uint64
	actions              noise.Stream
	obs                  [4]float32 // written in every step, as for a policy
}

func newGame() *game {
	return &game{sum: 0xcbf29ce484222325, actions: noise.NewStream(1, noise.DomainAction)}
}

// play takes at least that many steps, until an episode is over, and continues from there the next time.
func (g *game) play(steps uint64) {
	const maxSteps = 500
	obs := g.obs[:]
	for limit := g.steps + steps; g.steps < limit; {
		var s cartpole.State
		rng := noise.NewStream(g.episodes, noise.DomainEpisode)
		g.episodes++
		s.Reset(&rng)
		s.Observe(obs)
		for i, over := 0, false; i < maxSteps && !over; i++ {
			_, over = s.Step(int32(g.actions.Uint32() >> 31))
			s.Observe(obs)
			g.steps++
		}
		for _, v := range [4]float64{s.X, s.XDot, s.Theta, s.ThetaDot} {
			g.sum = (g.sum ^ math.Float64bits(v)) * 0x100000001b3
		}
	}
}
