package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// choice is one of a world's settings with its trials, one for each tuning seed.
type choice struct {
	flags  string
	trials []*trial
	round  int // the last one that it was in
}

// score is what a choice is compared by.
type score struct {
	solved int     // trials
	ret    float64 // mean over the trials of their best return
	held   time.Duration
}

func (c *choice) score() (s score) {
	for _, t := range c.trials {
		if t.solved() {
			s.solved++
		}
		_, points := t.soFar()
		if ret, ok := best(points); ok {
			s.ret += ret / float64(len(c.trials))
		} else {
			s.ret = worst
		}
		s.held += t.gate.hadOf(t)
	}
	return s
}

// worst is the score of a trial that has no held-out evaluation yet.
const worst = -1e9

// better compares choices, the better one first: who solved more, then who has the higher return; of those that solved
// all, who was faster.
func better(a, b *choice) int {
	x, y := a.score(), b.score()
	if x.solved == len(a.trials) && y.solved == x.solved {
		return cmp.Compare(x.held, y.held)
	}
	return cmp.Or(cmp.Compare(y.solved, x.solved), cmp.Compare(y.ret, x.ret))
}

// halve gives each of a world's settings the same small part of the budget, keeps the better ones, gives them more, and
// so on (successive halving: Jamieson and Talwalkar 2016). budget is in cores times time. It returns all choices, the
// best one first.
func (w *world) halve(ctx context.Context, g *gate, budget time.Duration, deadline time.Time, begin func(*choice)) ([]*choice, error) {
	var in, out []*choice
	for _, flags := range w.Trials {
		c := &choice{flags: flags}
		for _, seed := range w.Tuning {
			t, err := newTrial(w, g, flags, seed, 1)
			if err != nil {
				return nil, err
			}
			c.trials = append(c.trials, t)
		}
		begin(c)
		in = append(in, c)
	}
	spent, start := time.Duration(0), time.Now()
	for round := 1; round <= w.Rounds; round++ {
		spent += budget / time.Duration(w.Rounds*len(in)*len(w.Tuning))
		end := start.Add(deadline.Sub(start) * time.Duration(round) / time.Duration(w.Rounds))
		var all sync.WaitGroup
		for _, c := range in {
			c.round = round
			for _, t := range c.trials {
				all.Go(func() { t.advance(ctx, spent, end) })
			}
		}
		all.Wait()
		slices.SortStableFunc(in, better)
		for _, c := range in {
			for _, t := range c.trials {
				if t.over() && t.err != nil {
					return nil, fmt.Errorf("%s %s, seed %d: %w", w.Env, c.flags, t.seed, t.err)
				}
			}
		}
		kept := len(in)
		if round < w.Rounds && len(in) > 1 {
			kept = w.kept(len(in))
		}
		for _, c := range in[kept:] {
			c.end()
		}
		out = append(slices.Clone(in[kept:]), out...)
		in = in[:kept]
		fmt.Fprintf(os.Stderr, "%s: round %d of %d, best %s: %+v\n", w.Env, round, w.Rounds, in[0].flags, in[0].score())
	}
	for _, c := range in {
		c.end()
	}
	return append(in, out...), nil
}

func (c *choice) end() {
	for _, t := range c.trials {
		t.end()
	}
}

// toConfirm returns the best of the choices, which are sorted, and the best of each strategy that the world confirms.
func (w *world) toConfirm(all []*choice) []*choice {
	chosen := all[:1:1]
	for _, name := range w.Confirm {
		i := slices.IndexFunc(all, func(c *choice) bool { return c.trials[0].rules.Spec.Strategy.Name == name })
		if i >= 0 && !slices.Contains(chosen, all[i]) {
			chosen = append(chosen, all[i])
		}
	}
	return chosen
}

// confirm runs a choice on the fresh seeds until they are solved or ctx ends.
func (w *world) confirm(ctx context.Context, g *gate, flags string, begin func(*choice)) error {
	c := &choice{flags: flags}
	for _, seed := range w.Fresh {
		t, err := newTrial(w, g, flags, seed, w.Workers)
		if err != nil {
			return err
		}
		c.trials = append(c.trials, t)
	}
	begin(c)
	var all sync.WaitGroup
	for _, t := range c.trials {
		all.Go(func() { t.advance(ctx, forever, time.Now().Add(forever)) })
	}
	all.Wait()
	for _, t := range c.trials {
		if t.err != nil {
			return fmt.Errorf("%s %s, seed %d: %w", w.Env, flags, t.seed, t.err)
		}
	}
	return nil
}

// forever is longer than any trial.
const forever = 1000 * time.Hour
