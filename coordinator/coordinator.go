package coordinator

import (
	"errors"
	"fmt"
	"maps"

	"github.com/fxamacker/cbor/v2"

	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// ErrRestore is returned by New for an archive that does not hold the chain it is said to hold.
var ErrRestore = errors.New("coordinator: cannot restore")

const (
	defaultMandate = 20
	maxHeard       = 4096
	drawDomain     = 0x636f6f72 // of the noise stream that draws timeouts and audits
)

// Coordinator is one peer's view of a swarm. It is not safe for concurrent use: one event loop owns it.
type Coordinator struct {
	cfg   Config
	rules *seedlog.Rules
	self  Peer
	draw  noise.Stream

	now     Tick
	begun   Tick // when it began to listen: at the start, or after a sleep
	alive   bool // whether begun is set
	retired bool
	out     Actions

	hard        hardState
	hardChanged bool
	lastEntry   Tick // when the head moved

	chain    chain
	settled  *node // head when nothing heavier was known last
	folds    folds
	work     work
	members  members
	election election
	slowness slowness
	tenure   tenure
	faults   faults
	trust    trust
	recall   recall
	ahead    ahead
	light    light
	coming   []coming // oldest first, at most maxComing
	places   places   // of the tree
	serving  serving
	tests    []*test // oldest first, at most maxTests
	nextTest Tick    // from when on this leader may begin another
	seeking  seeking
	based    *based // nil: the chain begins at the genesis
	quiet    bool   // it is the past of another: see past.go
	finest   finest

	checkpoints checkpoints
}

// hardState is what must survive a crash.
type hardState struct {
	_            struct{} `cbor:",toarray"`
	Term         uint64   // newest term that this peer voted in
	Voted        []byte   // candidate voted for in Term; empty: none
	SealedTerm   uint64   // newest (term, height) signed as leader
	SealedHeight uint64
	Proofs       [][2]seedlog.Link  // claim and proof that this peer verified
	Faulty       []Peer             // banned permanently: peers that made false claims or false proofs
	Vouched      uint64             // height of the newest entry that this peer signed as one of its chain
	Final        []byte             // a finality; empty: none
	Barred       []disqualification // leaders that signed two entries for one place
	DoubleVotes  []DoubleVote       // evidence against voters
	Base         []seedlog.Link     // of a chain that begins at a base: what is kept of that, and the newest place; empty: it does not
}

// hardFields and hardFields1 are how many fields a hard state has, and had at first. Fields were only ever added at the
// end.
const hardFields, hardFields1 = 11, 6

// decodeHard reads a hard state of this version or an earlier one: fields that it lacks are null, which reads as empty.
func decodeHard(data []byte) (h hardState, err error) {
	var fields []cbor.RawMessage
	if err = messageMode.Unmarshal(data, &fields); err != nil {
		return h, err
	}
	for len(fields) >= hardFields1 && len(fields) < hardFields {
		fields = append(fields, cbor.RawMessage{0xf6})
	}
	return h, messageMode.Unmarshal(seedlog.Encode(fields), &h)
}

// New makes a coordinator on the chain that the archive holds. The chain is folded by Fold actions afterwards.
func New(cfg Config) (*Coordinator, error) {
	if cfg.Mandate == 0 {
		cfg.Mandate = defaultMandate
	}
	if cfg.Rules.Trusting() {
		cfg.Timing, cfg.Decisive, cfg.Audit, cfg.Mandate = cfg.Timing.trusted(), 0, 0, noMandate
	}
	c := &Coordinator{
		cfg: cfg, rules: cfg.Rules, self: seedlog.PeerOf(cfg.Key), draw: noise.NewStream(cfg.Seed, drawDomain),
		work:        work{jobs: make(map[uint64]*job), slots: max(cfg.Slots, 1), paused: cfg.Paused},
		members:     members{links: make(map[Peer]bool), tabs: make(map[Peer]bool), pulls: make(map[Peer]*pull)},
		faults:      newFaults(),
		trust:       newTrust(cfg.Rules),
		checkpoints: checkpoints{vouches: make(map[Peer]Vouch)},
	}
	c.serving = newServing()
	c.chain = newChain(c.rules, cfg.Archive, c.faults.peers)
	c.chain.self = c.self
	c.folds = folds{goal: c.chain.root, size: 1}
	if err := c.restoreHard(); err != nil {
		return nil, err
	}
	if err := c.restoreChain(); err != nil {
		return nil, err
	}
	c.work.pool, c.work.pace = newPool(c.rules), newPace(c.rules)
	c.drawJitter()
	c.folds.goal, c.settled = c.chain.head, c.chain.head
	c.measure()
	if len(c.hard.Base) > 0 && cfg.Base == nil {
		return nil, fmt.Errorf("%w: %w", ErrRestore, errBase)
	}
	if cfg.Base != nil {
		if err := c.restoreBase(cfg.Base); err != nil {
			return nil, err
		}
		c.measure()
	}
	return c, nil
}

func (c *Coordinator) restoreHard() error {
	if len(c.cfg.State) == 0 {
		return nil
	}
	var err error
	if c.hard, err = decodeHard(c.cfg.State); err != nil {
		return fmt.Errorf("%w: hard state: %v", ErrRestore, err)
	}
	if err := c.restoreFinal(); err != nil {
		return err
	}
	c.restoreDoubles()
	for _, p := range c.hard.Faulty {
		c.faults.peers[p] = true
		c.faults.order.Put(p, true, 1, struct{}{})
	}
	for _, links := range c.hard.Proofs {
		claim, ok1 := c.cfg.Archive.Block(links[0])
		proof, ok2 := c.cfg.Archive.Block(links[1])
		if !ok1 || !ok2 {
			return fmt.Errorf("%w: proof %s is not in the archive", ErrRestore, links[1])
		}
		decoded, err := c.rules.KeptClaim(claim, links[0])
		if err != nil {
			return fmt.Errorf("%w: %w", ErrRestore, err)
		}
		c.faults.peers[decoded.Value().Peer] = true
		c.faults.keep(FraudProof{Claim: claim, Proof: proof}, links, proofSource{true, decoded.Value().Peer})
	}
	return nil
}

func (c *Coordinator) restoreChain() error {
	if s := c.cfg.Summary; s != nil && s.Height <= c.cfg.Height {
		if err := c.beginAt(s); err != nil {
			return fmt.Errorf("%w: below the summary of height %d: %w", ErrRestore, s.Height, err)
		}
	}
	for c.chain.head.height < c.cfg.Height {
		if err := c.restoreEntry(); err != nil {
			return fmt.Errorf("%w: height %d: %w", ErrRestore, c.chain.head.height+1, err)
		}
	}
	c.chain.reported = c.chain.head
	c.tenure.mandateFrom = c.chain.head.height
	return nil
}

// restoreEntry takes the next canonical entry from the archive.
func (c *Coordinator) restoreEntry() error {
	n, err := c.readNode(c.chain.head)
	if err != nil {
		return err
	}
	c.hang(n)
	c.markFalse(n)
	_, come := c.chain.move(n)
	c.members.logged(come[0])
	return nil
}

// Step tells the coordinator that e happened at time now, which never goes back, and returns what to do about it.
func (c *Coordinator) Step(now Tick, e Event) Actions {
	away := now > c.now+c.timing().Unheard
	if away {
		c.begun = now // after a start, or a sleep: others were not heard meanwhile, which is no silence of theirs
	}
	slept := c.alive && away
	c.now = max(now, c.now)
	first := !c.alive
	if first {
		c.alive, c.begun, c.election.leaderHeard, c.lastEntry = true, c.now, c.now, c.now
	}
	c.out = Actions{}
	if first {
		c.checkEnd() // of the chain that was restored
	}
	if slept && c.election.role == Leader {
		c.stepDown() // others chose another meanwhile
	}
	c.forget()
	if !c.based.takes(e) {
		c.handle(e)
	}
	c.proceed()
	c.stepPast(e)
	if r, ok := e.(Received); ok {
		c.Done(r.From, r.Message.message)
	}
	return c.finish()
}

// handle takes in what happened.
func (c *Coordinator) handle(e Event) {
	switch e := e.(type) {
	case Received:
		c.receive(e)
	case Invalid:
		if !c.faults.peers[e.From] {
			c.ban(e.From, "sent an "+e.Err.Error())
		}
	case Evaluated:
		c.evaluated(e)
		c.stays(c.folds.far)
	case Promising:
		c.promising(e.Head)
	case Folded:
		c.folded(e)
		c.stays(c.folds.far)
	case Linked:
		c.members.link(e.Peer, e.Tab)
		c.members.statusNow = c.members.statusNow || e.Tab
		c.greet(e.Peer)
		if !c.cfg.Hub {
			c.work.pool.reannounce() // a new hub has none of our claims
		}
	case Unlinked:
		c.members.unlink(e.Peer)
		if c.cfg.Kind == Tab && c.tabsAlone() { // the last hub may have gone, and nobody else has its work
			c.members.statusNow = true
			c.work.pool.reannounce()
		}
		delete(c.members.pulls, e.Peer)
	case SetPaused:
		c.work.paused = e.Paused
	case Recalled:
		c.recalled(e.Summary)
	case Packed:
		c.packed(e)
	case Unpacked:
		c.unpacked(e)
	case SetSlots:
		c.work.slots = max(e.Slots, 1)
	case Retire:
		c.retire()
	}
}

// proceed does what is due, whatever the event was.
func (c *Coordinator) proceed() {
	c.readBack()
	c.follow()
	c.keepBest()
	if !c.retired {
		if c.ended() == seedlog.Open { // else there is nothing to lead
			if c.trusting() {
				c.takeLead()
			} else {
				c.elect()
			}
			c.lead()
		}
		c.forgetComing()
		c.sync()
		c.issueHeldOut()
		c.workAhead()
		c.seekBase()
		c.issueOwn()
		c.issueAudits()
		c.issueProofs()
		c.foldNext()
		c.beginDrawn()
	}
	c.publish()
	c.publishDoubles()
	c.serve()
	c.finalize()
	c.vouch()
	if c.trusting() {
		c.giveClaims()
		c.showTrusted()
		return
	}
	c.announceClaims()
	c.sendStatus()
}

// finish adds what changed to the actions.
func (c *Coordinator) finish() Actions {
	if c.chain.head != c.chain.reported {
		m := c.headMove()
		if c.chain.reported = c.chain.head; c.based == nil {
			c.out.Head = m
		} else {
			c.out.Front = m
			c.keepPlaces(m)
		}
	}
	c.fillArchive()
	c.summarize()
	if c.hardChanged {
		c.out.State = seedlog.Encode(&c.hard)
		c.hardChanged = false
	}
	return c.out
}

// headMove describes the path from the head that the driver knows to the present one.
func (c *Coordinator) headMove() *HeadMove {
	fork := c.chain.fork(c.chain.reported)
	m := &HeadMove{Fork: fork.height, State: c.chain.head.state}
	for _, n := range c.chain.above(fork.height) {
		m.Entries = append(m.Entries, n.link)
		m.Seals = append(m.Seals, n.sealLink)
	}
	if fork != c.chain.reported {
		r := Reorg{fork.height, c.chain.reported.height - fork.height, uint64(len(m.Entries))}
		c.chain.reorg = r
		c.chain.reorgs++
		c.out.note(NoteReorg, c.chain.head.leader, fmt.Sprintf("%d entries above height %d were replaced by %d others", r.Gone, r.Height, r.Come))
	}
	return m
}

// moveHead makes n the head: the chain, the credits, the pool and own work follow.
func (c *Coordinator) moveHead(n *node) {
	c.seeWait(n)
	gone, come := c.chain.move(n)
	c.checkBest(come)
	for _, m := range gone {
		c.work.ledger.gone(m.height, m.claims)
	}
	for _, m := range come {
		if !c.quiet {
			c.members.logged(m)
		}
		c.work.note(m, c.self)
		c.archiveBody(m)
		c.chain.sides.entries.Delete(m.link)
	}
	for _, m := range gone {
		c.chain.sides.entries.Put(m.link, source{key: c.self}, m.cost(), m)
	}
	c.work.ledger.settle(c.chain.head.height, c.chain.maxStale)
	c.lastEntry = c.now
	for _, m := range come {
		c.election.liveness.forgive(m.leader)
	}
	c.election.liveness.moved(c.now)
	c.slowness.calm(c.now, c.chain.head.height)
	c.dropClosing()
	c.crowded(n)
	c.renewPool()
	c.land()
	c.cancelStale()
	if c.cfg.Hub && !c.trusting() {
		c.tellHead()
	}
	if leader := c.election.leader; c.actsAsHub() && leader != (Peer{}) && leader != c.self && !c.trusting() {
		c.out.send(Direct, leader, c.status()) // which does not run away from its followers
	}
	if c.trusting() && n.leader == c.election.leader {
		c.election.leaderHeard = c.now
	}
	c.checkEnd()
}

// archiveBody hands the blocks of an entry to the driver for keeping.
func (c *Coordinator) archiveBody(n *node) {
	if n.body == nil {
		return
	}
	c.out.Blocks = append(c.out.Blocks, n.body.entry.Batches()...)
	for _, claim := range n.body.claims {
		c.out.Blocks = append(c.out.Blocks, claim.RawBlock)
	}
	c.out.Blocks = append(c.out.Blocks, n.body.entry.RawBlock, n.body.entry.Seal().RawBlock)
	if c.cfg.Hub {
		c.serving.recent.keep(n.link, n.body)
	}
	n.body = nil
}

func (c *Coordinator) receive(e Received) {
	if e.From == c.self || c.faults.peers[e.From] || c.trusting() && !c.hears(e.From, e.Message.message) {
		return
	}
	at := c.sourceOf(&e)
	switch m := e.Message.message.(type) {
	case *Status:
		c.onStatus(e.From, e.Via, m)
	case *Inventory:
		c.onInventory(e.From, at, m)
	case *Want:
		c.onQuestion(question{from: e.From, at: at, message: m})
	case *Claims:
		c.onClaims(e.From, at, e.Message.claims)
	case *Announce:
		c.onAnnounce(e.From, e.Via, at, e.Message.generations[0].entry)
	case *Pull:
		c.onQuestion(question{from: e.From, at: at, message: m})
	case *Segment:
		c.onSegment(e.From, at, m, &e.Message)
	case *Push:
		c.onPush(e.From, at, m, &e.Message)
	case *FraudProof:
		c.onFraudProof(&e.Message.evidence[0])
	case *VoteRequest:
		c.onVoteRequest(e.From, m)
	case *VoteReply:
		c.onVoteReply(e.From, m)
	case *Handover:
		c.onHandover(e.From, m)
	case *Leave:
		c.onLeave(e.From)
	case *Vouch:
		c.onVouch(m)
	case *Mandate:
		c.onMandate(e.From, m)
	case *Equivocation, *DoubleVote:
		c.onDouble(e.Message.double)
	case *Recheck:
		c.onRecheck(e.From, m, e.Message.claims[0])
	case *Rechecked:
		c.onRechecked(e.From, m)
	case *Ask:
		c.onQuestion(question{from: e.From, at: at, message: m})
	case *Seek:
		c.onQuestion(question{from: e.From, at: at, message: m})
	case *Base:
		c.onBase(e.From, m, &e.Message)
	case *Part:
		c.onPart(e.From, m, &e.Message)
	case *Advance:
		c.onAdvance(e.From, e.Message.carried)
	}
}

// ban disconnects a peer permanently.
func (c *Coordinator) ban(p Peer, why string) {
	if p == c.self {
		return
	}
	c.out.Ban = append(c.out.Ban, p)
	c.out.note(NoteBan, p, why)
	c.members.forget(p)
	delete(c.members.pulls, p)
	if c.election.leader == p {
		c.loseLeader()
	}
}

// disqualify refuses a peer's leadership for the next entries.
func (c *Coordinator) disqualify(p Peer, why string) {
	if p == c.self {
		return
	}
	if len(c.faults.disqualified) >= maxDisqualified && !c.known(p) {
		maps.DeleteFunc(c.faults.disqualified, func(_ Peer, until uint64) bool { return until <= c.chain.head.height })
		if len(c.faults.disqualified) >= maxDisqualified {
			return // nobody would vote for it either
		}
	}
	c.faults.disqualified[p] = c.chain.head.height + disqualifiedFor
	c.out.note(NoteBad, p, why)
	if c.election.leader == p {
		c.loseLeader()
	}
}
