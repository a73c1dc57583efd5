package sim

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// Lies says who lies in a run that learns, and how.
type Lies struct {
	Kind   string  // one of LieKinds
	Share  float64 // of what the swarm computes faulty peers claim; of few faulty peers each lies by lot, so that it is that much
	Honest int     // results of its own that each key claims truly before it lies; -1: what the kind has
}

// lieKind is how a faulty peer lies.
type lieKind struct {
	every   int  // one of so many results is false
	honest  int  // results that a key claims truly before
	collude bool // faulty peers find each other's lies true, until others have found them
	back    bool // who was found, or cut off by a leader, comes back with a new key at once
	cover   bool // one of them only finds true what the others claim, and logs it when it leads
	best    bool // claims more than the best result of late, in place of that
	below   bool // claims a little less
	random  bool // claims any fitness that was ever seen, in place of the best one of late
}

// lieKinds by name. Who does not say random or best copies the best result of late.
var lieKinds = map[string]lieKind{
	"random":    {every: 1, random: true},
	"copying":   {every: 1},
	"colluding": {every: 1, collude: true},
	"deciding":  {every: 8, best: true},
	"few":       {every: 32, honest: 64},
	"back":      {every: 1, back: true, below: true},
	"covered":   {every: 1, collude: true, back: true, below: true, cover: true},
}

// LieKinds are the names that Lies may have.
func LieKinds() []string {
	var names []string
	for name := range lieKinds { //lint:sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// recentResults is how many results a copying faulty peer looks back.
const recentResults = 128

// attack puts the faulty peers into a swarm of so many natives.
func (l *Lies) attack(natives int) (Attack, error) {
	kind, ok := lieKinds[l.Kind]
	if !ok {
		return Attack{}, fmt.Errorf("sim: no lies are called %q, want one of %v", l.Kind, LieKinds())
	}
	if l.Honest >= 0 {
		kind.honest = l.Honest
	}
	want := l.Share * float64(natives)
	owns := int(want)
	if float64(owns) < want {
		owns++
	}
	if want <= 0 || owns >= natives {
		return Attack{}, fmt.Errorf("sim: %v of %d natives cannot lie: leave an honest one, and some to lie", l.Share, natives)
	}
	return Attack{New: func() Adversary { return &falsifier{kind: kind, lot: want / float64(owns)} }, Owns: owns}, nil
}

// falsifier is an insider that claims results which it did not get. A lie takes it as long as the truth.
type falsifier struct {
	passive
	kind lieKind
	lot  float64 // of what its keys would lie about they do
}

// oneReturn is a fitness.
const oneReturn = 1 << 20

// lotParts is how finely lots are drawn.
const lotParts = 1 << 20

// Evaluate implements Insider.
func (l *falsifier) Evaluate(a *Actor, n int, w coordinator.Work, results []rollout.CandidateResult) []rollout.CandidateResult {
	self, book := a.swarm.nodes[n].peer, a.swarm.lies
	for i, seed := range w.Task.Seeds {
		author := book.author[seed]
		switch lie, lied := book.lies[seed]; {
		case author != self:
			if lied && l.kind.collude && !book.found(author) {
				results[i] = lie
			}
		case lied:
			results[i] = lie
		case l.kind.cover && n == len(a.swarm.nodes)-1:
		case book.claims(self) > l.kind.honest && a.Below(l.kind.every) == 0 && float64(a.Below(lotParts)) < l.lot*lotParts:
			if lie := l.lie(a, results[i]); lie.Fitness[0] != results[i].Fitness[0] {
				book.lies[seed], results[i] = lie, lie
				l.deeds++
			}
		}
	}
	return results
}

// lie is what is claimed in place of a true result.
func (l *falsifier) lie(a *Actor, truth rollout.CandidateResult) rollout.CandidateResult {
	seen := a.swarm.lies.seen
	if l.kind.random {
		truth.Fitness[0] = seen[a.Below(len(seen))].Fitness[0]
		return truth
	}
	best := truth
	for _, r := range seen[max(0, len(seen)-recentResults):] {
		if r.Fitness[0] > best.Fitness[0] {
			best = r
		}
	}
	switch {
	case l.kind.best:
		best.Fitness[0] += oneReturn
	case l.kind.below:
		best.Fitness[0] -= oneReturn / 64
	}
	return best
}

// cutOffByLeader reports whether the latest leader has cut off a peer.
func (a *Actor) cutOffByLeader(n *node) bool {
	leader, ok := a.Leader()
	return ok && a.swarm.nodes[leader.Index].banned[n.peer]
}

// Act implements Adversary: who was found leaves, or comes back.
func (l *falsifier) Act(a *Actor) {
	for _, n := range a.swarm.nodes {
		switch {
		case n.owner != a || n.coord == nil || !a.swarm.lies.found(n.peer) && !(l.kind.back && a.cutOffByLeader(n)):
		case l.kind.back:
			a.swarm.rename(n)
		default:
			a.swarm.powerDown(n) // nobody listens to it any more
		}
	}
}
