package coordinator

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Who joins an old run has to fold all of it before it knows by itself where the swarm is. It works meanwhile: a hub
// gives it the state of a recent entry, which must have the digests that the entry names, and it makes claims on that.
// It re-runs results of others on that state first, drawn in secret. Nothing else follows from such a state: what this
// peer votes for, leads, logs and keeps is its own chain, which grows by what it folded itself.

const (
	// aheadLeast is how many entries a peer must lack to work ahead of its chain: fewer are folded before that pays.
	aheadLeast = 64
	// aheadChecks is how many results on the first state of a hub are re-run.
	aheadChecks = 64
	// aheadPart is how much of a state is sent at a time, in bytes.
	aheadPart = 256 << 10
	// aheadPause is for how many answer times a hub is not asked again whose state was of no use.
	aheadPause = 32
	// maxShunned bounds the hubs that are remembered for that.
	maxShunned = 64
	// maxLoggedAhead bounds the entries with own claims that are counted one by one.
	maxLoggedAhead = 4096
	// maxBegun bounds how often a hub may begin a state again, since it no longer has the one that was asked for.
	maxBegun = 3
	// aheadEvery is how many entries above a state its successor is asked for at most.
	aheadEvery = 2
)

// Ask asks a hub for the state that it has after a recent entry.
type Ask struct {
	_      struct{} `cbor:",toarray"`
	Height uint64   // of the entry whose state was begun; 0: the newest
	Offset uint64   // bytes of it that are there
}

// Part answers Ask with the next bytes of an encoded state.
type Part struct {
	_      struct{} `cbor:",toarray"`
	Height uint64   // of the entry
	Size   uint64   // of the whole state, in bytes
	Offset uint64
	Entry  []byte // with offset 0, else empty
	Seal   []byte // with offset 0, else empty
	Data   []byte

	Evaluations uint64         // of the chain up to the entry, with offset 0; else 0
	Steps       uint64         // likewise
	Own         []seedlog.Link // claims of the asker in the newest entries up to that one, with offset 0; else none
}

// Unpack asks for the state that a hub gave to be read and compared with its entry; the answer is an Unpacked event.
type Unpack struct {
	Height uint64
	data   []byte
	entry  seedlog.CheckedEntry
	keep   bool // whether the answer has the blocks to keep it by
}

// Do reads the state. It decodes and hashes all of it: the driver calls it outside the loop.
func (u *Unpack) Do(rules *seedlog.Rules) Unpacked {
	s, e := new(evolve.State), u.entry.Value()
	err := s.UnmarshalBinary(u.data)
	if err == nil {
		err = rules.Plan.Shape().Check(s)
	}
	if err != nil {
		return Unpacked{Height: u.Height, Err: err}
	}
	if theta, digest := s.ThetaDigest(), s.Digest(); !bytes.Equal(theta[:], e.Theta) || !bytes.Equal(digest[:], e.State) {
		return Unpacked{Height: u.Height, Err: fmt.Errorf("%w: it is not the state of its entry", seedlog.ErrDigest)}
	}
	unpacked := Unpacked{Height: u.Height, State: s}
	if u.keep {
		for block := range slices.Chunk(u.data, stateBlock) {
			unpacked.blocks = append(unpacked.blocks, seedlog.NewRawBlock(block))
		}
	}
	return unpacked
}

// ahead is the work of a peer whose own chain lies far below that of the swarm.
type ahead struct {
	on     *node // the entry that it works on, neither in the tree nor linked to anything; nil: none
	from   Peer  // the hub that gave its state, and gets the claims
	led    bool  // that hub is the leader, and sent its state with the entry
	chunk  uint64
	claims []claimAhead // own ones that may still be logged, oldest first
	logged []loggedAhead
	load   *load
	checks checksAhead
	shun   []shunned

	evaluations, steps uint64 // of the run up to that entry, as the hub says

	announced seedlog.CheckedEntry // the newest entry that the leader announced
	height    uint64               // of it
	carried   *carried             // the newest state of that leader, until its entry is here; nil: none
	recent    []*node              // entries whose states the leader sent, as far as claims on them are in time
}

// claimAhead is an own claim on an entry above this peer's chain.
type claimAhead struct {
	seedlog.CheckedClaim
	height uint64 // of the entry
	given  bool   // to the hub whose state it is on
	told   uint   // how often it was given, at most crowdTold
	again  Tick   // a light peer does not give it again before
}

// loggedAhead is what an entry above this peer's chain holds of its own.
type loggedAhead struct {
	height uint64
	Credit
}

// load is a state that is on its way.
type load struct {
	from  Peer
	since Tick // the last question
	entry seedlog.CheckedEntry
	size  uint64 // 0: not known
	data  []byte
	begun int // how often its first bytes came
	bytes int // that came

	evaluations, steps uint64 // of the run up to the entry, as the hub says
	reading            bool   // all is here
}

// checksAhead are the re-runs of what others claim on states that were taken over.
type checksAhead struct {
	of    Peer // the hub that gave them
	left  int  // results to draw
	wrong int  // results that were not what they claim
	asked bool // for the entries above
	again Tick
}

// workAhead has this peer work on states that hubs give it, as long as its own chain is far below theirs.
func (c *Coordinator) workAhead() {
	a := &c.ahead
	if c.chain.maxStale == 0 || !c.trusts(c.self) {
		return
	}
	c.weighLight()
	if c.light.on {
		c.followLight()
		return
	}
	if c.undecided() {
		c.look()
		return
	}
	if c.advanced() {
		c.issueAhead()
		return
	}
	if !c.joining() {
		c.arrive()
		return
	}
	if l := a.load; l != nil && !l.reading && c.now-l.since > c.cfg.Timing.Pull {
		c.pauseGuide(l.from, 2*c.cfg.Timing.Pull)
	}
	h := c.guide()
	if h == nil {
		return
	}
	if a.load == nil && (a.on == nil || a.from != h.peer || h.Height >= a.on.height+c.leap(h)) {
		a.load = &load{from: h.peer, since: c.now}
		c.out.send(Direct, h.peer, &Ask{})
	}
	if a.on == nil || a.from != h.peer || h.Height > a.on.height+c.chain.maxStale {
		return
	}
	if k := &a.checks; k.left > 0 && !c.trusting() && c.now >= k.again && h.Height > a.on.height {
		k.asked, k.again = true, c.now+c.cfg.Timing.Pull
		c.out.send(Direct, a.from, &Pull{Locator: []seedlog.Link{a.on.link, c.rules.Run}})
	}
	c.issueAhead()
}

// issueAhead keeps the slots full with chunks of this peer on a state that was taken over.
func (c *Coordinator) issueAhead() {
	a := &c.ahead
	c.renewWaiting(a.on)
	for !c.work.paused && c.takesOwn() && a.chunk < c.rules.Spec.Generation.Quota {
		a.chunk = c.issueClaim(a.on, a.chunk, c.rules.Spec.Generation.Quota)
	}
}

// onPart takes the next bytes of a state.
func (c *Coordinator) onPart(from Peer, m *Part, checked *Checked) {
	if c.takesPart(from, m, checked) {
		return
	}
	a := &c.ahead
	l := a.load
	if l == nil || l.from != from || l.reading {
		return
	}
	if m.Offset == 0 {
		if l.begun++; l.begun > maxBegun {
			c.shunGuide(from, errors.New("it began again and again"))
			return
		}
		l.entry, l.size, l.data = checked.generations[0].entry, m.Size, nil
		l.bytes, l.evaluations, l.steps = l.bytes+len(m.Entry)+len(m.Seal), m.Evaluations, m.Steps
		height := l.entry.Value().Height
		if height <= c.chain.head.height || a.from == from && a.on != nil && height <= a.on.height {
			if !c.waitsForGuide(from) {
				c.pauseGuide(from, c.cfg.Timing.Heartbeat) // it has nothing newer yet
			}
			return
		}
		if own := c.chain.newest().state.EncodedLen(); m.Size != uint64(own) {
			c.shunGuide(from, fmt.Errorf("a state of %d bytes; those of this run have %d", m.Size, own))
			return
		}
		c.seeCost(l.entry, len(m.Entry))
		c.seeAhead(height, m.Own)
	}
	if l.size == 0 || m.Offset != uint64(len(l.data)) || len(m.Data) == 0 || m.Offset+uint64(len(m.Data)) > l.size {
		return // late, or twice
	}
	l.data, l.since, l.bytes = append(l.data, m.Data...), c.now, l.bytes+len(m.Data)
	if height := l.entry.Value().Height; uint64(len(l.data)) < l.size {
		c.out.send(Direct, from, &Ask{Height: height, Offset: uint64(len(l.data))})
	} else {
		l.reading = true
		c.out.Unpack = &Unpack{height, l.data, l.entry, false}
	}
}

// unpacked takes a state that was read.
func (c *Coordinator) unpacked(e Unpacked) {
	if c.unpackedBase(e) {
		return
	}
	a := &c.ahead
	l := a.load
	if l == nil || !l.reading || l.entry.Value().Height != e.Height || a.led {
		return
	}
	if e.State == nil {
		c.shunGuide(l.from, e.Err)
		return
	}
	entry := l.entry.Value()
	c.light.end = c.rules.Ended(seedlog.Parent{Height: entry.Height, Evaluations: l.evaluations, Steps: l.steps, Solved: entry.Solved})
	if c.light.solved = entry.Solved; c.light.end != seedlog.Open {
		c.shunGuide(l.from, errors.New("the run has ended there"))
		return
	}
	if a.on == nil {
		c.holdDrawn()
	}
	a.load, a.chunk, a.evaluations, a.steps = nil, c.chunkAhead(l.entry.Link()), l.evaluations, l.steps
	a.on = &node{link: l.entry.Link(), height: entry.Height, term: entry.Term, leader: entry.Leader, duration: entry.Duration, stage: trusted, state: e.State, afloat: true}
	c.tookLight(l)
	c.seeAhead(entry.Height, entry.Claims)
	if a.checks.of != l.from {
		a.checks = checksAhead{of: l.from, left: aheadChecks}
	}
	a.checks.asked = false
	a.claims = slices.DeleteFunc(a.claims, func(claim claimAhead) bool { return claim.height+c.chain.maxStale < a.on.height })
	if a.from != l.from {
		a.from = l.from
		for i := range a.claims {
			a.claims[i].given = false
		}
		c.giveAhead()
	}
	c.cancelStale()
}

// chunkAhead is the first chunk that this peer has not begun on an entry above its chain. It may have begun some:
// another hub may send the state of the same entry.
func (c *Coordinator) chunkAhead(on seedlog.Link) (chunk uint64) {
	a := &c.ahead
	if a.on != nil && a.on.link == on {
		return a.chunk
	}
	for _, claim := range a.claims {
		if v := claim.Value(); v.Parent == on && !v.HeldOut() {
			chunk = max(chunk, v.Chunk+c.rules.Chunks(v))
		}
	}
	for _, j := range c.work.jobs { //lint:sorted the highest
		if j.kind == jobOwn && j.parent.link == on && j.chunk < seedlog.FirstHeldOut {
			chunk = max(chunk, j.chunk+j.chunks)
		}
	}
	return chunk
}

// inTime reports whether claims on an entry above this peer's chain may be in the next one there.
func (a *ahead) inTime(n *node, maxStale uint64) bool {
	return a.on != nil && n.height+maxStale >= a.on.height
}

// claimedAhead gives an own claim on an entry above this peer's chain to the hub that gave its state.
func (c *Coordinator) claimedAhead(on *node, claim seedlog.CheckedClaim) {
	a := &c.ahead
	if a.on == nil && !c.light.on {
		return
	}
	a.claims = append(a.claims, claimAhead{CheckedClaim: claim, height: on.height})
	c.giveAhead()
}

// giveAhead hands over the claims that were not yet, but for those with a lower chunk of their parent still under
// evaluation: they have no place before that has one, and a newcomer's are not even kept.
func (c *Coordinator) giveAhead() {
	a := &c.ahead
	scope, to := Direct, a.from
	if leader := c.election.leader; c.trusting() && leader != (Peer{}) {
		to = leader
	} else if c.light.on {
		scope, to = Hubs, Peer{} // one alone could keep them all back
	} else if !c.cfg.Hub && !c.members.links[a.from] {
		return // its hubs take them once its own chain is there
	}
	running := make(map[seedlog.Link]uint64) // lowest chunk
	for _, j := range c.work.jobs {          //lint:sorted the lowest
		if lowest, ok := running[j.parent.link]; j.kind == jobOwn && (!ok || j.chunk < lowest) {
			running[j.parent.link] = j.chunk
		}
	}
	slices.SortFunc(a.claims, func(x, y claimAhead) int {
		return cmp.Or(cmp.Compare(x.height, y.height), cmp.Compare(x.Value().Chunk, y.Value().Chunk))
	})
	gift := &Claims{}
	for i := range a.claims {
		claim := &a.claims[i]
		lowest, ok := running[claim.Value().Parent]
		if claim.given || c.light.on && c.now < claim.again || ok && lowest < claim.Value().Chunk || len(gift.Blocks) == maxWant {
			continue
		}
		claim.given, claim.again = true, c.now+2*c.cfg.Timing.Heartbeat<<claim.told
		claim.told = min(claim.told+1, crowdTold)
		gift.Blocks = append(gift.Blocks, claim.Bytes())
	}
	if len(gift.Blocks) > 0 {
		c.out.send(scope, to, gift)
	}
}

// seeAhead notes which own claims the entries above this peer's chain hold, up to a height.
func (c *Coordinator) seeAhead(height uint64, claims []seedlog.Link) {
	a := &c.ahead
	var sum Credit
	a.claims = slices.DeleteFunc(a.claims, func(claim claimAhead) bool {
		if !slices.Contains(claims, claim.Link()) {
			return false
		}
		sum.Evaluations += claim.Value().Evaluations()
		sum.Steps += claim.Value().TotalSteps()
		return true
	})
	if sum == (Credit{}) {
		return
	}
	if !a.led { // else the chain is close behind, and the ledger agrees with that
		c.work.ledger.came(height, claims)
	}
	a.logged = slices.DeleteFunc(a.logged, func(l loggedAhead) bool { return l.height <= c.chain.head.height })
	if n := len(a.logged); n == maxLoggedAhead {
		sum.Evaluations, sum.Steps = sum.Evaluations+a.logged[n-1].Evaluations, sum.Steps+a.logged[n-1].Steps
		a.logged = a.logged[:n-1]
	}
	a.logged = append(a.logged, loggedAhead{height, sum})
}

// credit is what entries above height hold of this peer's own, as far as it saw them.
func (a *ahead) credit(height uint64) (sum Credit) {
	for _, l := range a.logged {
		if l.height > height {
			sum.Evaluations += l.Evaluations
			sum.Steps += l.Steps
		}
	}
	return sum
}

// readAbove draws results from what others claim on the state that was taken over, and has them re-run. It reports
// whether these entries were asked for, for that.
func (c *Coordinator) readAbove(from Peer, generations []generation) bool {
	a := &c.ahead
	if k := &a.checks; !k.asked || k.of != from || a.on == nil || len(generations) == 0 || generations[0].entry.Value().Parent != a.on.link {
		return false
	}
	a.checks.asked = false
	var claims []seedlog.CheckedClaim
	steps := uint64(0)
	for _, g := range generations {
		for i, link := range g.entry.Value().Claims {
			if i < len(g.claims) && g.claims[i].Link() == link && g.claims[i].Value().Parent == a.on.link && g.claims[i].Value().Peer != c.self {
				claims = append(claims, g.claims[i])
				steps += g.claims[i].Value().TotalSteps()
			}
		}
	}
	if steps == 0 {
		return true
	}
	results := 0
	for _, claim := range claims {
		results += len(claim.Value().Steps)
	}
	for _, d := range drawResults(claims, uint64(min(a.checks.left, results)), func() uint64 { return c.draw.Uint64() % steps }) {
		claim := claims[d.claim]
		v := claim.Value()
		a.checks.left--
		c.issue(&job{kind: jobAhead, parent: a.on, claim: claim, peer: v.Peer, counter: c.rules.First(v) + uint64(d.result)}, true)
	}
	return true
}

// checkedAhead takes the re-run of a result on a state that was taken over. Where too many are wrong the state may not
// be what the swarm works on. A newcomer blames nobody for it, since it does not know that chain yet; a light peer
// proves what it found: the claim names the entry that the state is of, so where others have that, they find the same.
func (c *Coordinator) checkedAhead(j *job, fitness []int64, steps uint64) {
	k := &c.ahead.checks
	if stated, statedSteps := c.rules.At(j.claim.Value(), j.counter); slices.Equal(stated, fitness) && statedSteps == steps {
		return
	}
	if c.light.on {
		c.exposeCounter(j.claim, j.counter, fitness, steps, c.cfg.Timing.Pull)
	}
	if k.wrong++; k.wrong > auditFalse {
		of := k.of
		c.ahead.checks = checksAhead{}
		c.shunGuide(of, errors.New("results that others claim on it are false"))
	}
}

// arrive ends the work ahead: this peer's own chain has come up to the others', and what it computed has a place there.
func (c *Coordinator) arrive() {
	a := c.ahead
	if a.on == nil && a.load == nil {
		return
	}
	c.ahead = ahead{shun: a.shun, announced: a.announced, height: a.height}
	for _, id := range sortedJobs(c.work.jobs) {
		j := c.work.jobs[id]
		if !j.parent.afloat {
			continue
		}
		if n := c.chain.nodes[j.parent.link]; n != nil && (j.kind == jobOwn || j.kind == jobRequested) {
			j.parent = n
		} else {
			delete(c.work.jobs, id)
			c.out.Cancel = append(c.out.Cancel, id)
		}
	}
	for _, claim := range a.claims {
		if n := c.chain.nodes[claim.Value().Parent]; n != nil && c.inTime(n) {
			c.offer(source{key: c.self}, claim.CheckedClaim)
		}
	}
	c.cancelStale()
}
