package coordinator

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// election is who leads, and what this peer does about it.
type election struct {
	role        Role
	leader      Peer     // zero: none known
	mandate     *mandate // of leader; nil without one
	leaderHeard Tick
	outgoing    outgoing
	leaderless  Tick       // since when no leader is known, if none is
	offered     []*mandate // of others that say they lead
	electorate  electorate
	lots        map[Peer]uint64 // of keys that were electors, at most maxHeard
	liveness    liveness
	floor       uint64 // terms up to here can find no majority any more
	jitter      Tick
	campaign    *campaign
	handover    *handover
	gaveWay     uint64 // term for which this peer lets the first who asked go ahead
}

// outgoing is the leader before the present one. Its last entries are on their way for some time.
type outgoing struct {
	leader Peer
	term   uint64
	until  Tick
}

// campaign is a candidacy, or with pre the question whether one would succeed.
type campaign struct {
	pre      bool
	from     Peer   // the leader that handed over
	handover []byte // its own vote, which shows that it did; nil: it did not
	term     uint64
	votes    map[Peer]seedlog.Vote
	refusals map[Peer]uint64 // of electors, with the term that they named
	again    Tick            // when the request is repeated; messages get lost
	until    Tick
	latest   Tick // until when it lasts while votes come
}

// handover waits for the entry that the old leader had when it handed over.
type handover struct {
	Handover
	from  Peer
	until Tick
}

// tabPatience stretches a tab's timeouts: one that lost its node for a moment, or only just opened, should come back
// instead of starting a branch that will lose.
const tabPatience = 4

const (
	// yieldElections is for how many election times a leader that hands over closes nothing while its successor asks
	// for votes: in a large swarm they come over some time.
	yieldElections = 3
	// voteElections is for how many election times a campaign lasts while votes come.
	voteElections = 2
	// outgoingPulls is for how many times the time for an answer the last entries of the leader before are awaited.
	outgoingPulls = 2
)

// term is the newest term that this peer takes part in.
func (c *Coordinator) term() uint64 {
	t := c.chain.head.term
	if m := c.election.mandate; m != nil {
		t = max(t, m.term)
	}
	if g := c.election.campaign; g != nil && !g.pre {
		t = max(t, g.term)
	}
	return t
}

// nextTerm is the term that a campaign of this peer is for.
func (c *Coordinator) nextTerm() uint64 { return max(c.term(), c.hard.Term, c.election.floor) + 1 }

func (c *Coordinator) drawJitter() {
	if c.trusting() {
		c.election.jitter = Tick(c.draw.Uint64() % uint64(mostRanks*c.cfg.Timing.Rank))
		return
	}
	c.election.jitter = Tick(c.draw.Uint64() % uint64(c.timing().Rank+1))
}

// elect starts a campaign when the leader has been silent for too long.
func (c *Coordinator) elect() {
	e := &c.election
	if e.role == Leader {
		c.keepMandate()
		return
	}
	if e.leader != (Peer{}) && c.now-e.leaderHeard > c.timing().Unheard {
		c.slowness.silent = c.forgetLeader()
		c.remember(c.slowness.silent)
	}
	if c.catchingUp() {
		e.campaign, e.handover, e.role = nil, nil, Follower
		return
	}
	c.watchLeader()
	if h := e.handover; h != nil {
		if c.now > h.until {
			e.handover = nil
		} else if h.Head == c.chain.head.link {
			e.handover = nil
			if h.Term >= c.nextTerm() && c.electorate().weightOf(c.self) > 0 {
				c.stand(&campaign{term: h.Term, from: h.from, handover: h.Signature})
				return
			}
		}
	}
	if e.campaign != nil {
		if c.now < e.campaign.until {
			c.campaigning()
			return
		}
		c.slowness.missed = e.campaign
		c.lose()
	}
	if c.now < c.deadline(0) {
		return
	}
	rank := c.rankOf(c.self, c.nextTerm())
	if rank < 0 || !c.mayLead(c.self) || c.now < c.deadline(rank) {
		return
	}
	c.stand(&campaign{pre: true, term: c.nextTerm()})
}

// deadline is when this peer starts a campaign if the leader stays silent.
func (c *Coordinator) deadline(rank int) Tick {
	t := c.timing()
	if c.chain.head.height == 0 && c.self == c.rules.Origin {
		return c.election.leaderHeard // this peer created the run: nobody else may start it
	}
	if c.cfg.Kind == Tab {
		t.Election, t.Patience = tabPatience*t.Election, tabPatience*t.Patience
	}
	silent := c.election.leaderHeard + t.Election + Tick(rank)*t.Rank + c.election.jitter
	if c.election.gaveWay == c.nextTerm() {
		silent += t.Election / 2 // two candidates would part the votes; not longer, for one who only asks
	}
	return max(silent, c.begun+t.Patience, c.folds.caughtUp+t.Election)
}

// stand starts a campaign: with a pre-vote, unless the leader handed over.
func (c *Coordinator) stand(g *campaign) {
	if g.term > c.chain.head.term+seedlog.MaxTermStep {
		return // no entry of that term would be valid
	}
	c.limit(g)
	g.votes, g.refusals = make(map[Peer]seedlog.Vote), make(map[Peer]uint64)
	c.election.campaign, c.election.role = g, Candidate
	c.canvass()
}

// limit sets how long a campaign lasts from now on.
func (c *Coordinator) limit(g *campaign) {
	t := c.timing().Election
	g.until, g.latest = c.now+t+c.election.jitter, c.now+voteElections*t+c.election.jitter
}

// canvass counts this peer's own vote and sends the campaign's request.
func (c *Coordinator) canvass() {
	g := c.election.campaign
	if !g.pre {
		c.vote(g.term, c.self)
	}
	g.votes = map[Peer]seedlog.Vote{c.self: seedlog.NewVote(c.rules.Run, g.term, c.self, c.cfg.Key)}
	if g.handover != nil {
		g.votes[g.from] = seedlog.Vote{Voter: g.from, Signature: g.handover}
	}
	c.campaigning()
}

// campaigning repeats the request now and then, and counts.
func (c *Coordinator) campaigning() {
	g := c.election.campaign
	if g.term <= c.chain.head.term {
		c.lose() // the chain continues under a later leader
		return
	}
	if c.now >= g.again {
		g.again = c.now + c.timing().Rank
		c.out.send(Gossip, Peer{}, c.voteRequest(g))
	}
	c.countVotes()
}

func (c *Coordinator) voteRequest(g *campaign) *VoteRequest {
	m := &VoteRequest{Pre: g.pre, Handover: g.handover, Term: g.term, Head: c.chain.head.link}
	if m.Handover == nil {
		m.Handover = []byte{}
	}
	return m
}

// countVotes ends the campaign once more than half of the electorate's weight has granted it, or cannot any more.
func (c *Coordinator) countVotes() {
	g := c.election.campaign
	switch granted, refused, total := c.counted(g); {
	case 2*granted > total && g.pre:
		g.pre, g.again = false, 0
		c.limit(g)
		c.canvass()
	case 2*granted > total:
		c.becomeLeader()
	case 2*refused >= total && refused > 0:
		c.raiseFloor()
		c.lose()
	}
}

// counted is the weight that granted a campaign, that refused it, and all.
func (c *Coordinator) counted(g *campaign) (granted, refused, total uint64) {
	all := c.electorate()
	for _, e := range all.electors {
		if _, ok := g.votes[e.peer]; ok {
			granted += e.weight
		} else if g.refusals[e.peer] >= g.term {
			refused += e.weight
		}
	}
	return granted, refused, all.total
}

// raiseFloor names the lowest term in which a majority could still vote, after electors refused because they voted in
// later ones. A minority cannot raise it, however high the terms that it names.
func (c *Coordinator) raiseFloor() {
	g, all := c.election.campaign, c.electorate()
	type refusal struct{ term, weight uint64 }
	free := all.total
	var list []refusal
	for _, e := range all.electors {
		if term := g.refusals[e.peer]; term >= g.term {
			list = append(list, refusal{term, e.weight})
			free -= e.weight
		}
	}
	slices.SortFunc(list, func(a, b refusal) int { return cmp.Compare(a.term, b.term) })
	for _, r := range list {
		if 2*free > all.total {
			return
		}
		free += r.weight
		if r.term < c.chain.head.term+seedlog.MaxTermStep {
			c.election.floor = max(c.election.floor, r.term)
		}
	}
}

// lose ends a campaign without success. The next one comes after rank and jitter alone.
func (c *Coordinator) lose() {
	c.election.campaign, c.election.role = nil, Follower
	c.election.leaderHeard = c.now - min(c.now, c.timing().Election)
	c.drawJitter()
}

func (c *Coordinator) becomeLeader() {
	e, g := &c.election, c.election.campaign
	m := &mandate{term: g.term, leader: c.self}
	for _, p := range slices.SortedFunc(maps.Keys(g.votes), Peer.Compare) {
		if c.mayVote(p) {
			m.votes = append(m.votes, g.votes[p])
		}
	}
	m.votes = c.joined(nil, m.votes)
	before := e.mandate
	c.goesOut(before)
	e.campaign, e.handover = nil, nil
	e.role, e.leader, e.mandate, e.leaderHeard = Leader, c.self, m, c.now
	c.remember(before) // its last entries may come later, and this leader continues from them
	c.tenure.sealedTerm, c.tenure.heir, c.tenure.showings = false, Peer{}, 0
	c.tenure.silent, c.tenure.again, c.tenure.window = make(map[Peer]int), nil, c.firstWindow()
	c.tenure.spotted, c.tenure.workers = 0, make(map[seedlog.Link]*workers)
	for p := range c.work.pool.all {
		p.asked = asked{} // in an earlier term
	}
	c.tenure.mandateFrom, c.tenure.yieldUntil, c.tenure.lastShown = c.chain.head.height, 0, c.now
	c.members.statusNow = true
	if !c.trusting() {
		c.sendMandate()
	}
	c.drawJitter()
	c.out.note(NoteLeader, c.self, fmt.Sprintf("this peer leads term %d", m.term))
}

// vote gives this peer's one vote of a term. It is durable before anybody hears of it.
func (c *Coordinator) vote(term uint64, candidate Peer) {
	c.hard.Term, c.hard.Voted = term, candidate[:]
	c.hardChanged = true
}

// voted reports whether this peer's vote of a term is given to another than p, or cannot be given any more.
func (c *Coordinator) voted(term uint64, p Peer) bool {
	return term < c.hard.Term || term == c.hard.Term && len(c.hard.Voted) > 0 && !bytes.Equal(c.hard.Voted, p[:])
}

func (c *Coordinator) stepDown() {
	if c.election.role != Follower {
		c.election.role = Follower
		c.election.campaign = nil
		c.dropClosing()
		c.drawJitter()
	}
	if c.election.leader == c.self {
		c.loseLeader()
	}
}

// loseLeader ends the time of a leader that is known to be gone: the campaigns start after rank and jitter alone.
func (c *Coordinator) loseLeader() {
	c.remember(c.forgetLeader())
	c.election.leaderHeard = c.now - min(c.now, c.timing().Election)
}

// goesOut notes that another leader follows one.
func (c *Coordinator) goesOut(m *mandate) {
	if m != nil {
		c.election.outgoing = outgoing{m.leader, m.term, c.now + outgoingPulls*c.cfg.Timing.Pull}
	}
}

// seals reports whether new entries are to come from a peer that leads a term: it is followed, or was until just now.
func (c *Coordinator) seals(p Peer, term uint64) bool {
	e := &c.election
	if e.mandate != nil && p == e.leader && term == e.mandate.term {
		return true
	}
	return p == e.outgoing.leader && term == e.outgoing.term && c.now < e.outgoing.until
}

// forgetLeader returns the mandate of the leader that is followed no more.
func (c *Coordinator) forgetLeader() *mandate {
	e := &c.election
	m := e.mandate
	if e.leader != (Peer{}) {
		e.leaderless = c.now
	}
	e.leader, e.mandate = Peer{}, nil
	return m
}

// leaderAlive reports whether a living leader is a reason to refuse a vote, and other leaders' short branches.
func (c *Coordinator) leaderAlive() bool {
	return c.election.role == Leader || (c.election.leader != Peer{} && c.now-c.election.leaderHeard < c.timing().Election)
}

// onVoteRequest answers electors alone, so that a stranger's request costs no answers.
func (c *Coordinator) onVoteRequest(from Peer, m *VoteRequest) {
	if c.electorate().weightOf(from) == 0 && !c.renews(from, m.Term) {
		return
	}
	if t := &c.tenure; c.election.role == Leader && c.handedOver(from, m) {
		t.yieldUntil = t.yieldMost
	} else if c.election.role == Leader && from == t.heir && !m.Pre && m.Term == c.hard.Term {
		c.waitLonger() // it was given up
	}
	reply := &VoteReply{Pre: m.Pre, Granted: c.grants(from, m), Term: m.Term, Signature: []byte{}}
	switch {
	case !reply.Granted:
		reply.Term = c.hard.Term
	case m.Pre:
		c.election.gaveWay = m.Term
	default:
		c.grant(m.Term, from)
		reply.Signature = seedlog.NewVote(c.rules.Run, m.Term, from, c.cfg.Key).Signature
	}
	c.out.send(Direct, from, reply)
}

// grant votes for another peer. A campaign of this one ends: its term has no vote left.
func (c *Coordinator) grant(term uint64, candidate Peer) {
	c.vote(term, candidate)
	if c.election.role == Candidate {
		c.election.role, c.election.campaign = Follower, nil
	}
	if c.election.role == Follower {
		c.election.leaderHeard = c.now // gives the candidate time to lead
	}
}

// grants reports whether from gets this peer's vote: the vote is free, the candidate's head is known and no worse than
// ours, and no leader is alive.
func (c *Coordinator) grants(from Peer, m *VoteRequest) bool {
	head := c.chain.head
	renews := c.renews(from, m.Term)
	switch {
	case c.retired || c.catchingUp() || c.voted(m.Term, from),
		m.Pre && m.Term <= c.hard.Term && !renews,
		m.Term <= head.term && !renews, m.Term > head.term+seedlog.MaxTermStep,
		!c.mayLead(from) || c.rejected(from),
		c.leaderAlive() && c.election.leader != from && !c.handedOver(from, m):
		return false
	}
	n := c.chain.nodes[m.Head]
	if n == nil && (renews || len(m.Handover) > 0) && c.comesLater(m.Head) {
		return true // the newest entry, which the leader announced; no other one lets its successor lead
	}
	if n == nil {
		c.pull(from) // what its chain weighs counts when it is here
		return false
	}
	return n.stage != refused && !better(head, n)
}

// renews reports whether from asks for more votes of a term in which it leads already: this peer follows it, or its
// chain and nobody else.
func (c *Coordinator) renews(from Peer, term uint64) bool {
	if leader := c.election.leader; leader != (Peer{}) {
		return from == leader && from != c.self && term == c.election.mandate.term
	}
	return from == c.chain.head.leader && term == c.chain.head.term
}

// handedOver reports whether the leader that this peer follows wants from to take over: its own vote says so.
func (c *Coordinator) handedOver(from Peer, m *VoteRequest) bool {
	if c.election.role == Leader {
		return c.now < c.tenure.yieldUntil && m.Term == c.hard.Term && bytes.Equal(c.hard.Voted, from[:])
	}
	v := seedlog.Vote{Voter: c.election.leader, Signature: m.Handover}
	return len(m.Handover) > 0 && v.Check(c.rules.Run, m.Term, from) == nil
}

// mayVote reports whether a peer is an elector, or did work of late, so that it may come to be one.
func (c *Coordinator) mayVote(p Peer) bool {
	return c.electorate().weightOf(p) > 0 || c.chain.weights()[p] > 0
}

func (c *Coordinator) onVoteReply(from Peer, m *VoteReply) {
	if !c.mayVote(from) {
		return
	}
	g := c.election.campaign
	if g != nil && !m.Granted && m.Pre == g.pre && c.electorate().weightOf(from) > 0 {
		g.refusals[from] = m.Term
		return
	}
	renews := c.election.role == Leader && !m.Pre && m.Term == c.election.mandate.term
	counts := g != nil && m.Pre == g.pre && m.Term == g.term
	if late := c.slowness.missed; !m.Granted || !renews && !counts && (late == nil || m.Pre != late.pre || m.Term != late.term) {
		return
	}
	v := seedlog.Vote{Voter: from, Signature: m.Signature}
	if !m.Pre {
		if err := v.Check(c.rules.Run, m.Term, c.self); err != nil {
			c.ban(from, "sent a vote that it did not sign")
			return
		}
		c.noteVotes(m.Term, c.self, []seedlog.Vote{v})
	}
	if renews {
		c.addVote(v)
		return
	}
	if !counts {
		c.lateVote(m.Pre, m.Term, v)
		return
	}
	if _, known := g.votes[from]; !known {
		g.until = max(g.until, min(c.now+c.timing().Election/2, g.latest)) // in a large swarm they come over some time
	}
	g.votes[from] = v
}

func (c *Coordinator) onHandover(from Peer, m *Handover) {
	if from != c.election.leader || m.Term <= c.hard.Term || c.retired {
		return
	}
	v := seedlog.Vote{Voter: from, Signature: m.Signature}
	if v.Check(c.rules.Run, m.Term, c.self) == nil {
		c.noteVotes(m.Term, c.self, []seedlog.Vote{v})
		c.election.handover = &handover{*m, from, c.now + c.timing().Election}
		if c.chain.nodes[m.Head] == nil {
			c.pull(from) // nothing is logged until this peer leads
		}
	}
}

func (c *Coordinator) onLeave(from Peer) {
	c.members.forget(from)
	if c.election.leader == from {
		c.loseLeader()
	}
}
