package coordinator

import (
	"bytes"
	"slices"

	"github.com/evoswarm/evoswarm/internal/fair"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// What others ask for is answered in turns, and within budgets of disk reads and bytes, so that a question costs this
// peer little at a time and no asker keeps another waiting.
const (
	// maxQuestions bounds the questions that wait, questionsEach those of one peer, and questionsOf those of one block
	// of addresses.
	maxQuestions  = 1024
	questionsEach = 4
	questionsOf   = 64
	// stepReads bounds the look-ups in the archive of one Step.
	stepReads = 256
	// readsPerTick and readsBurst bound those of all Steps.
	readsPerTick = 1024
	readsBurst   = 4096
	// askerReads and askerReadsBurst bound those for one peer, per tick and at once.
	askerReads      = 512
	askerReadsBurst = 1 << 13
	// askerBytes and askerBytesBurst bound what one peer is sent, per tick and at once.
	askerBytes      = 64 << 10
	askerBytesBurst = 4 << 20
	// busyPart is the part of a full answer that one peer gets in its turn while others wait.
	busyPart = 4
	// newestProofs is how many proofs a segment carries in addition to those against its own claims.
	newestProofs = 16
)

// serving is the answers to others' questions.
type serving struct {
	known, fresh *fair.Queue[source, question] // Pull, Want, Ask and Seek, of peers with a record and of others
	turns        uint
	total        *fair.Budget[struct{}]
	reads, bytes *fair.Budget[Peer]
	open         *answer
	states       servedStates
	recent       recentGenerations
}

// question is a Pull, a Want, an Ask or a Seek.
type question struct {
	from    Peer
	at      source
	message Message
}

// answer is a segment that is being put together.
type answer struct {
	to     Peer
	reply  *Segment
	next   uint64 // height of the generation that is read
	above  seedlog.Link
	part   *Generation    // that generation, as far as it was read; nil: not begun
	link   seedlog.Link   // of its entry
	claims []seedlog.Link // of it, still to be read
	size   int
}

func newServing() serving {
	return serving{
		known: fair.NewQueue[source, question](maxQuestions, 1),
		fresh: fair.NewQueue[source, question](maxQuestions, 1),
		total: fair.NewBudget[struct{}](readsPerTick, readsBurst, 1),
		reads: fair.NewBudget[Peer](askerReads, askerReadsBurst, maxHeard),
		bytes: fair.NewBudget[Peer](askerBytes, askerBytesBurst, maxHeard),
	}
}

// queueOf is where a peer's questions wait.
func (c *Coordinator) queueOf(p Peer) *fair.Queue[source, question] {
	if c.known(p) {
		return c.serving.known
	}
	return c.serving.fresh
}

// onQuestion lets a question wait for the turn of its source.
func (c *Coordinator) onQuestion(q question) {
	if m, ok := q.message.(*Want); ok && q.from == c.election.leader && c.serving.bytes.Left(uint64(c.now), q.from) > 0 {
		c.onWant(q.from, m) // from memory, and all wait for what the leader logs
		return
	}
	most := uint64(questionsEach)
	if q.at.at != "" {
		most = questionsOf
	}
	if queue := c.queueOf(q.from); queue.Waiting(q.at) < most {
		queue.Push(q.at, 1, q)
	}
}

// nextQuestion takes the question whose turn it is: of a known peer, and every few turns of another.
func (s *serving) nextQuestion() (q question, ok bool) {
	first, second := s.known, s.fresh
	if s.turns%newcomersShare == newcomersShare-1 {
		first, second = second, first
	}
	s.turns++
	if _, q, ok = first.Pop(); !ok {
		_, q, ok = second.Pop()
	}
	return q, ok
}

// serve answers questions as far as the budgets allow in this Step.
func (c *Coordinator) serve() {
	s, now := &c.serving, uint64(c.now)
	left := min(stepReads, int(s.total.Left(now, struct{}{})))
	for tries := s.known.Len() + s.fresh.Len(); left > 0; tries-- {
		if s.open != nil {
			cost := c.read(s.open, left)
			left -= cost
			s.total.Charge(now, struct{}{}, uint64(cost))
			s.reads.Charge(now, s.open.to, uint64(cost))
			if s.open.part == nil && c.complete(s.open) {
				c.sendAnswer(s.open)
				s.open = nil
			}
			continue
		}
		if tries < 0 {
			return
		}
		q, ok := s.nextQuestion()
		if !ok {
			return
		}
		if s.reads.Left(now, q.from) == 0 || s.bytes.Left(now, q.from) == 0 {
			c.queueOf(q.from).Push(q.at, 1, q) // until it has paid for what it got
			continue
		}
		switch m := q.message.(type) {
		case *Want:
			left--
			c.onWant(q.from, m)
		case *Ask:
			left -= 2
			c.onAsk(q.from, m)
		case *Seek:
			left -= 2
			c.onSeek(q.from, m)
		case *Pull:
			left -= 1 + len(m.Locator)/8
			after := c.chain.after(m.Locator)
			s.open = &answer{to: q.from, reply: &Segment{}, next: after + 1}
			s.open.above, _ = c.placeAt(after)
		}
	}
}

// read reads on, at most so many blocks, and returns how many it did. Where the archive cannot read one now, the answer
// ends before its generation.
func (c *Coordinator) read(a *answer, most int) (reads int) {
	if a.part == nil {
		if c.complete(a) {
			return 1
		}
		ok := false
		if a.part, a.claims, a.link, ok = c.openGeneration(a.next); !ok {
			a.part, a.next = nil, c.chain.head.height+1
			return 1
		}
		reads = 3
		c.attachProofs(a)
	}
	for ; len(a.claims) > 0 && reads < most; reads++ {
		data, ok := c.cfg.Archive.Block(a.claims[0])
		if !ok {
			a.part, a.next = nil, c.chain.head.height+1
			return reads + 1
		}
		a.part.Claims = append(a.part.Claims, data)
		a.claims = a.claims[1:]
		a.size += len(data)
	}
	if len(a.claims) == 0 {
		a.reply.Generations = append(a.reply.Generations, *a.part)
		a.size += len(a.part.Entry) + len(a.part.Seal)
		a.above, a.part = a.link, nil
		a.next++
	}
	return max(reads, 1)
}

// attachProofs adds those against claims of the generation that is read.
func (c *Coordinator) attachProofs(a *answer) {
	claims := a.claims
	if n := c.chain.canonAt(a.next); n != nil {
		claims = n.claims
	}
	for _, link := range claims {
		if k, ok := c.faults.kept.Get(link); ok && len(a.reply.Proofs) < maxWant-newestProofs {
			a.reply.Proofs = append(a.reply.Proofs, k.FraudProof)
		}
	}
}

// openGeneration returns the canonical generation of a height without claims that the archive still has to be asked
// for, and their links.
func (c *Coordinator) openGeneration(height uint64) (g *Generation, claims []seedlog.Link, link seedlog.Link, ok bool) {
	if n := c.chain.canonAt(height); n != nil && n.body != nil {
		whole, ok := n.blocks(c.cfg.Archive)
		return &whole, nil, n.link, ok
	}
	link, seal, ok1 := c.archived(height)
	if whole, ok := c.serving.recent.of(link); ok {
		return &whole, nil, link, true
	}
	entryData, ok2 := c.cfg.Archive.Block(link)
	sealData, ok3 := c.cfg.Archive.Block(seal)
	if !ok1 || !ok2 || !ok3 {
		return nil, nil, link, false
	}
	e, err := seedlog.DecodeEntry(entryData)
	if err != nil {
		return nil, nil, link, false
	}
	return &Generation{Entry: entryData, Seal: sealData, Claims: make([][]byte, 0, len(e.Claims))}, e.Claims, link, true
}

// archived is where the canonical entry of a height and its seal are.
func (c *Coordinator) archived(height uint64) (entry, seal seedlog.Link, ok bool) {
	if n := c.chain.canonAt(height); n != nil {
		return n.link, n.sealLink, true
	}
	return c.cfg.Archive.At(height)
}

// placeAt is the link of the canonical entry of a height; of height 0 the run.
func (c *Coordinator) placeAt(height uint64) (seedlog.Link, bool) {
	if height == 0 {
		return c.rules.Run, true
	}
	return c.chain.linkAt(height)
}

// complete reports whether an answer is to be sent: it is full, or the chain ends here, or it is another one meanwhile.
func (c *Coordinator) complete(a *answer) bool {
	size, generations := segmentBytes, maxGenerations
	if c.serving.known.Len()+c.serving.fresh.Len() > 0 {
		size, generations = size/busyPart, generations/busyPart
	}
	at, ok := c.placeAt(a.next - 1)
	return a.next > c.chain.head.height || a.size >= size || len(a.reply.Generations) >= generations || !ok || at != a.above
}

// sendAnswer sends a segment with the proofs that belong to it, and the newest ones.
func (c *Coordinator) sendAnswer(a *answer) {
	a.reply.Height = c.chain.head.height
	for _, p := range c.faults.proofs[max(0, len(c.faults.proofs)-newestProofs):] {
		if !slices.ContainsFunc(a.reply.Proofs, func(q FraudProof) bool { return bytes.Equal(p.Claim, q.Claim) }) {
			a.reply.Proofs = append(a.reply.Proofs, p)
		}
	}
	c.serving.bytes.Charge(uint64(c.now), a.to, uint64(a.size))
	c.out.send(Direct, a.to, a.reply)
}
