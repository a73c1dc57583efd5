package coordinator

import (
	"cmp"
	"crypto/ed25519"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// TestLeadersShowTheirVotes has an elector say that it leads the next term. It has the vote of nobody but itself, and
// shows that, or votes in others' names, in a message and in an entry of claims that its victim holds. It is not
// followed.
func TestLeadersShowTheirVotes(t *testing.T) {
	for _, test := range []struct {
		name  string
		votes func(f *field, run seedlog.Link, term uint64, usurper *member) []seedlog.Vote
	}{
		{"one vote", func(_ *field, run seedlog.Link, term uint64, usurper *member) []seedlog.Vote {
			return []seedlog.Vote{seedlog.NewVote(run, term, usurper.peer, usurper.key)}
		}},
		{"forged votes", func(f *field, run seedlog.Link, term uint64, usurper *member) (votes []seedlog.Vote) {
			for _, m := range f.peers {
				v := seedlog.NewVote(run, term, usurper.peer, m.key)
				if m != usurper {
					v.Signature = make([]byte, ed25519.SignatureSize)
				}
				votes = append(votes, v)
			}
			slices.SortFunc(votes, func(a, b seedlog.Vote) int { return a.Voter.Compare(b.Voter) })
			return votes
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newField(t, 4, 0)
			f.pass(112) // past the first hand-over
			leader := f.leader()
			others := slices.DeleteFunc(slices.Clone(f.peers), func(m *member) bool { return m == leader })
			slices.SortFunc(others, func(a, b *member) int {
				e := leader.coord.electorate()
				return cmp.Compare(e.weightOf(a.peer), e.weightOf(b.peer))
			})
			usurper, victim := others[0], others[1]
			c := victim.coord
			for range 20 {
				if c.work.pool.own.Len() == 2 && usurper.coord.chain.head.link == c.chain.head.link {
					break
				}
				f.pass(1)
			}
			head := c.chain.head
			var claims []*seedlog.Claim
			for _, p := range c.work.pool.own.All() {
				claims = append(claims, p.claim.Value())
			}
			if len(claims) != 2 {
				t.Fatalf("%d claims: not what the test needs", len(claims))
			}
			term := head.term + 1
			votes := test.votes(f, f.rules.Run, term, usurper)
			e, _ := f.rules.NewEntry(head.state, head.parentInfo(), term, usurper.peer, claims)
			entry, link := e.Encode()
			seal, _ := seedlog.NewSeal(e, usurper.key, votes).Encode()
			f.tell(usurper.key, victim, &Mandate{Term: term, Leader: usurper.peer, Votes: votes})
			f.tell(usurper.key, victim, &Announce{Entry: entry, Seal: seal})
			f.tell(usurper.key, victim, &Status{Hub: true, Leads: true, Term: term, Head: link, Height: e.Height, Weight: head.weight + e.Steps})
			f.work(victim, false)
			f.step(victim, Passed{})
			if c.election.leader == usurper.peer || c.chain.head.link == link {
				t.Errorf("the usurper is followed: as leader %t, its entry %t", c.election.leader == usurper.peer, c.chain.head.link == link)
			}
		})
	}
}

// TestLastEntryOfALeader: who follows the next leader already takes the last entry of the one before it as one of an
// elected leader, though the votes that came after its first entry are in none: it need not re-run a part of it.
func TestLastEntryOfALeader(t *testing.T) {
	f := newNextField(t, 4, 4, 0)
	f.pass(60)
	old := f.leader()
	var c *Coordinator
	for _, m := range f.peers {
		if m != old {
			c = m.coord
		}
	}
	was := c.election.mandate
	if was.leader != old.peer || c.chain.head.mandate != nil && c.shows(c.chain.head.mandate) {
		t.Fatal("the chain shows the votes of the leader")
	}
	votes := slices.Clone(was.votes)
	for i := range votes {
		for _, m := range f.peers {
			if m.peer == votes[i].Voter {
				votes[i] = seedlog.NewVote(f.rules.Run, was.term+1, c.self, m.key)
			}
		}
	}
	for _, m := range f.peers {
		if m != old && m.coord != c {
			c.followLeader(&mandate{was.term + 1, m.peer, votes})
			break
		}
	}
	if last := c.chain.head; last.leader != old.peer || !c.mandated(last) {
		t.Error("the leader before this one counts as not elected")
	}
}

// TestEntriesNameFewerVotes: who follows another leader by now still knows all votes that the last one has shown,
// though its late entries name the few that it had when it closed them. Else they would count as a stranger's.
func TestEntriesNameFewerVotes(t *testing.T) {
	f, leader := newLedField(t, 8)
	var c *Coordinator
	var votes []seedlog.Vote
	for _, m := range f.peers {
		votes = append(votes, seedlog.Vote{Voter: m.peer})
		if m != leader {
			c = m.coord
		}
	}
	slices.SortFunc(votes, func(a, b seedlog.Vote) int { return byVoter(a, b.Voter) })
	last := f.peers[0].peer
	if last == leader.peer {
		last = f.peers[1].peer
	}
	term := c.chain.head.term
	for _, n := range []int{2, 6, 1, 6, 5} {
		c.remember(&mandate{term, last, votes[:n]})
	}
	if m := c.knownMandate(last, term); m == nil || len(m.votes) != 6 {
		t.Errorf("it forgot votes: %v", m)
	}
	c.remember(&mandate{term + 1, last, votes[:1]})
	if m := c.knownMandate(last, term+1); m == nil {
		t.Error("it forgot the mandate of a later term")
	}
}

// TestLateVotesAreShownAlone: a leader shows the votes that come later without those that it has shown, at once, and
// who knows the others knows all then.
func TestLateVotesAreShownAlone(t *testing.T) {
	f, leader := newLedField(t, 8)
	c := leader.coord
	f.pass(1)
	all := c.election.mandate
	late := all.votes[slices.IndexFunc(all.votes, func(v seedlog.Vote) bool { return v.Voter != leader.peer })]
	fewer := &mandate{all.term, all.leader, slices.DeleteFunc(slices.Clone(all.votes), func(v seedlog.Vote) bool { return v.Voter == late.Voter })}
	for _, m := range f.peers {
		m.coord.election.mandate = fewer
	}
	c.tenure.shownAgain = c.now + 100
	shown := 0
	f.spy = func(m *member, e Envelope) {
		if x, ok := e.Message.(*Mandate); ok && m == leader {
			if shown++; len(x.Votes) != 1 || x.Votes[0].Voter != late.Voter {
				t.Errorf("%d votes are shown", len(x.Votes))
			}
		}
	}
	c.addVote(late)
	f.pass(4)
	if shown != 1 {
		t.Errorf("it is shown %d times", shown)
	}
	for _, m := range f.peers {
		if got := m.coord.election.mandate; len(got.votes) != len(all.votes) {
			t.Errorf("%s knows %d votes of %d", m.name, len(got.votes), len(all.votes))
		}
	}
}

// TestMandatesKeepTheHeaviest: of too many votes those of who did most are known, in a message are those of electors,
// and a stranger's false ones are verified once the others are known only where they would count.
func TestMandatesKeepTheHeaviest(t *testing.T) {
	f, leader := newLedField(t, 8)
	follower := f.peers[(slices.Index(f.peers, leader)+1)%8].coord
	known := follower.election.mandate
	var strangers []seedlog.Vote
	for i := range maxVotes {
		strangers = append(strangers, seedlog.Vote{Voter: numbered(i)})
	}
	slices.SortFunc(strangers, func(a, b seedlog.Vote) int { return byVoter(a, b.Voter) })
	votes := follower.joined(known.votes, strangers)
	if len(votes) != maxVotes || !slices.IsSortedFunc(votes, func(a, b seedlog.Vote) int { return byVoter(a, b.Voter) }) {
		t.Fatalf("%d votes, at most %d count, in the order of the voters", len(votes), maxVotes)
	}
	sent := follower.shown(votes)
	for _, v := range known.votes {
		if _, ok := slices.BinarySearchFunc(votes, v.Voter, byVoter); !ok && follower.electorate().weightOf(v.Voter) > 0 {
			t.Errorf("the vote of %s is displaced by a stranger's", v.Voter.Short())
		} else if _, ok := slices.BinarySearchFunc(sent, v.Voter, byVoter); !ok && follower.electorate().weightOf(v.Voter) > 0 || len(sent) > seedlog.MaxVotes {
			t.Errorf("the vote of %s is not among %d that are sent", v.Voter.Short(), len(sent))
		}
	}
	m := &Mandate{Term: known.term, Leader: known.leader, Votes: strangers[:1]}
	if follower.expectsMandate(f.peers[0].peer, m) && f.peers[0] != leader {
		t.Error("another peer has a vote verified that does not count")
	}
}

// TestManyVotesAreShown: of more votes than a message holds those of electors are shown first, then all others, once.
func TestManyVotesAreShown(t *testing.T) {
	f, leader := newLedField(t, 8)
	c := leader.coord
	m := c.election.mandate
	var others []seedlog.Vote
	for i := range 2 * seedlog.MaxVotes {
		others = append(others, seedlog.Vote{Voter: numbered(i)})
	}
	c.election.mandate = &mandate{m.term, m.leader, c.joined(m.votes, others)}
	c.out, c.tenure.showings = Actions{}, 0
	c.sendMandate()
	first := len(c.out.Send)
	c.sendLateVotes()
	c.sendMandate()
	c.sendLateVotes()
	shown := make(map[Peer]int)
	for i, e := range c.out.Send {
		votes := e.Message.(*Mandate).Votes
		if len(votes) > seedlog.MaxVotes || i == 0 && len(votes) > len(f.peers) {
			t.Errorf("message %d has %d votes", i, len(votes))
		}
		for _, v := range votes {
			shown[v.Voter]++
		}
	}
	for _, v := range c.election.mandate.votes {
		if n := shown[v.Voter]; n == 0 || n > 1 && c.electorate().weightOf(v.Voter) == 0 {
			t.Errorf("the vote of %s is shown %d times", v.Voter.Short(), n)
		}
	}
	if first != 1 || len(shown) != len(c.election.mandate.votes) {
		t.Errorf("%d messages at first, %d votes in all of %d", first, len(shown), len(c.election.mandate.votes))
	}
}

// TestCampaignsWaitForVotes: a campaign lasts as long as votes come, and ends at some time.
func TestCampaignsWaitForVotes(t *testing.T) {
	f, leader := newLedField(t, 8)
	m := f.peers[(slices.Index(f.peers, leader)+1)%8]
	c := m.coord
	c.stand(&campaign{term: c.nextTerm()})
	g, begun := c.election.campaign, c.now
	if g == nil {
		t.Fatal("no campaign")
	}
	half := c.cfg.Timing.Election / 2
	for _, x := range f.peers {
		if x != m && c.now < g.until {
			c.now = g.until - 1
			for _, h := range c.members.heard {
				h.last = c.now
			}
			for range 2 { // the same vote twice counts once
				c.onVoteReply(x.peer, &VoteReply{Granted: true, Term: g.term, Signature: seedlog.NewVote(f.rules.Run, g.term, m.peer, x.key).Signature})
			}
			if want := min(c.now+half, g.latest); g.until < c.now || g.until != max(want, c.now+1) {
				t.Errorf("at tick %d of the campaign it lasts until %d, want %d", c.now-begun, g.until-begun, want-begun)
			}
		}
	}
	if most := voteElections*c.cfg.Timing.Election + c.election.jitter; g.until > begun+most || g.until < begun+c.cfg.Timing.Election+half {
		t.Errorf("it lasts %d ticks, at most %d", g.until-begun, most)
	}
}
