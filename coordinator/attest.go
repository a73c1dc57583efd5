package coordinator

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Attestations. Where a run's spec has spot checks, a leader need not re-run by itself what it draws of new keys: it
// asks somebody with work in the log, drawn in secret, and that one signs what it found. The entry has the signature
// for a newcomer's claim, and its author answers for the claim as if it were its own. docs/spec/format2.md has the
// rule.

const (
	// creditClaims bounds what a peer saves up for others' re-runs, in claims as long as its own. It spends on them
	// at most as many evaluations as on its own candidates.
	creditClaims = 4
	// newcomersWindow is which part of those with work re-run newcomers' claims when a leader begins: one in so many.
	newcomersWindow = 4
	// maxSilent bounds the peers that a leader remembers for their silence. After so many times as maxStrikes, one
	// after the other, it asks one no more in its term: answers may come too late where entries come fast.
	maxSilent  = 256
	maxStrikes = 3
	// firstEntries is in how many entries of a run natives without a record attest, too: nobody can have one yet.
	firstEntries = 4
)

// asked is who re-runs a claim in the pool for this leader.
type asked struct {
	peer Peer // zero: none does
	all  bool // its results, not a part of them
}

// request is a claim that this peer re-runs for the leader.
type request struct {
	leader Peer
	claim  seedlog.CheckedClaim
	left   int // results under re-run
	all    bool
}

// firstWindow is how many newcomers' claims others re-run at the same time when a leader begins.
func (c *Coordinator) firstWindow() int {
	return max(len(c.chain.accountsAt(c.chain.head).of)/newcomersWindow, 2)
}

// newcomersMore is how many more newcomers' claims may be re-run by others at the same time. That many are as have
// proved true of late: one more for each, half as many after a false one, so that junk of free keys costs natives
// little. In the first entries of a run all natives may be asked, each for what it re-runs.
func (c *Coordinator) newcomersMore() int {
	more := max(c.tenure.window, 1)
	if c.chain.head.height < firstEntries {
		more = max(more, len(c.members.heard)) // all are newcomers, and a second of junk costs little
	}
	for _, p := range c.work.pool.fresh.All() {
		if p.asked.peer != (Peer{}) {
			more--
		}
	}
	return max(more, 0)
}

// delegate has another re-run so many results of a claim; false if there is none.
func (c *Coordinator) delegate(a *attesters, p *pooled, results int) bool {
	claim := p.claim.Value()
	to, ok := c.drawAttester(a, claim)
	if ok {
		p.asked = asked{to.peer, results == len(claim.Steps)}
		c.out.sendOver(to.hub, to.peer, &Recheck{Results: uint64(results), Claim: p.claim.Bytes()})
	}
	return ok
}

// onRecheck re-runs results of a claim for the leader that this peer follows.
func (c *Coordinator) onRecheck(from Peer, m *Recheck, claim seedlog.CheckedClaim) {
	v := claim.Value()
	on := c.workable(v.Parent)
	if c.rules.Spec.SpotChecks == nil || from != c.election.leader || from == v.Peer || v.Peer == c.self || c.retired {
		return
	}
	size, first := uint64(len(v.Steps)), c.rules.First(v)
	if c.work.paused || on == nil || !c.inTime(on) || m.Results == 0 || m.Results > size || m.Results > c.work.credit {
		c.out.send(Direct, from, &Rechecked{Claim: claim.Link(), Unable: true, Peer: c.self, Signature: []byte{}})
		return
	}
	c.dropRequest()
	c.work.credit -= m.Results
	f := &request{from, claim, int(m.Results), m.Results == size}
	for _, i := range c.drawDistinct(int(size), f.left) {
		c.issue(&job{kind: jobRequested, parent: on, claim: claim, peer: v.Peer, counter: first + uint64(i), request: f}, true)
	}
}

// drawDistinct draws k of n numbers from 0 on.
func (c *Coordinator) drawDistinct(n, k int) []int {
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	for i := range k {
		j := i + int(c.draw.Uint64()%uint64(n-i))
		left[i], left[j] = left[j], left[i]
	}
	return left[:k]
}

// dropRequest gives up what this peer re-runs for a leader: there is another request.
func (c *Coordinator) dropRequest() {
	for _, id := range sortedJobs(c.work.jobs) {
		if c.work.jobs[id].kind == jobRequested {
			delete(c.work.jobs, id)
			c.out.Cancel = append(c.out.Cancel, id)
		}
	}
}

// requested takes the re-run of one result for the leader, and answers once all are there. A false one ends it: the
// leader finds out by itself.
func (c *Coordinator) requested(j *job, fitness []int64, steps uint64) {
	f := j.request
	answer := &Rechecked{Claim: j.claim.Link(), Peer: c.self, Signature: []byte{}}
	stated, statedSteps := c.rules.At(j.claim.Value(), j.counter)
	answer.Same = slices.Equal(stated, fitness) && statedSteps == steps
	if f.left--; answer.Same && f.left > 0 {
		return
	}
	if !answer.Same {
		c.dropRequest()
	} else if f.all {
		answer.Signature = seedlog.Attest(c.rules.Run, j.claim.Link(), c.cfg.Key)
	}
	c.out.send(Direct, f.leader, answer)
}

// onRechecked takes what another found that this leader asked. Where that is no, this peer looks itself.
func (c *Coordinator) onRechecked(from Peer, m *Rechecked) {
	p := c.work.pool.links[m.Claim]
	if p == nil || p.asked.peer != from || m.Peer != from {
		return
	}
	all := p.asked.all
	p.asked, c.tenure.ended = asked{}, true
	if m.Unable && c.tenure.silent[from] < maxStrikes-1 {
		c.silentDelegate(from)
		if p.fresh {
			c.work.pool.unchecked.Push(p.from, 1, p.key())
		}
		return // another is asked
	}
	if p.fresh && m.Same {
		c.tenure.window = min(c.tenure.window+1, maxSilent)
	} else if p.fresh {
		c.tenure.window /= 2
	}
	switch {
	case !m.Same || all && len(m.Signature) == 0:
		p.refused = from
		c.rerunSelf(p)
	case all:
		p.attested = &seedlog.Attestation{Peer: from, Signature: m.Signature}
	default:
		p.spared = true
	}
	if p.ready() {
		delete(c.tenure.silent, from)
		c.nextOf(p)
	}
}

// distrust has this leader look itself at what a peer attested that turns out to be faulty.
func (c *Coordinator) distrust(p Peer) {
	for q := range c.work.pool.all {
		if q.attested != nil && q.attested.Peer == p {
			q.attested = nil
			c.rerunSelf(q)
			if g := c.tenure.closing; g != nil && slices.Contains(g.picked, q) {
				c.dropClosing()
			}
		}
	}
}

// rerunSelf has this leader re-run a claim that nobody attests. Of too many the first stay in the pool, unchecked.
func (c *Coordinator) rerunSelf(p *pooled) {
	if c.tenure.again = append(c.tenure.again, p.key()); len(c.tenure.again) > maxSilent {
		c.tenure.again = c.tenure.again[1:]
	}
}

// silentDelegate notes that one did not answer while a claim had a place, or said no to a true one.
func (c *Coordinator) silentDelegate(p Peer) {
	if s := c.tenure.silent; c.election.role == Leader && (len(s) < maxSilent || s[p] > 0) {
		s[p]++
	}
}

// attestations are what the entry with these claims has to name: those for claims of keys without work in the last
// entries that this leader did not re-run.
func (c *Coordinator) attestations(picked []*pooled) (list []seedlog.Attestation) {
	of := c.chain.accountsAt(c.chain.head).of
	for i, p := range picked {
		if p.attested != nil && !p.good && of[p.claim.Value().Peer].entries == 0 {
			a := *p.attested
			a.Claim = uint64(i)
			list = append(list, a)
		}
	}
	return list
}

// answers is who attested a claim in n and answers for it, if that attested no more than it covers. It is a function
// of the branch alone.
func (c *Coordinator) answers(n *node, link seedlog.Link) (attester Peer, ok bool) {
	i := uint64(slices.Index(n.claims, link))
	at := slices.IndexFunc(n.attested, func(a seedlog.Attestation) bool { return a.Claim == i })
	if at < 0 {
		return Peer{}, false
	}
	attester = n.attested[at].Peer
	claims := 0
	for _, a := range n.attested {
		if a.Peer == attester {
			claims++
		}
	}
	return attester, claims <= c.covers(n.parent, attester)
}

// covers is how many claims a peer may attest in an entry on n: as many as there are entries with its work below. In
// the first entries of a run, when nobody has much, it may attest one in any case.
func (c *Coordinator) covers(n *node, attester Peer) int {
	entries := c.chain.accountsAt(n).of[attester].entries
	if n.height < min(c.chain.maxStale, firstEntries) {
		return max(entries, 1)
	}
	return entries
}

// markAttester bans who attested a false claim in n.
func (c *Coordinator) markAttester(n *node, link seedlog.Link) {
	if attester, ok := c.answers(n, link); ok {
		c.markFaulty(attester, fmt.Sprintf("attested the false claim %s", link))
	}
}
