package coordinator

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Runs of trusted keys. Where the spec lists the keys that count, all of one owner, nobody votes, and nobody re-runs
// what others claim: the first that misses the leader leads. Claims go straight to the leader, and an entry comes back
// with all that it names down a tree, so a peer sends and gets two messages a generation. docs/spec/format2.md has the
// reasons.

const (
	// trustedSpread is to how many peers each gives a new entry.
	trustedSpread = 8
	// standbys is how many peers hear from the leader often, and lead as soon as they do not.
	standbys = 2
	// restless is how many times as long as they the others wait.
	restless = 10
	// remindEvery is after how many election times without an entry a leader tells everybody that it is here.
	remindEvery = 5
	// mostRanks bounds the time that those wait for each other who may lead next.
	mostRanks = 16
	// noMandate is how many entries a leader may close: it stays as long as nobody misses it.
	noMandate = 1 << 40
	// mostNewcomers is to how many trusted peers without work a leader gives an entry, by lot.
	mostNewcomers = 32
)

// trusted turns timing into that of a run of trusted keys: an election costs nothing there, so the leader is missed
// sooner.
func (t Timing) trusted() Timing {
	t.Heartbeat, t.Election, t.Rank = max(t.Heartbeat/2, 1), max(t.Election/3, 2), max(t.Rank/2, 1)
	return t
}

// trust is what a run of trusted keys needs.
type trust struct {
	order  []Peer       // the keys in a fixed order by lot; nil: the run has no list
	places map[Peer]int // their places in it
	beat   Tick         // when the leader tells those who lead next that it is here
	remind Tick         // when it tells everybody
	show   Tick         // when neighbors without work are told of the head
}

func newTrust(rules *seedlog.Rules) trust {
	if !rules.Trusting() {
		return trust{}
	}
	order := byLot(append([]byte("evoswarm/trusted/1\x00"), rules.Run.Bytes()...), slices.Clone(rules.Spec.Trust))
	t := trust{order: order, places: make(map[Peer]int, len(order))}
	for i, p := range order {
		t.places[p] = i
	}
	return t
}

// trusting reports whether the run has a list of trusted keys.
func (c *Coordinator) trusting() bool { return c.trust.order != nil }

// trusts reports whether a peer's claims and entries count.
func (c *Coordinator) trusts(p Peer) bool {
	_, ok := c.trust.places[p]
	return ok || !c.trusting()
}

// heirs lists the peers with work in the entries up to on, but for the leader, in the order in which they take over
// from it.
func (c *Coordinator) heirs(on *node, leader Peer) []Peer {
	of := c.chain.accountsAt(on).of
	heirs := make([]Peer, 0, len(of))
	for _, p := range c.trust.order {
		if _, works := of[p]; works && p != leader {
			heirs = append(heirs, p)
		}
	}
	return heirs
}

// leaders lists the peers that may lead, in the order of their keys.
func (c *Coordinator) leaders() (list []elector) {
	for _, p := range c.heirs(c.chain.head, Peer{}) {
		list = append(list, elector{p, 1})
	}
	slices.SortFunc(list, func(a, b elector) int { return a.peer.Compare(b.peer) })
	return list
}

// missed is the leader that would be missed: who is followed, or was last on this chain.
func (c *Coordinator) missed() Peer {
	if p := c.election.leader; p != (Peer{}) {
		return p
	}
	return c.chain.head.leader
}

// takeLead has this peer lead the next term if it is the first to miss the leader.
func (c *Coordinator) takeLead() {
	e := &c.election
	switch {
	case e.role == Leader:
		if c.chain.head.term > e.mandate.term {
			c.stepDown() // the chain continues under a later leader
		}
		return
	case e.leader != (Peer{}) && c.now-e.leaderHeard > remindEvery*c.cfg.Timing.Unheard:
		c.loseLeader()
	}
	if !c.trusts(c.self) || c.catchingUp() {
		return
	}
	c.watchLeader()
	if c.now < c.missesAt(0) {
		return
	}
	heirs := c.heirs(c.chain.head, c.missed())
	rank := slices.Index(heirs, c.self)
	if rank < 0 {
		rank = max(len(heirs), standbys) // without work of late
	}
	term := c.nextTerm()
	if c.now < c.missesAt(rank) || !c.mayLead(c.self) || term > c.chain.head.term+seedlog.MaxTermStep {
		return
	}
	c.vote(term, c.self) // a term is led once, whatever happens to this computer
	e.campaign = &campaign{term: term}
	c.becomeLeader()
}

// missesAt is when a peer leads if the leader stays silent.
func (c *Coordinator) missesAt(rank int) Tick {
	t := c.cfg.Timing
	if c.chain.head.height == 0 && c.self == c.rules.Origin {
		return c.election.leaderHeard // this peer created the run
	}
	if c.cfg.Kind == Tab {
		t.Election, t.Patience = tabPatience*t.Election, tabPatience*t.Patience
	}
	silent := c.election.leaderHeard + t.Election + Tick(min(rank, mostRanks))*t.Rank
	if rank >= standbys {
		silent += (restless-1)*t.Election + c.election.jitter
	}
	return max(silent, c.begun+t.Patience, c.folds.caughtUp+t.Election)
}

// outranks reports whether a peer that leads a term takes precedence over the leader that is followed: the later term
// does, and of one term the peer that is first in the fixed order.
func (c *Coordinator) outranks(p Peer, term uint64) bool {
	e := &c.election
	if e.leader == (Peer{}) || term != e.mandate.term {
		return e.leader == (Peer{}) || term > e.mandate.term
	}
	return c.trust.places[p] < c.trust.places[e.leader]
}

// onTrusted hears a peer that says it leads a term, or that an entry says so of.
func (c *Coordinator) onTrusted(p Peer, term uint64) {
	e, head := &c.election, c.chain.head
	switch {
	case p == c.self || !c.trusts(p) || !c.mayLead(p) || term < head.term || term > head.term+seedlog.MaxTermStep:
	case e.leader == p && e.mandate.term == term:
		e.leaderHeard = c.now
	case c.outranks(p, term) && (!c.rejected(p) || term > c.term()):
		c.followLeader(&mandate{term: term, leader: p})
	default:
		c.members.statusNow = c.members.statusNow || e.role == Leader // that one was away
	}
}

// onTrustedMandate follows the leader that a trusted neighbor follows, if this peer knows none.
func (c *Coordinator) onTrustedMandate(from Peer, m *Mandate) {
	if c.trusts(from) && (from == m.Leader || c.election.leader == Peer{}) {
		c.onTrusted(m.Leader, m.Term)
	}
}

// hears reports whether a message has a meaning in a run of trusted keys.
func (c *Coordinator) hears(from Peer, m Message) bool {
	switch m.(type) {
	case *Status, *Pull, *Leave, *Ask, *Part, *Segment:
		return true
	case *Claims, *Mandate:
		return c.trusts(from)
	}
	return false
}

// onGiven takes entries that a trusted peer gives unasked.
func (c *Coordinator) onGiven(from Peer, at source, generations []generation) {
	if !c.trusts(from) {
		return
	}
	for _, g := range generations {
		if n := c.placeNew(g, from, at); n != nil && n.height >= c.chain.head.height {
			c.onTrusted(n.leader, n.term)
		}
	}
}

// gives reports whether an answer is none: it is one entry that a trusted peer gave, and what it follows is not here.
func (c *Coordinator) gives(from Peer, generations []generation) bool {
	return c.trusting() && c.trusts(from) && len(generations) == 1 && c.chain.nodes[generations[0].entry.Value().Parent] == nil
}

// give passes a new entry on: the leader to the first heirs, number i of them to those from trustedSpread*(i+1) on. A
// leader gives it to trusted peers without work as well, so that they get any.
func (c *Coordinator) give(n *node, g *generation) {
	heirs := c.heirs(n.parent, n.leader)
	first := 0
	if n.leader != c.self {
		i := slices.Index(heirs, c.self)
		if i < 0 {
			return
		}
		first = trustedSpread * (i + 1)
	}
	to := slices.Clone(heirs[min(first, len(heirs)):min(first+trustedSpread, len(heirs))])
	if n.leader == c.self {
		to = append(to, c.someOf(c.newcomers(n.parent))...)
	}
	if len(to) == 0 {
		return
	}
	blocks, size := g.blocks()
	if size > segmentBytes {
		return // pulled
	}
	segment := &Segment{Generations: []Generation{blocks}, Proofs: []FraudProof{}, Height: n.height}
	for _, p := range to {
		c.out.send(Direct, p, segment)
	}
}

// newcomers lists trusted peers that this one hears and that have no work in the entries up to on.
func (c *Coordinator) newcomers(on *node) (list []Peer) {
	of := c.chain.accountsAt(on).of
	for _, h := range c.members.heard {
		if _, works := of[h.peer]; !works && c.trusts(h.peer) && c.lately(h) {
			list = append(list, h.peer)
		}
	}
	return list
}

// someOf takes mostNewcomers of a list by lot.
func (c *Coordinator) someOf(list []Peer) []Peer {
	for len(list) > mostNewcomers {
		i := c.draw.Uint64() % uint64(len(list))
		list[i] = list[len(list)-1]
		list = list[:len(list)-1]
	}
	return list
}

// share is how many chunks a claim has at least, so that a peer sends few: half of what falls to it of a generation.
func (c *Coordinator) share() uint64 {
	heirs := c.heirs(c.chain.head, c.self)
	if len(heirs) == 0 {
		return 1 // who is here is not known at the start of a run
	}
	n := uint64(len(heirs) + len(c.newcomers(c.chain.head)) + 1)
	return min((population(c.rules)+2*n-1)/(2*n), c.mostChunks())
}

// allIn reports whether a leader need not hold a generation open for its least time: nobody works on it yet who has no
// claim in it.
func (c *Coordinator) allIn() bool {
	if !c.trusting() || c.chain.maxStale > 0 || c.now == c.lastEntry {
		return false
	}
	lacks := func(p Peer) bool { return c.work.pool.get(poolKey{p, c.chain.head.link, 0}) == nil }
	return !slices.ContainsFunc(c.heirs(c.chain.head, c.self), lacks) && !slices.ContainsFunc(c.newcomers(c.chain.head), lacks)
}

// giveClaims sends own claims to the leader, again after a while: messages get lost.
func (c *Coordinator) giveClaims() {
	leader, pool := c.election.leader, &c.work.pool
	if leader == c.self || leader == (Peer{}) || c.now < pool.due {
		return
	}
	gift := &Claims{}
	pool.due = c.now + c.cfg.Timing.Unheard
	for _, p := range pool.own.All() {
		switch {
		case c.now < p.again:
			pool.due = min(pool.due, p.again)
		case len(gift.Blocks) == maxWant:
			pool.due = c.now // the rest follows in the next message
		default:
			p.again = c.now + c.cfg.Timing.Unheard
			gift.Blocks = append(gift.Blocks, p.claim.Bytes())
		}
	}
	if len(gift.Blocks) > 0 {
		c.out.send(Direct, leader, gift)
	}
}

// showTrusted says that this peer is here, to as few as need to know: a leader to those who lead next, and now and then
// to all; others to the leader.
func (c *Coordinator) showTrusted() {
	if c.retired {
		return
	}
	t, m := c.cfg.Timing, &c.members
	m.every = statusRarely * t.Heartbeat
	switch leader := c.election.leader; {
	case c.election.role == Leader && (m.statusNow || c.now >= c.trust.remind):
		c.entryGiven()
		c.out.send(Gossip, Peer{}, c.status())
	case c.election.role == Leader && c.now >= c.trust.beat:
		c.trust.beat = c.now + t.Heartbeat
		heirs := c.heirs(c.chain.head, c.self)
		for _, p := range heirs[:min(standbys, len(heirs))] {
			c.out.send(Direct, p, c.status())
		}
	case c.election.role != Leader && leader != (Peer{}) && (m.statusNow || c.now >= m.nextStatus):
		c.out.send(Direct, leader, c.status())
		m.nextStatus = c.now + m.every
	}
	m.statusNow = false
	if c.now >= c.trust.show {
		c.trust.show = c.now + t.Unheard
		c.showOutsiders()
	}
}

// entryGiven notes that others heard from this leader.
func (c *Coordinator) entryGiven() {
	t := c.cfg.Timing
	c.trust.beat, c.trust.remind = c.now+t.Heartbeat, c.now+remindEvery*t.Election
}

// showOutsiders tells neighbors of the head that are given no entries, of many some by lot: they pull what they lack.
func (c *Coordinator) showOutsiders() {
	var list []Peer
	of := c.chain.accountsAt(c.chain.head).of
	for p := range c.members.links { //lint:sorted below
		if _, heir := of[p]; !heir && p != c.election.leader {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, Peer.Compare)
	for _, p := range c.someOf(list) {
		c.out.send(Direct, p, c.status())
	}
}

// countTrusted counts the others: those with work in the last entries, and those that are heard.
func (c *Coordinator) countTrusted() int {
	of := c.chain.accountsAt(c.chain.head).of
	n := len(of)
	for _, h := range c.members.heard {
		if _, works := of[h.peer]; !works && c.lately(h) {
			n++
		}
	}
	if _, works := of[c.self]; works {
		n--
	}
	return n
}

// usedTwice tells a person that two entries of a key are for one place.
func (c *Coordinator) usedTwice(p Peer, height uint64) {
	c.out.note(NoteBad, p, fmt.Sprintf("%s signed two entries for height %d: is its key used at two places?", p.Short(), height))
}
