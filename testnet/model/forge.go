package model

import (
	"fmt"
	"math"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// forgery is something that a faulty peer may do. It returns false where it has no occasion to.
type forgery struct {
	name string
	do   func(w *world, by int) bool
}

// forgeries by name, in the order in which they are tried.
var forgeries = []forgery{
	{"claims to lead the next term", func(w *world, by int) bool { return w.pretend(by, w.term()+1) }},
	{"claims to lead a far term", func(w *world, by int) bool { return w.pretend(by, w.term()+farTerm) }},
	{"claims to lead the last term there is", func(w *world, by int) bool { return w.pretend(by, math.MaxUint64) }},
	{"asks for votes in the next term", func(w *world, by int) bool { return w.beg(by, w.term()+1) }},
	{"asks for votes in a far term", func(w *world, by int) bool { return w.beg(by, w.term()+farTerm) }},
	{"signs an entry of the next term", func(w *world, by int) bool { return w.forgeEntry(by, w.term()+1, false) }},
	{"signs an entry of the last term there is", func(w *world, by int) bool { return w.forgeEntry(by, math.MaxUint64, false) }},
	{"signs an entry with a false claim", func(w *world, by int) bool { return w.forgeEntry(by, w.term()+1, true) }},
	{"signs a second entry", (*world).equivocate},
	{"disproves a true claim", (*world).disprove},
	{"hands over what it does not lead", (*world).handOver},
}

// farTerm is how far ahead a forged term is: honest peers count terms one by one.
const farTerm = 1000

// maxTerm bounds the terms that honest peers may be in: campaigns and forgeries move them, but none without end.
func (b Bounds) maxTerm() uint64 { return uint64(b.Forgeries+1)*(farTerm+64) + uint64(b.Forgeries)<<20 }

// term is the highest term that an honest peer is in.
func (w *world) term() (term uint64) {
	for i, p := range w.peers {
		if !w.faulty(i) {
			term = max(term, p.coord.Snapshot().Term)
		}
	}
	return term
}

// head is the head of the first peer, which is honest.
func (w *world) head() seedlog.Link { return w.peers[0].coord.Snapshot().Head }

// broadcast queues a message of a faulty peer for all honest ones. Those that refuse its form never see it.
func (w *world) broadcast(by int, m coordinator.Message) (sent bool) {
	for to := range peers {
		if p, err := w.parcel(by, to, m); to != by && !w.faulty(to) && err == nil {
			w.post(p)
			sent = true
		}
	}
	return sent
}

// pretend claims to lead a term, with its own vote alone and more weight than anybody has.
func (w *world) pretend(by int, term uint64) bool {
	own := seedlog.NewVote(w.rules.Run, term, w.ids[by], keys[by])
	shown := w.broadcast(by, &coordinator.Mandate{Term: term, Leader: w.ids[by], Votes: []seedlog.Vote{own}})
	return w.broadcast(by, &coordinator.Status{Hub: true, Leads: true, Term: term, Head: w.head(), Height: w.peers[0].coord.Snapshot().Height, Weight: 1 << 40}) || shown
}

func (w *world) beg(by int, term uint64) bool {
	return w.broadcast(by, &coordinator.VoteRequest{Term: term, Head: w.head(), Handover: []byte{}})
}

// handOver has each honest peer take over what the faulty one does not lead.
func (w *world) handOver(by int) bool {
	for to := range peers {
		term := w.term() + 1
		vote := seedlog.NewVote(w.rules.Run, term, w.ids[to], keys[by])
		if p, err := w.parcel(by, to, &coordinator.Handover{Term: term, Head: w.head(), Signature: vote.Signature}); err == nil && !w.faulty(to) {
			w.post(p)
		}
	}
	return true
}

// grant answers a request for a vote with one, whatever was given before.
func (w *world) grant(by, to int, m *coordinator.VoteRequest) {
	p, err := w.parcel(by, to, &coordinator.VoteReply{Pre: m.Pre, Granted: true, Term: m.Term, Signature: seedlog.NewVote(w.rules.Run, m.Term, w.ids[to], keys[by]).Signature})
	if err == nil {
		w.post(p)
	}
}

// answers has a faulty peer answer what its coordinator would answer otherwise.
func (w *world) answers(p parcel) bool {
	switch m := p.message.(type) {
	case *coordinator.VoteRequest:
		if w.bounds.Generous && !m.Pre {
			w.grant(p.to, p.from, m)
			return true
		}
	case *coordinator.Pull:
		if len(w.forged) > 0 {
			reply, err := w.parcel(p.to, p.from, &coordinator.Segment{Generations: w.forged, Height: w.forgedHeight})
			if err == nil {
				w.deliver(reply)
			}
			return true
		}
	}
	return false
}

// chainEnd folds the chain on a disk up to a height.
func (w *world) chainEnd(d *disk, height int) (*evolve.State, seedlog.Parent) {
	state, parent := w.rules.Initial(), seedlog.Parent{Link: w.rules.Run}
	for _, link := range d.chain[:height] {
		e, err := seedlog.DecodeEntry(d.blocks[link])
		if err != nil {
			panic(err)
		}
		claims, err := w.rules.KeptClaims(e.Claims, d.Block)
		if err != nil {
			panic(err)
		}
		values := make([]*seedlog.Claim, len(claims))
		for i, c := range claims {
			values[i] = c.Value()
		}
		state = w.rules.Apply(state, parent.Link, values)
		parent = parent.Next(link, e)
	}
	return state, parent
}

// publish announces an entry that a faulty peer signed on top of parent, and gives it to those who pull.
func (w *world) publish(by int, state *evolve.State, parent seedlog.Parent, term uint64, claims []*seedlog.Claim) bool {
	e, _ := w.rules.NewEntry(state, parent, term, w.ids[by], claims)
	entry, _ := e.Encode()
	seal, _ := seedlog.NewSeal(e, keys[by], []seedlog.Vote{seedlog.NewVote(w.rules.Run, term, w.ids[by], keys[by])}).Encode()
	g := coordinator.Generation{Entry: entry, Seal: seal, Claims: make([][]byte, len(claims))}
	for i, c := range claims {
		g.Claims[i], _ = c.Encode()
	}
	w.forged, w.forgedHeight = append(w.forged, g), e.Height
	return w.broadcast(by, &coordinator.Announce{Entry: entry, Seal: seal})
}

// forgeEntry signs an entry without a vote but its own, with its own claims alone.
func (w *world) forgeEntry(by int, term uint64, inflate bool) bool {
	d := w.peers[0].disk
	state, parent := w.chainEnd(d, len(d.chain))
	if parent.Height == 0 || len(w.forged) > 0 {
		return false
	}
	claims := make([]*seedlog.Claim, w.rules.Spec.Generation.Quota)
	for chunk := range claims {
		task := w.rules.Task(state, parent.Link, w.ids[by], uint64(chunk))
		claims[chunk] = w.rules.Claim(parent.Link, keys[by], uint64(chunk), evaluate(task, inflate))
	}
	return w.publish(by, state, parent, term, claims)
}

// equivocate signs another entry for the place of the newest one, if the peer signed that.
func (w *world) equivocate(by int) bool {
	d := w.peers[by].disk
	if len(d.chain) == 0 || len(w.forged) > 0 {
		return false
	}
	e, err := seedlog.DecodeEntry(d.blocks[d.chain[len(d.chain)-1]])
	if err != nil || e.Leader != w.ids[by] || len(e.Claims) < 3 {
		return false
	}
	state, parent := w.chainEnd(d, len(d.chain)-1)
	checked, err := w.rules.KeptClaims(e.Claims[:len(e.Claims)-1], d.Block)
	if err != nil {
		panic(err)
	}
	claims := make([]*seedlog.Claim, len(checked))
	for i, c := range checked {
		claims[i] = c.Value()
	}
	return w.publish(by, state, parent, e.Term, claims)
}

// disprove sends a proof with a false re-run against an honest peer's claim in the newest entry.
func (w *world) disprove(by int) bool {
	d := w.peers[0].disk
	if len(d.chain) == 0 {
		return false
	}
	e, err := seedlog.DecodeEntry(d.blocks[d.chain[len(d.chain)-1]])
	if err != nil {
		return false
	}
	for _, link := range e.Claims {
		claim, err := seedlog.DecodeClaim(d.blocks[link])
		if err != nil || claim.Peer != w.ids[0] {
			continue
		}
		counter := w.rules.First(claim)
		fitness, steps := w.rules.At(claim, counter)
		proof, _ := seedlog.NewProof(w.rules.Run, link, counter, []int64{fitness[0] + 1}, steps, keys[by]).Encode()
		return w.broadcast(by, &coordinator.FraudProof{Claim: d.blocks[link], Proof: proof})
	}
	return false
}

// describe says in a few words what a message is.
func describe(m coordinator.Message) string {
	switch m := m.(type) {
	case *coordinator.Status:
		return fmt.Sprintf("Status of term %d (leads: %t)", m.Term, m.Leads)
	case *coordinator.VoteRequest:
		return fmt.Sprintf("VoteRequest of term %d", m.Term)
	case *coordinator.VoteReply:
		return fmt.Sprintf("VoteReply of term %d", m.Term)
	case *coordinator.Mandate:
		return fmt.Sprintf("Mandate of term %d, %d votes", m.Term, len(m.Votes))
	case *coordinator.Handover:
		return fmt.Sprintf("Handover of term %d", m.Term)
	case *coordinator.Announce:
		if e, err := seedlog.DecodeEntry(m.Entry); err == nil {
			return fmt.Sprintf("Announce of height %d, term %d", e.Height, e.Term)
		}
	}
	return fmt.Sprintf("%T", m)[len("*coordinator."):]
}
