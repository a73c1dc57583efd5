package sim

import (
	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// adversaryKind makes adversaries. Strangers have keys and nothing else; insiders own peers with a record.
type adversaryKind struct {
	stranger func(keys int) Adversary // nil: an insider
	insider  func() Adversary         // nil: a stranger
	owns     int
	mandate  uint64 // entries of one leader; 0: as usual
	rate     int    // messages in a tick; 0: as usual
	share    uint64 // of the entries, in percent, that the swarm logs at least, however many the adversary leads; 0: fairShare
}

// adversaries by name; every run makes its own.
var adversaries = map[string]adversaryKind{
	"forged leader":    {stranger: func(keys int) Adversary { return &forgedLeader{keys: keys} }},
	"hung evaluator":   {insider: func() Adversary { return new(hung) }, owns: 1},
	"forged chain":     {stranger: func(keys int) Adversary { return &forgedChain{keys: keys, truthEvery: 8} }},
	"equivocator":      {insider: func() Adversary { return new(equivocator) }, owns: 1, mandate: 5},
	"flooder":          {stranger: func(keys int) Adversary { return &flooder{keys: keys} }, rate: 40},
	"withholder":       {insider: func() Adversary { return new(withholder) }, owns: 1},
	"censor":           {insider: func() Adversary { return new(censor) }, owns: 1},
	"slow insider":     {insider: func() Adversary { return new(slowInsider) }, owns: 1},
	"braggart":         {stranger: func(keys int) Adversary { return &braggart{keys: keys} }},
	"late-comer":       {stranger: func(keys int) Adversary { return &lateComer{keys: keys} }},
	"hoarder":          {insider: func() Adversary { return new(hoarder) }, owns: 1, share: 90}, // docs/ROADMAP.md
	"grinder":          {insider: func() Adversary { return new(grinder) }, owns: 2},
	"colluding leader": {insider: func() Adversary { return newColluders() }, owns: 2},
}

// tally counts what an adversary did, so that a test knows that there was an attack.
type tally struct{ deeds int }

func (t *tally) did() int { return t.deeds }

// stranger is the part that all strangers share: nobody's answers matter to it.
type stranger struct{ tally }

// Receive implements Adversary.
func (*stranger) Receive(*Actor, Mail) {}

// passive is an insider that changes nothing; others change what they need to.
type passive struct{ tally }

// Act implements Adversary.
func (*passive) Act(*Actor) {}

// Receive implements Adversary.
func (*passive) Receive(*Actor, Mail) {}

// Event implements Insider.
func (*passive) Event(_ *Actor, _ int, e coordinator.Event) (coordinator.Event, bool) { return e, true }

// Send implements Insider.
func (*passive) Send(_ *Actor, _ int, out []coordinator.Envelope) []coordinator.Envelope { return out }

// Evaluate implements Insider.
func (*passive) Evaluate(_ *Actor, _ int, _ coordinator.Work, results []rollout.CandidateResult) []rollout.CandidateResult {
	return results
}

// full reports whether claims fill a generation.
func (a *Actor) full(claims []*seedlog.Claim) bool {
	var evaluations, steps uint64
	for _, c := range claims {
		evaluations += c.Evaluations()
		steps += c.TotalSteps()
	}
	return a.Rules().Full(evaluations, steps)
}

// filter keeps the envelopes that want accepts.
func filter(out []coordinator.Envelope, want func(coordinator.Envelope) bool) []coordinator.Envelope {
	var kept []coordinator.Envelope
	for _, e := range out {
		if want(e) {
			kept = append(kept, e)
		}
	}
	return kept
}

// targets are the peers that it attacks: all that have power and are not its own.
func (a *Actor) targets() (targets []View) {
	for _, v := range a.Views() {
		if v.Up && !v.Owned {
			targets = append(targets, v)
		}
	}
	return targets
}

// indexOf finds a peer by its key; -1: none has it.
func (a *Actor) indexOf(p coordinator.Peer) int {
	for _, n := range a.swarm.nodes {
		if n.peer == p {
			return n.index
		}
	}
	return -1
}
