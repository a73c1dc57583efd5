package main

import (
	"strconv"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// What one answer about the newest generations holds at most. A stranger's entry may name results by the ten thousand.
const (
	recentEntries = 60
	recentResults = 1 << 14 // read for it; older generations are left out beyond
	othersPoints  = 40      // shown of one generation
	ownPoints     = 24
)

// recentEntry is a generation as the page lists and draws it. Fitness is as returns.
type recentEntry struct {
	Height uint64    `json:"height"`
	Leader string    `json:"leader"`         // key in hexadecimal
	Total  int       `json:"total"`          // results of candidates, both signs counted
	Mine   int       `json:"mine"`           // this tab's among them
	Peers  int       `json:"peers"`          // authors
	Best   *float32  `json:"best"`           // nil: every evaluation failed
	Others []float32 `json:"others"`         // some of the others' results, the best among them
	Own    []float32 `json:"own"`            // some of this tab's, the best among them
	Move   *move     `json:"move,omitempty"` // what moved the model most of this tab's results, where it did and can be played
}

// move is a result of this tab that moved the model more than most.
type move struct {
	ID     string   `json:"id"` // names its candidate: link of the parent, counter, sign
	Height uint64   `json:"height"`
	Score  float32  `json:"score"`
	Rank   int      `json:"rank"`  // 1: the best of the generation
	Of     int      `json:"of"`    // results of the generation
	Share  *float32 `json:"share"` // of all that moved the model in this generation; nil: the strategy does not say

	candidate candidate
}

// candidate is what a drawing worker makes a candidate from.
type candidate struct {
	state *evolve.State
	seed  uint64
	sign  int
}

// recentReader reads generations of a log.
type recentReader struct {
	log   store.Store
	rules *seedlog.Rules
	self  seedlog.Peer
	on    func(seedlog.Link) *evolve.State // the state after an entry; nil: it is not at hand
}

// above returns the newest generations above a height, in order.
func (r recentReader) above(after uint64) []recentEntry {
	out, left := []recentEntry{}, recentResults
	for height := r.log.Length(); height > after && len(out) < recentEntries && left > 0; height-- {
		link, _, ok := r.log.At(height)
		if !ok {
			break
		}
		e, ok := r.read(link, &left)
		if !ok {
			break
		}
		out = append(out, e)
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// read takes what it reads from left, and reports false for a generation that is not there, or takes more. The
// first one of an answer is read at any size.
func (r recentReader) read(link seedlog.Link, left *int) (recentEntry, bool) {
	block, ok := r.log.Block(link)
	if !ok {
		return recentEntry{}, false
	}
	entry, err := seedlog.ReadEntry(block, r.log.Block)
	if err != nil {
		return recentEntry{}, false
	}
	if *left < recentResults && uint64(*left) < entry.Evaluations {
		return recentEntry{}, false
	}
	claims := make([]*seedlog.Claim, len(entry.Claims))
	for i, l := range entry.Claims {
		block, _ := r.log.Block(l)
		if claims[i], err = seedlog.DecodeClaim(block); err != nil {
			return recentEntry{}, false
		}
	}
	*left -= int(min(entry.Evaluations, recentResults))
	e := recentEntry{Height: entry.Height, Leader: entry.Leader.String()}
	others, own, authors := &sample{most: othersPoints}, &sample{most: ownPoints}, map[seedlog.Peer]bool{}
	for _, c := range claims {
		if c.HeldOut() {
			continue
		}
		authors[c.Peer] = true
		into := others
		if c.Peer == r.self {
			into = own
		}
		for _, f := range c.Fitness {
			into.add(f)
		}
	}
	e.Total, e.Mine, e.Peers = others.seen+own.seen, own.seen, len(authors)
	e.Others, e.Own = others.points(), own.points()
	if best := max(others.best, own.best); e.Total > 0 && best != evolve.InvalidFitness {
		e.Best = new(float32(rollout.FromFitness(best)))
	}
	e.Move = r.move(entry, claims)
	return e, true
}

// move finds this tab's result that moved the model most; nil: none did, or its candidate cannot be made any more.
func (r recentReader) move(entry *seedlog.Entry, claims []*seedlog.Claim) *move {
	weights, sum := r.weights(entry, claims)
	var best *move
	most, n, i := 0.0, 0, 0
	for _, c := range claims {
		if !c.HeldOut() {
			n += len(c.Steps)
		}
	}
	for _, c := range claims {
		for k := range c.Steps {
			w := weights[i]
			i++
			state := r.on(c.Parent)
			if c.Peer != r.self || c.HeldOut() || state == nil || w <= most || w < 2*sum/float64(n) {
				continue
			}
			most = w
			best = r.describe(entry, c, k, state)
		}
	}
	if best == nil {
		return nil
	}
	if r.hasShares() {
		best.Share = new(float32(most / sum))
	}
	best.Rank, best.Of = rank(claims, best.Score)
	return best
}

// weights returns how much each result moved the model, and the sum. Where the strategy does not say how much,
// those that decided the update weigh the same.
func (r recentReader) weights(entry *seedlog.Entry, claims []*seedlog.Claim) (weights []float64, sum float64) {
	n := 0
	for _, c := range claims {
		n += len(c.Steps)
	}
	if weights = r.rules.Influence(entry.Parent, claims); weights == nil {
		weights = make([]float64, n)
		at := make([]int, len(claims)) // of each claim's first result
		for i := 1; i < len(claims); i++ {
			at[i] = at[i-1] + len(claims[i-1].Steps)
		}
		for _, d := range r.rules.Decisive(entry.Parent, claims, max(1, n/8)) {
			weights[at[d.Claim]+int(d.Counter-r.rules.First(claims[d.Claim]))] = 1
		}
	}
	for _, w := range weights {
		sum += w
	}
	return weights, sum
}

func (r recentReader) hasShares() bool { return evolve.TakesStale(r.rules.Strategy) }

// describe tells of result k of a claim: of its better sign.
func (r recentReader) describe(entry *seedlog.Entry, c *seedlog.Claim, k int, state *evolve.State) *move {
	signs, sign := r.rules.Signs(), 1
	fitness := c.Fitness[k*signs]
	if signs == 2 && c.Fitness[2*k+1] > fitness {
		fitness, sign = c.Fitness[2*k+1], -1
	}
	counter := r.rules.First(c) + uint64(k)
	return &move{ID: c.Parent.String() + " " + strconv.FormatUint(counter, 10), Height: entry.Height, Score: float32(rollout.FromFitness(fitness)),
		candidate: candidate{state: state, seed: r.rules.Seed(c.Parent, c.Peer, counter), sign: sign}}
}

// rank counts the results of a generation, and says at which place one is.
func rank(claims []*seedlog.Claim, score float32) (place, of int) {
	place = 1
	for _, c := range claims {
		if c.HeldOut() {
			continue
		}
		for _, f := range c.Fitness {
			of++
			if f != evolve.InvalidFitness && float32(rollout.FromFitness(f)) > score {
				place++
			}
		}
	}
	return place, of
}

// sample keeps some of the fitness values that it is given, evenly spread, and the best one.
type sample struct {
	most, seen int
	stride     int // every how many is kept
	kept       []int64
	best       int64
}

func (s *sample) add(fitness int64) {
	if s.seen == 0 {
		s.stride, s.best = 1, evolve.InvalidFitness
	}
	s.best = max(s.best, fitness)
	if s.seen%s.stride == 0 {
		s.kept = append(s.kept, fitness)
	}
	s.seen++
	if len(s.kept) < s.most {
		return
	}
	for i := range s.kept[:len(s.kept)/2] {
		s.kept[i] = s.kept[2*i]
	}
	s.kept, s.stride = s.kept[:len(s.kept)/2], 2*s.stride
}

// points returns them as returns, the best one first; without those of failed evaluations.
func (s *sample) points() []float32 {
	out := []float32{}
	if s.seen == 0 || s.best == evolve.InvalidFitness {
		return out
	}
	out = append(out, float32(rollout.FromFitness(s.best)))
	for _, f := range s.kept {
		if f != evolve.InvalidFitness && f != s.best {
			out = append(out, float32(rollout.FromFitness(f)))
		}
	}
	return out
}
