package coordinator

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// election is who leads, and what this peer does about it.
type election struct {
	role        Role
	leader      Peer
	leaderHeard Tick
	jitter      Tick
	campaign    *campaign
	handover    *handover
}

// campaign is a candidacy, or with pre the question whether one would succeed.
type campaign struct {
	pre, transfer bool
	term          uint64
	votes         map[Peer]seedlog.Vote
	until         Tick
}

// handover waits for the entry that the old leader had when it handed over.
type handover struct {
	Handover
	until Tick
}

// maxTermStep bounds how far a stranger's term can pull this peer's.
const maxTermStep = 1 << 20

// tabPatience stretches a tab's timeouts: one that lost its node for a moment, or only just opened, should come back
// instead of starting a branch that will lose.
const tabPatience = 4

// elector is a peer that may vote.
type elector struct {
	peer   Peer
	weight uint64
}

// electorate lists, sorted, the peers that may vote and lead, as far as this peer hears them: hubs if there
// are any, else other natives, else tabs; of those, the ones with work in the recent entries. Peers that are
// not heard shrink the quorum.
func (c *Coordinator) electorate() []elector {
	group := c.eligible()
	if c.chain.head.height == 0 && slices.Contains(group, c.rules.Origin) {
		return []elector{{c.rules.Origin, 1}} // the origin leads while nobody has worked yet
	}
	weights := c.chain.weights()
	var electors []elector
	for _, p := range group {
		if w := weights[p]; w > 0 && !c.faults.peers[p] {
			electors = append(electors, elector{p, w})
		}
	}
	if len(electors) > 0 {
		return electors
	}
	for _, p := range group {
		electors = append(electors, elector{p, 1})
	}
	return electors
}

// eligible lists, sorted, the best class of peers that is present.
func (c *Coordinator) eligible() []Peer {
	var hubs, natives, tabs []Peer
	sort := func(p Peer, kind Kind, hub bool) {
		switch {
		case kind == Tab:
			tabs = append(tabs, p)
		case hub:
			hubs = append(hubs, p)
		default:
			natives = append(natives, p)
		}
	}
	for _, h := range c.members.heard {
		if c.lately(h) {
			sort(h.peer, h.Kind, h.Hub)
		}
	}
	if !c.retired {
		sort(c.self, c.cfg.Kind, c.cfg.Hub)
	}
	for _, class := range [][]Peer{hubs, natives, tabs} {
		if len(class) > 0 {
			slices.SortFunc(class, Peer.Compare)
			return class
		}
	}
	return nil
}

// ranking orders the electorate by H(head, term, peer): a lottery that nobody can steer and everybody can compute.
func (c *Coordinator) ranking(term uint64) []Peer {
	type ticket struct {
		peer Peer
		draw [32]byte
	}
	prefix := binary.LittleEndian.AppendUint64(append([]byte("evoswarm/rank/1\x00"), c.chain.head.link.Bytes()...), term)
	var tickets []ticket
	for _, e := range c.electorate() {
		tickets = append(tickets, ticket{e.peer, sha256.Sum256(append(slices.Clone(prefix), e.peer[:]...))})
	}
	slices.SortFunc(tickets, func(a, b ticket) int { return bytes.Compare(a.draw[:], b.draw[:]) })
	peers := make([]Peer, len(tickets))
	for i, t := range tickets {
		peers[i] = t.peer
	}
	return peers
}

func (c *Coordinator) drawJitter() {
	c.election.jitter = Tick(c.draw.Uint64() % uint64(c.cfg.Timing.Rank+1))
}

// elect starts a campaign when the leader has been silent for too long.
func (c *Coordinator) elect() {
	if c.election.role == Leader {
		if !slices.Contains(c.eligible(), c.self) {
			c.stepDown() // a tab that led while alone hears natives again
		}
		return
	}
	if c.election.leader != (Peer{}) && c.now-c.election.leaderHeard > c.cfg.Timing.Unheard {
		c.election.leader = Peer{}
	}
	if c.catchingUp() {
		c.election.campaign, c.election.handover, c.election.role = nil, nil, Follower
		return
	}
	if h := c.election.handover; h != nil {
		if c.now > h.until {
			c.election.handover = nil
		} else if h.Head == c.chain.head.link && c.rankOf(c.self) >= 0 {
			c.election.handover = nil
			c.hard.Term = max(c.hard.Term, h.Term-1)
			c.stand(true)
			return
		}
	}
	if c.election.campaign != nil {
		if c.now < c.election.campaign.until {
			c.countVotes()
			return
		}
		c.election.campaign = nil
		c.election.role = Follower
		c.election.leaderHeard = c.now - min(c.now, c.cfg.Timing.Election) // try again after rank and jitter alone
		c.drawJitter()
	}
	if c.now < c.deadline(0) {
		return
	}
	rank := c.rankOf(c.self)
	if rank < 0 || !c.faults.mayLead(c.self, c.chain.head.height) || c.now < c.deadline(rank) {
		return
	}
	c.stand(false)
}

// deadline is when this peer starts a campaign if the leader stays silent.
func (c *Coordinator) deadline(rank int) Tick {
	t := c.cfg.Timing
	if c.chain.head.height == 0 && c.self == c.rules.Origin {
		return c.election.leaderHeard // this peer created the run: nobody else may start it
	}
	if c.cfg.Kind == Tab {
		t.Election, t.Patience = tabPatience*t.Election, tabPatience*t.Patience
	}
	silent := c.election.leaderHeard + t.Election + Tick(rank)*t.Rank + c.election.jitter
	return max(silent, c.begun+t.Patience, c.folds.caughtUp+t.Election)
}

// rankOf is the rank of p in the next election, or -1 if it may not lead.
func (c *Coordinator) rankOf(p Peer) int { return slices.Index(c.ranking(c.hard.Term+1), p) }

// stand starts a campaign: with a pre-vote, unless the leader handed over.
func (c *Coordinator) stand(transfer bool) {
	c.election.campaign = &campaign{pre: !transfer, transfer: transfer, term: c.hard.Term + 1, votes: make(map[Peer]seedlog.Vote), until: c.now + c.cfg.Timing.Election/2 + c.election.jitter + 1}
	c.election.role = Candidate
	c.canvass()
}

// canvass sends the campaign's request and counts this peer's own vote.
func (c *Coordinator) canvass() {
	g := c.election.campaign
	if g.term <= c.hard.Term {
		c.election.campaign, c.election.role = nil, Follower // others moved on meanwhile
		return
	}
	if !g.pre {
		c.enterTerm(g.term)
		c.hard.Voted = c.self[:]
		c.election.role, c.election.campaign = Candidate, g
	}
	g.votes = map[Peer]seedlog.Vote{c.self: seedlog.NewVote(c.rules.Run, g.term, c.self, c.cfg.Key)}
	c.out.send(Gossip, Peer{}, &VoteRequest{Pre: g.pre, Transfer: g.transfer, Term: g.term, Head: c.chain.head.link, Weight: c.chain.head.weight})
	c.countVotes()
}

// countVotes ends the campaign once more than half of the electorate's weight has granted it.
func (c *Coordinator) countVotes() {
	var granted, total uint64
	for _, e := range c.electorate() {
		total += e.weight
		if _, ok := c.election.campaign.votes[e.peer]; ok {
			granted += e.weight
		}
	}
	if 2*granted <= total {
		return
	}
	if c.election.campaign.pre {
		c.election.campaign.pre = false
		c.election.campaign.until = c.now + c.cfg.Timing.Election/2 + c.election.jitter + 1
		c.canvass()
		return
	}
	c.becomeLeader()
}

func (c *Coordinator) becomeLeader() {
	c.tenure.votes = c.tenure.votes[:0:0]
	for _, e := range c.electorate() {
		if v, ok := c.election.campaign.votes[e.peer]; ok && len(c.tenure.votes) < seedlog.MaxVotes {
			c.tenure.votes = append(c.tenure.votes, v)
		}
	}
	c.election.campaign, c.election.handover = nil, nil
	c.election.role, c.election.leader, c.election.leaderHeard = Leader, c.self, c.now
	c.tenure.sealedTerm = false
	c.tenure.mandateFrom, c.tenure.yieldUntil = c.chain.head.height, 0
	c.members.statusNow = true
	c.drawJitter()
	c.out.note(NoteLeader, c.self, fmt.Sprintf("this peer leads term %d", c.hard.Term))
}

// enterTerm moves to a higher term, in which no vote was given yet.
func (c *Coordinator) enterTerm(term uint64) {
	if term <= c.hard.Term {
		return
	}
	c.hard.Term, c.hard.Voted = term, nil
	c.hardChanged = true
	c.stepDown()
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

func (c *Coordinator) loseLeader() {
	c.election.leader = Peer{}
	c.election.leaderHeard = c.now - min(c.now, c.cfg.Timing.Election)
}

// leaderAlive reports whether a living leader is a reason to refuse a vote.
func (c *Coordinator) leaderAlive() bool {
	return c.election.role == Leader || (c.election.leader != Peer{} && c.now-c.election.leaderHeard < c.cfg.Timing.Election)
}

func (c *Coordinator) onVoteRequest(from Peer, m *VoteRequest) {
	reply := &VoteReply{Pre: m.Pre, Term: m.Term, Signature: []byte{}}
	refused := m.Term <= c.hard.Term && (m.Pre || m.Term < c.hard.Term) ||
		m.Term > c.hard.Term+maxTermStep ||
		m.Weight < c.chain.head.weight ||
		!c.faults.mayLead(from, c.chain.head.height) ||
		(c.leaderAlive() && c.election.leader != from && !(m.Transfer && c.maySucceed(from, m.Term)))
	switch {
	case refused:
		reply.Term = c.hard.Term
	case m.Pre:
		reply.Granted = true
	default:
		c.enterTerm(m.Term)
		if reply.Granted = len(c.hard.Voted) == 0 || bytes.Equal(c.hard.Voted, from[:]); reply.Granted {
			c.hard.Voted, c.hardChanged = from[:], true
			reply.Signature = seedlog.NewVote(c.rules.Run, m.Term, from, c.cfg.Key).Signature
			c.election.leaderHeard = c.now // gives the candidate time to lead
		}
	}
	c.out.send(Direct, from, reply)
}

// maySucceed reports whether from may take over from a living leader: the leader itself must have handed over, and
// other peers accept only the first two ranks.
func (c *Coordinator) maySucceed(from Peer, term uint64) bool {
	if c.election.role == Leader {
		return c.now < c.tenure.yieldUntil
	}
	rank := slices.Index(c.ranking(term), from)
	return rank == 0 || rank == 1
}

func (c *Coordinator) onVoteReply(from Peer, m *VoteReply) {
	// A refusal names the replier's own term: only a later one is news. Were the asked term named, every refusal would
	// raise the term, and two peers that refuse each other would race through terms as fast as messages travel.
	if !m.Granted && m.Term > c.hard.Term && m.Term <= c.hard.Term+maxTermStep && c.election.role == Candidate {
		c.hard.Term, c.hard.Voted, c.hardChanged = m.Term, nil, true
		c.election.campaign, c.election.role = nil, Follower
		c.election.leaderHeard = c.now - min(c.now, c.cfg.Timing.Election) // try again after rank and jitter alone
		c.drawJitter()
		return
	}
	g := c.election.campaign
	if g == nil || !m.Granted || m.Pre != g.pre || m.Term != g.term {
		return
	}
	vote := seedlog.Vote{Voter: from, Signature: m.Signature}
	if !g.pre {
		if err := vote.Check(c.rules.Run, g.term, c.self); err != nil {
			c.ban(from, "sent a vote that it did not sign")
			return
		}
	}
	g.votes[from] = vote
}

func (c *Coordinator) onHandover(from Peer, m *Handover) {
	if from == c.election.leader && m.Term > c.hard.Term && m.Term <= c.hard.Term+maxTermStep && !c.retired {
		c.election.handover = &handover{*m, c.now + c.cfg.Timing.Election}
	}
}

func (c *Coordinator) onLeave(from Peer) {
	c.members.heard.remove(from)
	if c.election.leader == from {
		c.loseLeader()
	}
}

// onHeartbeat follows a leader of this or a later term. Of two in one term the one with more work stays.
func (c *Coordinator) onHeartbeat(from Peer, term, weight uint64) {
	if term < c.hard.Term || term > c.hard.Term+maxTermStep || !c.faults.mayLead(from, c.chain.head.height) {
		return
	}
	if term == c.hard.Term && c.election.leader != from && c.election.leader != (Peer{}) && c.leaderAlive() {
		mine := c.chain.head.weight
		if h := c.members.heard.of(c.election.leader); h != nil {
			mine = h.Weight
		}
		if weight < mine || (weight == mine && c.election.leader.Compare(from) < 0) {
			return
		}
		c.stepDown()
	}
	c.enterTerm(term)
	if c.election.role != Follower {
		c.election.role, c.election.campaign = Follower, nil
		c.dropClosing()
	}
	if c.election.leader != from {
		c.election.leader = from
		c.drawJitter()
		c.work.pool.reannounce()
		c.out.note(NoteLeader, from, fmt.Sprintf("%s leads term %d", from.Short(), term))
	}
	c.election.leaderHeard = c.now
}
