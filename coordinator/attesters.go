package coordinator

import (
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	// maxWorkers bounds the leaves that a leader remembers for having worked on one entry.
	maxWorkers = 1024
	// attesterTries is how often another leaf is drawn where one may not be asked.
	attesterTries = 8
	// attesterPart is in which part of the last entries a leaf has work that is asked as often as one with work in all:
	// one in so many.
	attesterPart = 4
	// attestedEntries is for how many entries attestations may be there or asked for. A re-run takes longer than an
	// entry where many come at once, so with one entry's worth under way each entry would hold half as many.
	attestedEntries = 2
)

// attester is whom a leader may ask to re-run a claim, and the hub that carries the question: zero if none has to.
type attester struct {
	peer, hub Peer
}

// workers are the leaves with work in the log that claimed something on an entry: they have its state.
type workers struct {
	list []attester
	has  map[Peer]bool
}

// attesters are those whom this leader may ask in one round. Natives have all states, leaves those that they worked on.
// Keys are free, and each that has any work could be asked as often as another, so leaves are drawn by in how many of
// the last entries they have some: who lies as a thousand keys is asked no more often than as one.
type attesters struct {
	natives   []Peer
	left      int // questions that may be asked
	newcomers int // of them about newcomers, whose attestations entries have to hold
	attested  map[Peer]int
	busy      map[Peer]bool
}

// sawWork notes that a leaf, or a hub of it, handed over what the leaf claims.
func (c *Coordinator) sawWork(from Peer, claim *seedlog.Claim) {
	t := &c.tenure
	if c.election.role != Leader || claim.Peer == c.self || !c.attests() || c.chain.accountsAt(c.chain.head).of[claim.Peer].entries == 0 {
		return
	}
	if h := c.members.heard.of(claim.Peer); h != nil && h.Hub {
		return // it has all states
	}
	hub := from
	if from == claim.Peer {
		hub = Peer{}
	}
	if on := c.chain.nodes[claim.Parent]; on == nil || !c.inTime(on) {
		return
	}
	w := t.workers[claim.Parent]
	if w == nil {
		w = &workers{has: make(map[Peer]bool)}
		t.workers[claim.Parent] = w
	}
	if len(w.list) < maxWorkers && !w.has[claim.Peer] {
		w.has[claim.Peer] = true
		w.list = append(w.list, attester{claim.Peer, hub})
	}
}

// forgetWorkers forgets those that worked on entries on which nothing may be claimed any more.
func (t *tenure) forgetWorkers(c *Coordinator) {
	for link := range t.workers { //lint:sorted each on its own
		if on := c.chain.nodes[link]; on == nil || !c.inTime(on) {
			delete(t.workers, link)
		}
	}
}

// attests reports whether the run's leaders have claims re-run by others.
func (c *Coordinator) attests() bool { return c.rules.Spec.SpotChecks != nil && c.chain.maxStale > 0 }

// attesters lists the natives that this leader may ask to re-run a claim: they have work in the last entries, were
// heard lately, and re-run nothing for it yet.
func (c *Coordinator) attesters() attesters {
	a := attesters{attested: make(map[Peer]int), busy: make(map[Peer]bool)}
	if !c.attests() {
		return a
	}
	a.newcomers = attestedEntries * int(mostAttested(c.rules))
	for p := range c.work.pool.all {
		if p.attested != nil {
			a.attested[p.attested.Peer]++
		}
		if p.asked.peer != (Peer{}) {
			a.busy[p.asked.peer] = true
		}
		if (p.attested != nil || p.asked.all) && p.newcomers(c.chain.head) {
			a.newcomers--
		}
	}
	for _, h := range c.members.heard {
		if h.Kind == Native && h.Hub && c.lately(h) && !c.tooLow(h) && c.mayAttest(&a, h.peer) {
			a.natives = append(a.natives, h.peer)
		}
	}
	if a.left = stepRechecks; len(a.natives) > stepRechecks {
		i := int(c.draw.Uint64() % uint64(len(a.natives)))
		a.natives = append(a.natives[i:], a.natives[:i]...)[:stepRechecks]
	}
	return a
}

// mayAttest reports whether a peer may be asked: it answers, is asked nothing else, and covers another claim.
func (c *Coordinator) mayAttest(a *attesters, p Peer) bool {
	return p != c.self && !a.busy[p] && !c.faults.peers[p] && a.attested[p] < c.covers(c.chain.head, p) && c.tenure.silent[p] < maxStrikes
}

// drawAttester draws one whose claim it is not; false if there is none. It is asked nothing else in this round.
func (c *Coordinator) drawAttester(a *attesters, claim *seedlog.Claim) (to attester, ok bool) {
	if a.left == 0 {
		return attester{}, false
	}
	leaves := 0
	w := c.tenure.workers[claim.Parent]
	if w != nil {
		leaves = len(w.list)
	}
	for range attesterTries {
		if len(a.natives)+leaves == 0 {
			break
		}
		i := int(c.draw.Uint64() % uint64(len(a.natives)+leaves))
		if i < len(a.natives) {
			to.peer = a.natives[i]
		} else if to = w.list[i-len(a.natives)]; !c.mayAttest(a, to.peer) || !c.drawnByWork(to.peer) {
			continue
		}
		if to.peer != claim.Peer {
			a.natives = slices.DeleteFunc(a.natives, func(p Peer) bool { return p == to.peer })
			a.left--
			a.busy[to.peer] = true
			return to, true
		}
		to = attester{}
	}
	return attester{}, false
}

// drawnByWork draws whether a peer is taken: the more of the last entries have work of it, the sooner.
func (c *Coordinator) drawnByWork(p Peer) bool {
	accounts := c.chain.accountsAt(c.chain.head)
	return c.draw.Uint64()%uint64(max(accounts.length, 1)) < uint64(accounts.of[p].entries*attesterPart)
}
