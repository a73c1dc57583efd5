package coordinator

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// swarm is a handful of peers whose messages and work move only as a script says. Everything is real but the fitness,
// which is a hash of the perturbation seed.
type swarm struct {
	rules *seedlog.Rules
	peers []*member
	now   Tick
	queue []parcel // sent, and neither delivered nor dropped yet
	split bool     // whether a partition stands between the peers with side and those without

	checker *seedlog.Checker // remembers what was checked; nil: all is checked again

	reach func(a, b *member) bool                   // whom direct messages reach; nil: all
	swap  func(from, to *member, m Message) Message // what arrives in place of a message, or nil; nil: all messages arrive
	spoil func(m *member, f *Fold, e *Folded)       // changes what a fold gives; nil: nothing
	notes func(m *member, n Note)                   // sees all notes; nil: nobody
	spy   func(from *member, e Envelope)            // sees all that is sent; nil: nobody
	folds func(m *member) bool                      // whether a peer does its fold now; nil: all do
	slow  func(m *member, f *Fold) bool             // whether a peer does a fold later; nil: none does
	held  func(m *member, j *job) bool              // what is not evaluated as long as it says so; nil: nothing

	returns func(m *member, on *node) []float64 // what a test gives; nil: nobody can run it

	corrupt func(m *member, j *job, fitness []int64) // changes the fitness that a job of a peer gives; nil: none

	log   strings.Builder
	quiet bool // log changes and notes, not messages
}

// member is one peer of a swarm: its disk, and while it has power a coordinator.
type member struct {
	name   string
	key    ed25519.PrivateKey
	peer   Peer
	hub    *member // for tabs: the native it is attached to
	faulty bool    // inflates its own results and checks nothing
	side   bool
	cfg    Config

	disk  *memory
	coord *Coordinator
	tasks []Work // under evaluation
	spare int    // chunks that it could have evaluated by now, towards the first of them
	fold  *Fold  // that waits
}

// parcel is one message on its way to one receiver.
type parcel struct {
	from, via, to *member
	message       Message
}

// memory is a disk that never fails.
type memory struct {
	blocks map[seedlog.Link][]byte
	state  []byte
	chain  []seedlog.Link
	seals  []seedlog.Link
	gone   uint64 // height up to which the chain was dropped

	summaries map[uint64][]byte
	tidied    int // how many blocks there were when the last had gone that were not needed
}

// tidy drops the blocks that are neither canonical nor needed, now and then.
func (m *memory) tidy(c *Coordinator) {
	if len(m.blocks) < m.tidied+m.tidied/4+16 {
		return
	}
	kept := map[seedlog.Link][]byte{}
	keep := func(links ...seedlog.Link) {
		for _, l := range links {
			if data, ok := m.blocks[l]; ok {
				kept[l] = data
			}
		}
	}
	keep(c.Needs()...)
	for i, l := range m.chain {
		if uint64(i) < m.gone {
			continue
		}
		keep(l, m.seals[i])
		if e, err := seedlog.ReadEntry(m.blocks[l], m.Block); err == nil {
			keep(e.Named()...)
		}
	}
	m.blocks, m.tidied = kept, len(kept)
}

// Block implements Archive.
func (m *memory) Block(link seedlog.Link) ([]byte, bool) {
	data, ok := m.blocks[link]
	return data, ok
}

// First implements Archive.
func (m *memory) First() uint64 { return m.gone + 1 }

// At implements Archive.
func (m *memory) At(height uint64) (entry, seal seedlog.Link, ok bool) {
	if height <= m.gone || height > uint64(len(m.chain)) {
		return entry, seal, false
	}
	return m.chain[height-1], m.seals[height-1], true
}

// Height implements Archive.
func (m *memory) Height(entry seedlog.Link) (uint64, bool) {
	for i := len(m.chain) - 1; i >= int(m.gone); i-- { // what is asked for is new more often than old
		if m.chain[i] == entry {
			return uint64(i + 1), true
		}
	}
	return 0, false
}

// Summary implements Archive.
func (m *memory) Summary(most uint64) (height uint64, data []byte, ok bool) {
	for h := range m.summaries { //lint:sorted the greatest
		if h <= most && (!ok || h > height) {
			height, ok = h, true
		}
	}
	return height, m.summaries[height], ok
}

func (m *memory) save(a Actions) {
	if a.Summary != nil {
		data, err := a.Summary.Encode()
		if err != nil {
			panic(err)
		}
		if m.summaries == nil {
			m.summaries = make(map[uint64][]byte)
		}
		m.summaries[a.Summary.Height] = data
	}
	if a.State != nil {
		m.state = a.State
	}
	for _, b := range a.Blocks {
		m.blocks[b.Link()] = b.Bytes()
	}
	if h := a.Head; h != nil {
		for i, link := range h.Entries {
			e, err := seedlog.ReadEntry(m.blocks[link], m.Block)
			if err != nil || e.Height != h.Fork+uint64(i)+1 || m.blocks[h.Seals[i]] == nil {
				panic(fmt.Sprintf("the chain of the archive moves from %d to what it has not: %v", h.Fork, err))
			}
			for _, claim := range e.Claims {
				if m.blocks[claim] == nil {
					panic("the archive lacks a claim of its chain")
				}
			}
		}
		m.chain = append(m.chain[:h.Fork:h.Fork], h.Entries...)
		m.seals = append(m.seals[:h.Fork:h.Fork], h.Seals...)
	}
}

func keyOf(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("coordinator test key of " + name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// newRules makes a run whose generations take 8 evaluations, two claims of 4, and whose origin is n1.
func newRules(t testing.TB, open bool) *seedlog.Rules {
	t.Helper()
	method, err := evolve.FindRevision("dises", 1)
	if err != nil {
		t.Fatal(err)
	}
	params, err := method.Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	origin := seedlog.PeerOf(keyOf("n1"))
	rules, err := seedlog.NewRules(&seedlog.Spec{
		Format: seedlog.Format1, Numerics: seedlog.Numerics,
		Env:        seedlog.EnvRef{ID: "CartPole-v1", Revision: 1},
		Policy:     policy.Spec{Kind: "linear", Hidden: []uint64{}, Head: "argmax"},
		Strategy:   seedlog.StrategyRef{Name: "dises", Revision: method.Revision, Params: params},
		Episodes:   seedlog.Episodes{Count: 1, Shared: true},
		Generation: seedlog.Generation{Evaluations: 8, Open: open, Chunk: 4, Quota: 2, WeightSteps: 1 << 20},
		Checks:     seedlog.Checks{Every: 1, Validate: 1, Test: 1},
		Seed:       1, Origin: origin[:], Nonce: make([]byte, 16),
	})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// add makes a peer without power.
func (s *swarm) add(name string, cfg Config) *member {
	key := keyOf(name)
	m := &member{name: name, key: key, peer: seedlog.PeerOf(key), disk: &memory{blocks: make(map[seedlog.Link][]byte)}}
	cfg.Rules, cfg.Key, cfg.Archive = s.rules, key, m.disk
	cfg.Seed = uint64(len(s.peers))
	m.cfg = cfg
	s.peers = append(s.peers, m)
	return m
}

// powerUp starts a peer from its disk and connects it.
func (s *swarm) powerUp(m *member) error {
	cfg := m.cfg
	cfg.State, cfg.Height = m.disk.state, uint64(len(m.disk.chain))
	cfg.Summary, _ = Summaries{s.rules, m.disk}.Newest(cfg.Height)
	var err error
	if cfg.Base, err = (Summaries{s.rules, m.disk}).Base(m.disk.state); err != nil {
		return err
	}
	if m.faulty {
		cfg.Decisive, cfg.Audit = 0, 0
	}
	c, err := New(cfg)
	if err != nil {
		return err
	}
	m.coord, m.tasks = c, nil
	for _, other := range s.peers {
		if other != m && other.coord != nil && linkedTo(m, other) {
			s.step(m, Linked{Peer: other.peer})
			s.step(other, Linked{Peer: m.peer})
		}
	}
	return nil
}

// powerDown loses all that was not saved, and the messages on their way to the peer.
func (s *swarm) powerDown(m *member) {
	m.coord, m.tasks = nil, nil
	s.queue = slices.DeleteFunc(s.queue, func(p parcel) bool { return p.to == m })
	for _, other := range s.peers {
		if other.coord != nil && linkedTo(m, other) {
			s.step(other, Unlinked{Peer: m.peer})
		}
	}
}

// linkedTo reports whether two peers hold a connection: natives do with each other, a tab with its hub.
func linkedTo(a, b *member) bool {
	switch {
	case a.hub != nil:
		return a.hub == b
	case b.hub != nil:
		return b.hub == a
	}
	return true
}

// step runs one event and carries out the actions. Folds are done at once, work waits until the script has it done.
func (s *swarm) step(m *member, e Event) {
	if m.coord == nil {
		return
	}
	before := m.coord.Snapshot()
	a := m.coord.Step(s.now, e)
	m.coord.checkRolls()
	m.disk.save(a)
	m.disk.tidy(m.coord)
	s.logChange(m, before, m.coord.Snapshot())
	for _, n := range a.Notes {
		if s.notes != nil {
			s.notes(m, n)
		}
		if n.Kind != NoteLeader {
			s.printf("  %s notes %s: %s", m.name, n.Kind, s.readable(n.Text))
		}
	}
	for _, p := range a.Ban {
		s.printf("  %s cuts off %s", m.name, s.nameOf(p))
	}
	for _, envelope := range a.Send {
		s.post(m, envelope)
	}
	m.tasks = slices.DeleteFunc(m.tasks, func(w Work) bool { return slices.Contains(a.Cancel, w.ID) })
	m.tasks = append(m.tasks, a.Work...)
	if r := a.Recall; r != nil {
		summary, _ := Summaries{s.rules, m.disk}.Newest(r.Height)
		s.step(m, Recalled{summary})
	}
	if p := a.Pack; p != nil {
		s.step(m, p.Do())
	}
	if u := a.Unpack; u != nil {
		s.step(m, u.Do(s.rules))
	}
	if f := a.Fold; f != nil && (s.folds != nil && !s.folds(m) || s.slow != nil && s.slow(m, f)) {
		m.fold = f
	} else if f != nil {
		s.fold(m, f)
	}
}

// fold has a peer do a fold.
func (s *swarm) fold(m *member, f *Fold) {
	e := foldNow(s.rules, m.disk, f)
	if s.spoil != nil {
		s.spoil(m, f, &e)
	}
	s.step(m, e)
}

// foldNow does a fold.
func foldNow(rules *seedlog.Rules, disk *memory, f *Fold) Folded {
	task, err := f.Task(rules, disk, nil)
	if err != nil {
		panic(err)
	}
	return f.Answer(rules, rules.Plan.Fold(task))
}

// post queues a message for those whom it is for and whom the network reaches.
func (s *swarm) post(from *member, e Envelope) {
	if s.spy != nil {
		s.spy(from, e)
	}
	to := [...]string{Direct: s.nameOf(e.To), Gossip: "all", Hubs: "its hubs"}[e.Scope]
	if text := describe(e.Message); text != "" && !s.quiet {
		s.printf("  %s > %s: %s", from.name, to, text)
	}
	for _, m := range s.peers {
		via := from
		switch {
		case m == from || m.coord == nil || (s.split && m.side != from.side):
			continue
		case e.Scope == Direct && (m.peer != e.To || s.reach != nil && !s.reach(from, m)), e.Scope == Hubs && !linkedTo(from, m):
			continue
		case !m.coord.HearsEntries() && isAboutEntries(e.Message):
			continue
		case e.Scope == Gossip && m.hub != nil && m.hub != from:
			if via = m.hub; via.coord == nil {
				continue
			}
		}
		s.queue = append(s.queue, parcel{from, via, m, e.Message})
	}
}

// isAboutEntries reports whether a message is gossip that a peer is not sent that needs no entries.
func isAboutEntries(m Message) bool {
	switch m.(type) {
	case *Announce, *Advance:
		return true
	}
	return false
}

// deliver hands over the messages queued by now that want accepts.
func (s *swarm) deliver(want func(parcel) bool) {
	queue := s.queue
	s.queue = nil
	var kept []parcel
	for _, p := range queue {
		if !want(p) {
			kept = append(kept, p)
			continue
		}
		if text := describe(p.message); text != "" && !s.quiet {
			s.printf("%s gets from %s: %s", p.to.name, p.from.name, text)
		}
		if s.swap != nil {
			if p.message = s.swap(p.from, p.to, p.message); p.message == nil {
				continue
			}
		}
		checker := s.checker
		if checker == nil {
			checker = seedlog.NewChecker(s.rules)
		}
		checked, err := Check(checker, p.message, nil)
		if err != nil {
			s.step(p.to, Invalid{From: p.from.peer, Err: err})
			continue
		}
		s.step(p.to, Received{From: p.from.peer, Via: p.via.peer, Message: checked})
	}
	s.queue = append(kept, s.queue...)
}

// work answers what a peer has under evaluation by now. Asked for its opinion, a peer with agrees set repeats what the
// claim under re-run says.
func (s *swarm) work(m *member, agrees bool) {
	tasks := m.tasks
	m.tasks = nil
	for _, w := range tasks {
		j := m.coord.job(w.ID)
		if j == nil {
			continue // given up after an answer before it
		}
		if s.held != nil && s.held(m, j) {
			m.tasks = append(m.tasks, w)
			continue
		}
		if j.kind == jobTest {
			var returns []float64
			if s.returns != nil {
				returns = s.returns(m, j.parent)
			}
			s.step(m, Evaluated{ID: w.ID, Returns: returns})
			continue
		}
		results := s.evaluate(w.Task, m.faulty && j.kind == jobOwn)
		if agrees && j.kind == jobClaim {
			results = stated(j.pooled.claim.Value())
		}
		if s.corrupt != nil {
			fitness := make([]int64, len(results))
			for i := range results {
				fitness[i] = results[i].Fitness[0]
			}
			s.corrupt(m, j, fitness)
			for i := range results {
				results[i].Fitness[0] = fitness[i]
			}
		}
		s.step(m, Evaluated{ID: w.ID, Results: results})
	}
}

// job is what a peer, or its past, has under evaluation.
func (c *Coordinator) job(id uint64) *job {
	if j := c.work.jobs[id]; j != nil || c.based == nil || c.based.past == nil {
		return j
	}
	return c.based.past.work.jobs[id]
}

// stated turns a claim of a strategy with one sign back into results.
func stated(claim *seedlog.Claim) []rollout.CandidateResult {
	results := make([]rollout.CandidateResult, len(claim.Steps))
	for i := range results {
		results[i] = rollout.CandidateResult{Fitness: [2]int64{claim.Fitness[i]}, Steps: claim.Steps[i]}
	}
	return results
}

// truth is the synthetic fitness of one perturbation: a hash of its seed.
func truth(seed uint64) int64 {
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64(nil, seed))
	return int64(binary.LittleEndian.Uint32(sum[:4])) << 8
}

func (s *swarm) evaluate(t rollout.Task, inflate bool) []rollout.CandidateResult {
	results := make([]rollout.CandidateResult, len(t.Seeds))
	for i, seed := range t.Seeds {
		results[i] = rollout.CandidateResult{Fitness: [2]int64{truth(seed)}, Steps: 10 + seed%400}
		if inflate {
			results[i].Fitness[0] += 1 << 50
		}
	}
	return results
}

// run lets time pass with a perfect network: a message takes one tick, work none.
func (s *swarm) run(ticks Tick, done func() bool) {
	for range ticks {
		s.now++
		for _, m := range s.peers {
			s.step(m, Passed{})
		}
		s.deliver(func(parcel) bool { return true })
		for _, m := range s.peers {
			s.work(m, false)
		}
		if done() {
			return
		}
	}
}

func (s *swarm) printf(format string, args ...any) { fmt.Fprintf(&s.log, format+"\n", args...) }

func (s *swarm) logChange(m *member, was, is Snapshot) {
	var changes []string
	if is.Role != was.Role {
		changes = append(changes, "is "+roleName(is.Role))
	}
	if is.Term != was.Term {
		changes = append(changes, fmt.Sprintf("enters term %d", is.Term))
	}
	if is.Leader != was.Leader {
		changes = append(changes, "follows "+s.nameOf(is.Leader))
	}
	if is.Head != was.Head {
		changes = append(changes, fmt.Sprintf("goes from height %d to %d", was.Height, is.Height))
	}
	if len(changes) > 0 {
		s.printf("  %s %s", m.name, strings.Join(changes, ", "))
	}
}

func roleName(r Role) string {
	return [...]string{Follower: "follower", Candidate: "candidate", Leader: "leader"}[r]
}

func (s *swarm) nameOf(p Peer) string {
	for _, m := range s.peers {
		if m.peer == p {
			return m.name
		}
	}
	return "nobody"
}

var linkPattern = regexp.MustCompile(`bafy[a-z2-7]+`)

// readable puts names in place of keys and links.
func (s *swarm) readable(text string) string {
	for _, m := range s.peers {
		text = strings.ReplaceAll(text, m.peer.Short(), m.name)
	}
	text = linkPattern.ReplaceAllStringFunc(text, func(found string) string {
		if claim := s.claim(found); claim != nil {
			return fmt.Sprintf("%s/%d", s.nameOf(claim.Peer), claim.Chunk)
		}
		return "(link)"
	})
	return digestPattern.ReplaceAllString(text, "(digest)")
}

// claim finds the claim that a link in text form names, on the disks and in the pools.
func (s *swarm) claim(text string) *seedlog.Claim {
	link, err := seedlog.ParseLink(text)
	if err != nil {
		return nil
	}
	for _, m := range s.peers {
		if claim, err := seedlog.DecodeClaim(m.disk.blocks[link]); err == nil {
			return claim
		}
		if m.coord != nil && m.coord.work.pool.links[link] != nil {
			return m.coord.work.pool.links[link].claim.Value()
		}
	}
	return nil
}

var digestPattern = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// describe says in a few words what a message is; statuses and mandates are too many to show.
func describe(m Message) string {
	switch m := m.(type) {
	case *Inventory:
		return fmt.Sprintf("Inventory of %d", len(m.Items))
	case *Want:
		return fmt.Sprintf("Want %d", len(m.Claims))
	case *Claims:
		return fmt.Sprintf("Claims, %d", len(m.Blocks))
	case *Announce:
		if e, err := seedlog.DecodeEntry(m.Entry); err == nil {
			return fmt.Sprintf("Announce height %d of term %d", e.Height, e.Term)
		}
		return "Announce garbage"
	case *Pull:
		return fmt.Sprintf("Pull by %d links", len(m.Locator))
	case *Segment:
		return fmt.Sprintf("Segment of %d entries up to height %d, %d proofs", len(m.Generations), m.Height, len(m.Proofs))
	case *FraudProof:
		return "FraudProof"
	case *VoteRequest:
		return describeRequest(m)
	case *VoteReply:
		verdict := map[bool]string{true: "granted", false: "refused"}[m.Granted]
		if m.Pre {
			return fmt.Sprintf("pre-vote %s, term %d", verdict, m.Term)
		}
		return fmt.Sprintf("vote %s, term %d", verdict, m.Term)
	case *Handover:
		return fmt.Sprintf("Handover of term %d", m.Term)
	case *Leave:
		return "Leave"
	case *Equivocation:
		return "Equivocation"
	case *DoubleVote:
		return fmt.Sprintf("DoubleVote of term %d", m.Term)
	}
	return ""
}

func describeRequest(m *VoteRequest) string {
	switch {
	case m.Pre:
		return fmt.Sprintf("would you vote, term %d", m.Term)
	case len(m.Handover) > 0:
		return fmt.Sprintf("vote after hand-over, term %d", m.Term)
	}
	return fmt.Sprintf("vote, term %d", m.Term)
}
