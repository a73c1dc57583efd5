package coordinator

import "github.com/evoswarm/evoswarm/internal/seedlog"

const (
	// claimParts is how many claims a peer makes in the least time of a generation: what is under evaluation when an
	// entry comes is on an older state.
	claimParts = 2
	// claimsAtLeast is how many claims in less than two ticks show that they are too short.
	claimsAtLeast = 4
	// maxClaimTicks bounds how long a claim takes, whatever the entries hold: 5 s at 20 ticks a second.
	maxClaimTicks = 100
	// manyClaims is how many claims in an entry make its authors' claims twice as long. An entry holds
	// seedlog.MaxClaims, and everybody verifies their signatures.
	manyClaims = seedlog.MaxClaims / 4
	// fewClaims makes them half as long again.
	fewClaims = manyClaims / 4
	// crowdedFor is after how many entries most claims have the length that the last change gave them. Who judged
	// sooner made claims that were short an entry ago eight times as long.
	crowdedFor = 4
)

// pace is how long this peer's claims are: as many chunks as it computes in a time. How many these are is decided
// before they begin, so that claims do not end with short episodes.
type pace struct {
	chunks uint64 // of the next claim
	longer Tick   // factor of the time that a claim takes: a power of 2
	set    uint64 // height of the entry that changed it
	done   uint64 // chunks done
	since  Tick   // then
}

func newPace(rules *seedlog.Rules) pace {
	p := pace{chunks: 1, longer: 1}
	if spot := rules.Spec.SpotChecks; spot != nil {
		p.chunks = min(spot.First, population(rules), rules.MostChunks(), rules.Spec.Generation.Quota) // up to First all is re-run
	}
	return p
}

// population is how many chunks close a generation.
func population(rules *seedlog.Rules) uint64 {
	return max(rules.Spec.Generation.Evaluations/rules.EvaluationsPerChunk(), 1)
}

// begin measures from now on: this peer was idle.
func (p *pace) begin(now Tick) { p.done, p.since = 0, now }

// worksOn is the entry on whose state this peer's next claim is: its head, or one that came ahead of its claims.
func (c *Coordinator) worksOn() *node {
	if c.ahead.on != nil {
		return c.ahead.on
	}
	return c.chain.head
}

// claimTime is how long a claim should take: a part of the generation, or where entries hold many claims a multiple of
// that of the shortest one. Generations become longer with the age of claims, so claims must not become longer with
// both: they would be as old again, until either is as long as it may be.
func (c *Coordinator) claimTime() Tick {
	least := max(c.lastsAfter(&node{})/claimParts, 1)
	return min(max(c.lastsAfter(c.worksOn())/claimParts, least*c.work.pace.longer), maxClaimTicks)
}

// paced notes own chunks that are done, and sets how many the next claim has. It measures over two ticks at least,
// since ticks are coarse, and while there is work without a break. Who is done with several claims before, or with all
// that there is to do, is faster than that.
func (c *Coordinator) paced(chunks uint64) {
	p := &c.work.pace
	p.done += chunks
	spent, time := c.now-p.since, c.claimTime()
	fits := 2 * p.chunks
	switch {
	case spent >= max(time, 2):
		fits = p.done * uint64(time) / uint64(spent)
	case c.work.own > 0 && p.done < claimsAtLeast*p.chunks:
		return
	}
	p.chunks = min(max(fits, p.chunks/2, 1), 2*p.chunks, c.mostChunks())
	p.begin(c.now)
}

// claimChunks is how many chunks this peer's next claim has.
func (c *Coordinator) claimChunks() uint64 {
	if c.trusting() {
		return max(c.work.pace.chunks, c.share())
	}
	if c.waitsForRecord() {
		return min(c.work.pace.chunks, c.rules.Spec.SpotChecks.First)
	}
	return c.work.pace.chunks
}

// mostChunks bounds this peer's claims: one alone closes a generation with them, unless entries hold many.
func (c *Coordinator) mostChunks() uint64 {
	return min(population(c.rules)*uint64(c.work.pace.longer), c.rules.MostChunks(), c.rules.Spec.Generation.Quota)
}

// crowded makes own claims longer where the entry that is the head now holds many, and shorter where it holds few,
// unless its claims were begun before the last change.
func (c *Coordinator) crowded(n *node) {
	p := &c.work.pace
	switch {
	case p.set > 0 && n.height < p.set+crowdedFor:
	case n.named > manyClaims && c.claimTime() < maxClaimTicks:
		p.longer, p.set = 2*p.longer, n.height
	case n.named < fewClaims && p.longer > 1:
		p.longer, p.set = p.longer/2, n.height
	}
}

// takesOwn reports whether another own claim is to be evaluated: as many chunks as keep the computer busy, and where
// claims are longer one that waits.
func (c *Coordinator) takesOwn() bool {
	busy := uint64(c.work.slots)
	if c.rules.MostChunks() > 1 {
		busy = max(busy, c.claimChunks()+1)
	}
	return c.work.own < busy
}

// atOnce is how many claims of others are re-run at the same time.
func (c *Coordinator) atOnce() int {
	if c.rules.MostChunks() == 1 {
		return c.work.slots
	}
	return max(c.work.slots/int(c.work.pace.chunks), 2)
}

// mostCredit bounds the results that a native may re-run for a leader.
func (c *Coordinator) mostCredit() uint64 {
	chunks := c.work.pace.chunks
	if spot := c.rules.Spec.SpotChecks; spot != nil {
		chunks = max(chunks, spot.First)
	}
	return creditClaims * chunks * c.rules.Spec.Generation.Chunk
}
