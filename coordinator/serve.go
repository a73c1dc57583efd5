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
	// stepAnswers bounds the questions that one Step answers.
	stepAnswers = 16
	// readsPerTick and readsBurst bound those of all Steps.
	readsPerTick = 1024
	readsBurst   = 4096
	// askerReads and askerReadsBurst bound those for one peer, per tick and at once.
	askerReads      = 512
	askerReadsBurst = 1 << 13
	// askerBytes and askerBytesBurst bound what one peer is sent, per tick and at once.
	askerBytes      = 64 << 10
	askerBytesBurst = 4 << 20
	// newestBytes and newestBytesBurst bound what all are sent, per tick and at once, who lack newestEntries or fewer:
	// 10 Mbit/s. Where many lack the same, those who get it first give it to the others.
	newestBytes      = 64 << 10
	newestBytesBurst = 256 << 10
	newestEntries    = 64
	// leaderCost is what of that a byte of a leader counts: all wait for what it sends else.
	leaderCost = 4
	// newestWait is for how many ticks such a question waits. Its asker asks another meanwhile.
	newestWait = 4
	// busyPart is the part of a full answer that one peer gets in its turn while others wait.
	busyPart = 4
	// newestProofs is how many proofs a segment carries in addition to those against its own claims.
	newestProofs = 16
	// segmentRoom is what a segment keeps free of generations, half of it for proofs; blockHeader and proofHeader are
	// what the encoding of a block and of a proof adds at most.
	segmentRoom = 128 << 10
	blockHeader = 5
	proofHeader = 16
)

// serving is the answers to others' questions.
type serving struct {
	latest, rest line // questions for the newest entries, which have a budget of their own, and all others
	turns        uint
	expired      Tick // when questions were last dropped that waited for long
	total        *fair.Budget[struct{}]
	newest       *fair.Budget[struct{}] // bytes of the newest entries, to all
	reads, bytes *fair.Budget[Peer]
	open         *answer
	states       servedStates
	recent       recentGenerations
}

// line is the questions that wait for the same budgets, of peers with a record and of others.
type line struct {
	known, fresh *fair.Queue[source, question] // at most maxQuestions each
	turns        uint
}

// question is a Pull, a Want, an Ask or a Seek.
type question struct {
	from    Peer
	at      source
	message Message
	came    Tick
	newest  bool // it is for the newest entries
}

// answer is a segment that is being put together.
type answer struct {
	to     Peer
	reply  *Segment
	first  uint64 // height of the first generation
	next   uint64 // height of the generation that is read
	above  seedlog.Link
	part   *Generation    // that generation, as far as it was read; nil: not begun
	link   seedlog.Link   // of its entry
	claims []seedlog.Link // of it, still to be read
	size   int            // of the generations
	begun  int            // without the one that is read
	proofs int            // of the proofs, in bytes
	one    bool           // one generation alone was asked for
}

func newServing() serving {
	return serving{
		latest: newLine(),
		rest:   newLine(),
		total:  fair.NewBudget[struct{}](readsPerTick, readsBurst, 1),
		newest: fair.NewBudget[struct{}](newestBytes, newestBytesBurst, 1),
		reads:  fair.NewBudget[Peer](askerReads, askerReadsBurst, maxHeard),
		bytes:  fair.NewBudget[Peer](askerBytes, askerBytesBurst, maxHeard),
	}
}

func newLine() line {
	return line{known: fair.NewQueue[source, question](maxQuestions, 1), fresh: fair.NewQueue[source, question](maxQuestions, 1)}
}

// of is where questions wait of a peer with a record, or of another.
func (l *line) of(known bool) *fair.Queue[source, question] {
	if known {
		return l.known
	}
	return l.fresh
}

// pop takes the question whose turn it is: of a known peer, and every few turns of another.
func (l *line) pop() (q question, ok bool) {
	known := l.turns%newcomersShare != newcomersShare-1
	l.turns++
	if _, q, ok = l.of(known).Pop(); !ok {
		_, q, ok = l.of(!known).Pop()
	}
	return q, ok
}

// lineOf is where a question waits.
func (s *serving) lineOf(q *question) *line {
	if q.newest {
		return &s.latest
	}
	return &s.rest
}

// waiting is how many questions wait.
func (s *serving) waiting() int {
	return s.latest.known.Len() + s.latest.fresh.Len() + s.rest.known.Len() + s.rest.fresh.Len()
}

// expire drops the questions for the newest entries that waited for long, once a tick: their askers asked others
// meanwhile.
func (s *serving) expire(now Tick) {
	if s.expired == now {
		return
	}
	s.expired = now
	for _, queue := range []*fair.Queue[source, question]{s.latest.known, s.latest.fresh} {
		for range queue.Len() {
			if from, q, _ := queue.Pop(); now-q.came <= newestWait {
				queue.Push(from, 1, q)
			}
		}
	}
}

// ask lets a question wait.
func (c *Coordinator) ask(q question) {
	c.serving.lineOf(&q).of(c.known(q.from)).Push(q.at, 1, q)
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
	q.came = c.now
	if m, ok := q.message.(*Pull); ok && c.spreads() {
		q.newest = c.chain.after(m.Locator)+newestEntries >= c.chain.head.height
	}
	if s, known := &c.serving, c.known(q.from); s.latest.of(known).Waiting(q.at)+s.rest.of(known).Waiting(q.at) < most {
		c.ask(q)
	}
}

// nextQuestion takes a question from both lines in turn. It skips the line for the newest entries while their budget is
// spent: a hub with thousands of leaves has a thousand questions there, and handles a message every few microseconds.
func (s *serving) nextQuestion(now uint64) (q question, ok bool) {
	s.turns++
	if s.newest.Left(now, struct{}{}) == 0 {
		return s.rest.pop()
	}
	first, second := &s.latest, &s.rest
	if s.turns%2 == 0 {
		first, second = second, first
	}
	if q, ok = first.pop(); !ok {
		q, ok = second.pop()
	}
	return q, ok
}

// serve answers questions as far as the budgets allow in this Step.
func (c *Coordinator) serve() {
	c.answerWaiting()
	c.serving.expire(c.now)
	s, now := &c.serving, uint64(c.now)
	left := min(stepReads, int(s.total.Left(now, struct{}{})))
	answers := 0
	for tries := s.waiting(); left > 0 && answers < stepAnswers; tries-- {
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
		q, ok := s.nextQuestion(now)
		if !ok {
			return
		}
		if s.reads.Left(now, q.from) == 0 || s.bytes.Left(now, q.from) == 0 {
			c.ask(q) // until it has paid for what it got
			continue
		}
		answers++
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
			one := len(m.Locator) == 1 && m.Locator[0] != c.rules.Run
			if one && after == 0 {
				after = c.chain.head.height // it has not that entry
			}
			s.open = &answer{to: q.from, reply: &Segment{}, first: after + 1, next: after + 1, one: one}
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
		if reads = 3; len(a.claims) > 0 {
			reads += len(a.part.Claims) // batches
		}
		a.begun = a.size
		a.size += sizeOf(a.part)
		c.attachProofs(a)
	}
	for ; len(a.claims) > 0 && reads < most && a.fits(); reads++ {
		data, ok := c.cfg.Archive.Block(a.claims[0])
		if !ok {
			a.part, a.size, a.next = nil, a.begun, c.chain.head.height+1
			return reads + 1
		}
		a.part.Claims = append(a.part.Claims, data)
		a.claims = a.claims[1:]
		a.size += len(data) + blockHeader
	}
	switch {
	case !a.fits():
		a.part, a.size, a.next = nil, a.begun, c.chain.head.height+1
	case len(a.claims) == 0:
		a.reply.Generations = append(a.reply.Generations, *a.part)
		a.above, a.part = a.link, nil
		a.next++
	}
	return max(reads, 1)
}

// fits reports whether an answer can still be sent. Claims that others log may take more than a message holds.
func (a *answer) fits() bool { return a.size <= MaxDirectBytes-segmentRoom }

// sizeOf is what a generation takes in a segment, as far as it was read.
func sizeOf(g *Generation) int {
	size := len(g.Entry) + len(g.Seal) + 3*blockHeader
	for _, claim := range g.Claims {
		size += len(claim) + blockHeader
	}
	return size
}

// attachProofs adds those against claims of the generation that is read.
func (c *Coordinator) attachProofs(a *answer) {
	claims := a.claims
	if n := c.chain.canonAt(a.next); n != nil {
		claims = n.claims
	}
	for _, link := range claims {
		if k, ok := c.faults.kept.Get(link); ok && len(a.reply.Proofs) < maxWant-newestProofs {
			a.attach(k.FraudProof)
		}
	}
}

// attach adds a proof where there is room for it; those left out come with other answers.
func (a *answer) attach(p FraudProof) {
	size := len(p.Claim) + len(p.Proof) + proofHeader
	if a.proofs+size <= segmentRoom/2 {
		a.reply.Proofs, a.proofs = append(a.reply.Proofs, p), a.proofs+size
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
	e, err := seedlog.ReadEntry(entryData, c.cfg.Archive.Block)
	if err != nil {
		return nil, nil, link, false
	}
	g = &Generation{Entry: entryData, Seal: sealData, Claims: make([][]byte, 0, len(e.Batches)+len(e.Claims))}
	for _, batch := range e.Batches {
		data, ok := c.cfg.Archive.Block(batch)
		if !ok {
			return nil, nil, link, false
		}
		g.Claims = append(g.Claims, data)
	}
	return g, e.Claims, link, true
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
	if c.serving.waiting() > 0 {
		size, generations = size/busyPart, generations/busyPart
	}
	if a.one {
		generations = 1
	}
	at, ok := c.placeAt(a.next - 1)
	return a.next > c.chain.head.height || a.size >= size || len(a.reply.Generations) >= generations || !ok || at != a.above
}

// sendAnswer sends a segment with the proofs that belong to it, and the newest ones.
func (c *Coordinator) sendAnswer(a *answer) {
	a.reply.Height = c.chain.head.height
	for _, p := range c.faults.proofs[max(0, len(c.faults.proofs)-newestProofs):] {
		if !slices.ContainsFunc(a.reply.Proofs, func(q FraudProof) bool { return bytes.Equal(p.Claim, q.Claim) }) {
			a.attach(p)
		}
	}
	s, now, size := &c.serving, uint64(c.now), uint64(a.size)
	s.bytes.Charge(now, a.to, size)
	if a.first+newestEntries > c.chain.head.height {
		if c.election.role == Leader {
			size *= leaderCost
		}
		s.newest.Charge(now, struct{}{}, size)
	}
	c.out.send(Direct, a.to, a.reply)
}
