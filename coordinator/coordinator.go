package coordinator

import (
	"errors"
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/evolve"
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

	now   Tick
	begun Tick // first tick seen
	alive bool // whether begun is set
	out   Actions

	// the tree of entries
	root, head *node
	told       *node   // head that the driver was last told
	canon      []*node // canonical chain by height
	nodes      map[seedlog.Link]*node
	tips       []*node // ends of all branches
	states     states  // in memory

	goal      *node    // best tip known, which the head is brought to
	toFold    uint64   // entries up to goal without a state
	foldFrom  uint64   // height of the newest state when this peer fell behind
	caughtUp  Tick     // when this peer was last catching up
	folding   *folding // under way; nil: none
	foldSize  int      // entries in the next fold
	foldAgain Tick     // not to be asked before
	closing   *closing // the generation that this leader closes
	waiting   []uint64 // jobs that wait for a state
	credits   map[Peer]Credit

	weightsOf    *node
	weightsCache map[Peer]uint64

	pool    pool
	jobs    map[uint64]*job
	lastJob uint64
	slots   int
	chunk   uint64 // next own chunk on the head
	own     int    // own chunks under evaluation
	paused  bool
	audits  []audit

	// who is there
	heard   roll
	links   map[Peer]bool
	nextHi  Tick // when the next status is due
	hiNow   bool // a status is due at once
	retired bool

	// election
	hard        hardState
	hardChanged bool
	role        Role
	leader      Peer
	leaderHeard Tick
	jitter      Tick
	campaign    *campaign
	votes       []seedlog.Vote // that made this peer leader
	sealedTerm  bool           // whether the votes were already written into a seal
	mandateFrom uint64
	yieldUntil  Tick
	handover    *handover
	lastEntry   Tick
	grace       grace

	pulls map[Peer]*pull

	liars       map[Peer]bool
	barred      map[Peer]uint64 // leaders whose entries are not followed up to this height
	falseClaims map[seedlog.Link]bool
	accusations []Accuse
}

// hardState is what must survive a crash.
type hardState struct {
	_            struct{} `cbor:",toarray"`
	Term         uint64
	Voted        []byte // candidate voted for in Term; empty: none
	SealedTerm   uint64 // newest (term, height) signed as leader
	SealedHeight uint64
	Accusations  [][2]seedlog.Link // claim and proof that this peer acted on
	Liars        []Peer            // cut off for good: claimants and accusers
}

// New makes a coordinator on the chain that the archive holds. The chain is folded by Fold actions afterwards.
func New(cfg Config) (*Coordinator, error) {
	if cfg.Mandate == 0 {
		cfg.Mandate = defaultMandate
	}
	c := &Coordinator{
		cfg: cfg, rules: cfg.Rules, self: seedlog.PeerOf(cfg.Key), draw: noise.NewStream(cfg.Seed, drawDomain),
		nodes: make(map[seedlog.Link]*node), credits: make(map[Peer]Credit), jobs: make(map[uint64]*job),
		slots: max(cfg.Slots, 1), paused: cfg.Paused,
		links: make(map[Peer]bool), pulls: make(map[Peer]*pull),
		liars: make(map[Peer]bool), barred: make(map[Peer]uint64), falseClaims: make(map[seedlog.Link]bool),
	}
	state := c.rules.Initial()
	c.root = &node{link: c.rules.Run, stage: trusted, state: state, best: evolve.InvalidFitness, mean: evolve.InvalidFitness}
	c.nodes[c.root.link] = c.root
	c.states = newStates(c.rules.Plan.Shape())
	c.head, c.told, c.goal, c.canon, c.tips = c.root, c.root, c.root, []*node{c.root}, []*node{c.root}
	c.foldSize = 1
	if err := c.restoreHard(); err != nil {
		return nil, err
	}
	if err := c.restoreChain(); err != nil {
		return nil, err
	}
	c.resetPool()
	c.drawJitter()
	c.goal = c.head
	c.measure()
	return c, nil
}

func (c *Coordinator) restoreHard() error {
	if len(c.cfg.State) == 0 {
		return nil
	}
	if err := messageMode.Unmarshal(c.cfg.State, &c.hard); err != nil {
		return fmt.Errorf("%w: hard state: %v", ErrRestore, err)
	}
	for _, p := range c.hard.Liars {
		c.liars[p] = true
	}
	for _, links := range c.hard.Accusations {
		claim, ok1 := c.cfg.Archive.Block(links[0])
		proof, ok2 := c.cfg.Archive.Block(links[1])
		if !ok1 || !ok2 {
			return fmt.Errorf("%w: proof %s is not in the archive", ErrRestore, links[1])
		}
		c.accusations = append(c.accusations, Accuse{Claim: claim, Proof: proof})
		decoded, err := c.rules.KeptClaim(claim, links[0])
		if err != nil {
			return fmt.Errorf("%w: %w", ErrRestore, err)
		}
		c.liars[decoded.Value().Peer] = true
		c.falseClaims[links[0]] = true
	}
	return nil
}

func (c *Coordinator) restoreChain() error {
	if len(c.cfg.Seals) != len(c.cfg.Chain) {
		return fmt.Errorf("%w: %d seals for %d entries", ErrRestore, len(c.cfg.Seals), len(c.cfg.Chain))
	}
	for i, link := range c.cfg.Chain {
		if err := c.restoreEntry(link, c.cfg.Seals[i]); err != nil {
			return fmt.Errorf("%w: height %d: %w", ErrRestore, i+1, err)
		}
	}
	c.told = c.head
	c.mandateFrom = c.head.height
	if c.head.term > c.hard.Term {
		c.hard.Term, c.hard.Voted = c.head.term, nil
	}
	return nil
}

func (c *Coordinator) restoreEntry(link, sealLink seedlog.Link) error {
	entryData, ok1 := c.cfg.Archive.Block(link)
	sealData, ok2 := c.cfg.Archive.Block(sealLink)
	if !ok1 || !ok2 {
		return fmt.Errorf("entry %s or its seal %s is not in the archive", link, sealLink)
	}
	entry, err := c.rules.KeptEntry(entryData, link, sealData, sealLink)
	if err != nil {
		return err
	}
	claims, err := c.rules.KeptClaims(entry.Value().Claims, c.cfg.Archive.Block)
	if err != nil {
		return err
	}
	if err := c.rules.CheckPlace(entry, c.head.parentInfo(), claims); err != nil {
		return err
	}
	n := c.newNode(c.head, entry, claims)
	n.stage = trusted
	c.hang(n)
	c.head = n
	c.canon = append(c.canon, n)
	c.account(n, true)
	return nil
}

// Step tells the coordinator that e happened at time now, which never goes back, and returns what to do about it.
func (c *Coordinator) Step(now Tick, e Event) Actions {
	if now > c.now+c.cfg.Timing.Unheard {
		c.begun = now // after a start, or a sleep: others were not heard meanwhile, which is no silence of theirs
	}
	c.now = max(now, c.now)
	if !c.alive {
		c.alive, c.begun, c.leaderHeard, c.lastEntry = true, c.now, c.now, c.now
	}
	c.out = Actions{}
	switch e := e.(type) {
	case Received:
		c.receive(e)
	case Invalid:
		if !c.liars[e.From] {
			c.ban(e.From, "sent an "+e.Err.Error())
		}
	case Evaluated:
		c.evaluated(e)
	case Folded:
		c.folded(e)
	case Linked:
		c.links[e.Peer] = true
		c.hiNow = true
		if !c.cfg.Hub {
			c.reannounce() // a new hub has none of our claims
		}
	case Unlinked:
		delete(c.links, e.Peer)
		delete(c.pulls, e.Peer)
	case SetPaused:
		c.paused = e.Paused
	case SetSlots:
		c.slots = max(e.Slots, 1)
	case Retire:
		c.retire()
	}
	c.goOn()
	return c.finish()
}

// goOn does what is due, whatever the event was.
func (c *Coordinator) goOn() {
	c.follow()
	if !c.retired {
		c.elect()
		c.lead()
		c.sync()
		c.issueOwn()
		c.issueAudits()
		c.foldNext()
	}
	c.announceClaims()
	c.sayStatus()
}

// finish turns what changed into actions.
func (c *Coordinator) finish() Actions {
	if c.head != c.told {
		c.out.Head = c.headMove()
		c.told = c.head
	}
	if c.hardChanged {
		c.out.State = seedlog.Encode(&c.hard)
		c.hardChanged = false
	}
	return c.out
}

// headMove describes the way from the head that the driver knows to the present one.
func (c *Coordinator) headMove() *HeadMove {
	fork := c.told
	for c.canonAt(fork.height) != fork {
		fork = fork.parent
	}
	m := &HeadMove{Fork: fork.height, State: c.head.state}
	for _, n := range c.canon[fork.height+1:] {
		m.Entries = append(m.Entries, n.link)
		m.Seals = append(m.Seals, n.sealLink)
	}
	if fork != c.told {
		c.out.note(NoteReorg, c.head.leader, fmt.Sprintf("%d entries above height %d gave way to %d others", c.told.height-fork.height, fork.height, len(m.Entries)))
	}
	return m
}

func (c *Coordinator) canonAt(height uint64) *node {
	if height >= uint64(len(c.canon)) {
		return nil
	}
	return c.canon[height]
}

// moveHead makes n the head: the chain, the credits, the pool and own work follow.
func (c *Coordinator) moveHead(n *node) {
	var path []*node
	fork := n
	for c.canonAt(fork.height) != fork {
		path = append(path, fork)
		fork = fork.parent
	}
	for _, old := range c.canon[fork.height+1:] {
		c.account(old, false)
	}
	c.canon = c.canon[:fork.height+1]
	slices.Reverse(path)
	for _, m := range path {
		c.canon = append(c.canon, m)
		c.account(m, true)
		c.archiveBody(m)
	}
	c.head, c.lastEntry = n, c.now
	if n.term > c.hard.Term {
		c.enterTerm(n.term)
	}
	c.cancelStale()
	c.dropClosing()
	c.resetPool()
	c.hiNow = c.hiNow || c.cfg.Hub
}

// archiveBody hands the blocks of an entry to the driver for keeping.
func (c *Coordinator) archiveBody(n *node) {
	if n.body == nil {
		return
	}
	for _, claim := range n.body.claims {
		c.out.Blocks = append(c.out.Blocks, claim.Bytes())
	}
	c.out.Blocks = append(c.out.Blocks, n.body.entry.Bytes(), n.body.entry.Seal().Bytes())
	n.body = nil
}

func (c *Coordinator) receive(e Received) {
	if e.From == c.self || c.liars[e.From] {
		return
	}
	switch m := e.Message.message.(type) {
	case *Status:
		c.onStatus(e.From, e.Via, m)
	case *Digest:
		c.onDigest(e.From, m)
	case *Want:
		c.onWant(e.From, m)
	case *Claims:
		c.onClaims(e.Message.claims)
	case *Announce:
		c.onAnnounce(e.From, e.Via, e.Message.generations[0].entry)
	case *Pull:
		c.onPull(e.From, m)
	case *Segment:
		c.onSegment(e.From, m, &e.Message)
	case *Accuse:
		c.onAccuse(&e.Message.evidence[0])
	case *VoteRequest:
		c.onVoteRequest(e.From, m)
	case *VoteReply:
		c.onVoteReply(e.From, m)
	case *Handover:
		c.onHandover(e.From, m)
	case *Leave:
		c.onLeave(e.From)
	}
}

// Snapshot describes where the coordinator stands.
func (c *Coordinator) Snapshot() Snapshot {
	s := Snapshot{
		Self: c.self, Run: c.rules.Run, Head: c.head.link, Height: c.head.height, Weight: c.head.weight,
		Term: c.hard.Term, Role: c.role, Leader: c.leader, Evaluations: c.head.evaluations, Steps: c.head.steps,
		Mine: c.credits[c.self], Credits: len(c.credits), Best: c.head.best, Mean: c.head.mean,
		Syncing: c.catchingUp(), Paused: c.paused, Ready: c.leader != Peer{},
	}
	newest := c.head
	for newest.state == nil {
		newest = newest.parent
	}
	s.State, s.StateHeight = newest.state, newest.height
	if s.Syncing {
		s.Behind, s.BehindOf = c.progress()
	}
	s.Peers = c.countPeers()
	return s
}

// ban cuts a peer off.
func (c *Coordinator) ban(p Peer, why string) {
	if p == c.self {
		return
	}
	c.out.Ban = append(c.out.Ban, p)
	c.out.note(NoteBan, p, why)
	c.heard.remove(p)
	delete(c.pulls, p)
	if c.leader == p {
		c.loseLeader()
	}
}

// bar refuses a peer's leadership for the next entries.
func (c *Coordinator) bar(p Peer, why string) {
	if p == c.self {
		return
	}
	c.barred[p] = c.head.height + barredFor
	c.out.note(NoteBad, p, why)
	if c.leader == p {
		c.loseLeader()
	}
}

// barredFor is how many entries a leader that broke a rule may not lead.
const barredFor = 100

func (c *Coordinator) mayLead(p Peer) bool {
	return !c.liars[p] && c.barred[p] <= c.head.height
}
