package model

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// peers is how many coordinators there are.
const peers = 3

// timing is as short as its proportions allow: ticks cost time, and orders matter more than durations.
var timing = coordinator.Timing{Heartbeat: 2, Election: 6, Rank: 2, Unheard: 10, Patience: 12, Generation: 2, Pull: 8}

// keys of the peers.
var keys = func() (list [peers]ed25519.PrivateKey) {
	for i := range list {
		seed := sha256.Sum256(fmt.Appendf(nil, "evoswarm/model/key %d", i))
		list[i] = ed25519.NewKeyFromSeed(seed[:])
	}
	return list
}()

// newRules makes a run whose generations take 8 evaluations, which one peer can give alone.
func newRules() (*seedlog.Rules, error) {
	method, err := evolve.FindRevision("dises", 1)
	if err != nil {
		return nil, err
	}
	params, err := method.Complete(nil)
	if err != nil {
		return nil, err
	}
	origin := seedlog.PeerOf(keys[0])
	return seedlog.NewRules(&seedlog.Spec{
		Format: seedlog.Format1, Numerics: seedlog.Numerics,
		Env:        seedlog.EnvRef{ID: "CartPole-v1", Revision: 1},
		Policy:     policy.Spec{Kind: "linear", Hidden: []uint64{}, Head: "argmax"},
		Strategy:   seedlog.StrategyRef{Name: "dises", Revision: method.Revision, Params: params},
		Episodes:   seedlog.Episodes{Count: 1, Shared: true},
		Generation: seedlog.Generation{Evaluations: 8, Open: true, Chunk: 4, Quota: 2, WeightSteps: 1 << 20},
		Checks:     seedlog.Checks{Every: 1, Validate: 1, Test: 1},
		Seed:       1, Origin: origin[:], Nonce: make([]byte, 16),
	})
}

// peer is one coordinator. It is not changed once others may see it: see world.change.
type peer struct {
	coord *coordinator.Coordinator
	disk  *disk
	now   coordinator.Tick // of this peer: clocks run apart
	known []seedlog.Link   // claims that it found false, in all lives
	cut   [peers]bool      // whom it cut off, in all lives
	sum   [32]byte         // digest; zero: not computed
}

// parcel is a message on its way.
type parcel struct {
	from, to int
	message  coordinator.Message
	checked  coordinator.Checked
	age      int // how often time passed since it was sent
	sum      [32]byte
}

func (p parcel) String() string {
	return fmt.Sprintf("%s (%x) from n%d to n%d", describe(p.message), p.sum[:2], p.from+1, p.to+1)
}

// vote and sealed are what honest peers may do once.
type vote struct {
	voter     int
	term      uint64
	candidate coordinator.Peer
}

type sealed struct {
	leader       int
	term, height uint64
	link         seedlog.Link
}

// world is a state of the search.
type world struct {
	*scene
	peers        [peers]*peer
	mine         [peers]bool // whether a peer is of this world alone, and may change
	queue        []parcel
	votes        []vote
	seals        []sealed
	forged       []coordinator.Generation // what faulty peers answer pulls with
	forgedHeight uint64

	advances, crashes, forgeries int // left

	trace *trace      // how this state came about
	near  [peers]bool // who hears whom at the moment
	steps int         // since the last action
	err   error
}

// trace is the last action that led to a state, and those before it.
type trace struct {
	past   *trace
	action string
}

// scene is what all states of a search share.
type scene struct {
	bounds  Bounds
	rules   *seedlog.Rules
	checker *seedlog.Checker
	ids     [peers]coordinator.Peer
	parsed  map[string]parcel // by bytes: each message is checked once
	stats   *Stats
	begun   bool // whether faulty peers are at work
}

// change returns a peer that may be changed.
func (w *world) change(i int) *peer {
	if !w.mine[i] {
		p := *w.peers[i]
		d := *p.disk
		p.disk = &d
		p.coord = copyCoordinator(p.coord, w.peers[i].disk, p.disk)
		p.known = slices.Clip(p.known)
		w.peers[i], w.mine[i] = &p, true
	}
	w.peers[i].sum = [32]byte{}
	return w.peers[i]
}

// next is a state that follows this one.
func (w *world) next(action string) *world {
	n := *w
	n.mine = [peers]bool{}
	n.queue, n.votes, n.seals, n.forged = slices.Clone(w.queue), slices.Clip(w.votes), slices.Clip(w.seals), slices.Clip(w.forged)
	n.trace, n.steps = &trace{w.trace, action}, 0
	return &n
}

func (s *scene) faulty(i int) bool { return i >= peers-s.bounds.Faulty }

// start gives a peer power. It continues from its disk.
func (w *world) start(i int, was peer) error {
	d := was.disk
	cfg := coordinator.Config{Rules: w.rules, Key: keys[i], Hub: true, Timing: timing, Archive: d, Seed: uint64(i), Slots: 2,
		Decisive: 2, Audit: 1024, Mandate: w.bounds.Mandate, State: d.state, Height: uint64(len(d.chain))}
	if w.faulty(i) || (i > 0 && i == w.bounds.Careless) {
		cfg.Decisive, cfg.Audit = 0, 0
	}
	c, err := coordinator.New(cfg)
	if err != nil {
		return err
	}
	was.coord = c
	w.peers[i], w.mine[i] = &was, true
	for j := range peers {
		if j != i && w.peers[j] != nil {
			w.do(i, coordinator.Linked{Peer: w.ids[j]})
			w.do(j, coordinator.Linked{Peer: w.ids[i]})
		}
	}
	return nil
}

// endless is how many events one action may cause: where peers answer each other forever, there are more.
const endless = 2000

// do runs one event and carries out the actions. Work and folds are done at once.
func (w *world) do(i int, e coordinator.Event) {
	if w.err != nil {
		return
	}
	if w.steps++; w.steps > endless {
		w.fail("messages without end: n%d gets a %T", i+1, e)
		return
	}
	p := w.change(i)
	before := p.coord.Snapshot()
	a := p.coord.Step(p.now, e)
	if err := p.disk.save(a); err != nil {
		w.fail("n%d: %v", i+1, err)
		return
	}
	w.watch(i, before, a)
	for _, envelope := range a.Send {
		w.send(i, envelope)
	}
	for _, job := range a.Work {
		w.do(i, coordinator.Evaluated{ID: job.ID, Results: evaluate(job.Task, w.begun && w.bounds.Inflate && w.faulty(i) && !job.Urgent)})
	}
	if f := a.Fold; f != nil {
		task, err := f.Task(w.rules, p.disk, nil)
		if err != nil {
			w.fail("n%d: %v", i+1, err)
			return
		}
		w.do(i, f.Answer(w.rules, w.rules.Plan.Fold(task)))
	}
}

func (w *world) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// evaluate answers a task. The fitness of a perturbation is a hash of its seed.
func evaluate(t rollout.Task, inflate bool) []rollout.CandidateResult {
	results := make([]rollout.CandidateResult, len(t.Seeds))
	for i, seed := range t.Seeds {
		results[i] = rollout.CandidateResult{Fitness: [2]int64{truth(seed)}, Steps: 10 + seed%400}
		if inflate {
			results[i].Fitness[0] += 1 << 50
		}
	}
	return results
}

func truth(seed uint64) int64 {
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64(nil, seed))
	return int64(binary.LittleEndian.Uint32(sum[:4])) << 8
}

// prompt reports whether a message arrives at once where its receiver is near, and never elsewhere: signs of life, the
// question whether a candidacy would succeed, and how blocks get about. The order of the others is searched.
func prompt(m coordinator.Message) bool {
	switch m := m.(type) {
	case *coordinator.Status, *coordinator.Mandate, *coordinator.Inventory, *coordinator.Want, *coordinator.Claims, *coordinator.Pull, *coordinator.Segment:
		return true
	case *coordinator.VoteRequest:
		return m.Pre
	case *coordinator.VoteReply:
		return m.Pre || !m.Granted
	}
	return false
}

// send puts a message on its way to those whom it is for.
func (w *world) send(from int, e coordinator.Envelope) {
	for to := range peers {
		if to == from || (e.Scope == coordinator.Direct && w.ids[to] != e.To) {
			continue
		}
		p, err := w.parcel(from, to, e.Message)
		switch {
		case w.err != nil:
			return
		case err != nil:
			w.fail("n%d sent what others refuse: %w", from+1, err)
		case !prompt(e.Message):
			w.post(p)
		case w.near[from] && w.near[to]:
			w.deliver(p)
		}
	}
}

// post queues a message, once.
func (w *world) post(p parcel) {
	if !slices.ContainsFunc(w.queue, func(q parcel) bool { return q.sum == p.sum }) {
		w.queue = append(w.queue, p)
	}
}

// parcel packs a message as the wire carries it.
func (w *world) parcel(from, to int, m coordinator.Message) (parcel, error) {
	data := coordinator.EncodeMessage(m)
	p := parcel{from: from, to: to, sum: sha256.Sum256(append([]byte{byte(from), byte(to)}, data...))}
	if known, ok := w.parsed[string(data)]; ok {
		p.message, p.checked = known.message, known.checked
		return p, nil
	}
	var err error
	if p.message, err = coordinator.DecodeMessage(data); err == nil {
		p.checked, err = coordinator.Check(w.checker, p.message, nil)
	}
	if err == nil {
		w.parsed[string(data)] = p
	}
	return p, err
}

// deliver hands a message over.
func (w *world) deliver(p parcel) {
	if w.faulty(p.to) && w.answers(p) {
		return
	}
	if w.peers[p.to].coord.Expects(w.ids[p.from], p.message) {
		w.do(p.to, coordinator.Received{From: w.ids[p.from], Via: w.ids[p.from], Message: p.checked})
	}
	if m, ok := p.message.(*coordinator.FraudProof); ok && w.faulty(p.from) && !w.faulty(p.to) {
		w.checkProof(p, m)
	}
}

// advance lets time pass at peers that hear each other until one of them does something: campaigns, votes, signs.
func (w *world) advance(group [peers]bool) {
	w.near = group
	for i := range w.queue {
		w.queue[i].age++
	}
	w.queue = slices.DeleteFunc(w.queue, func(p parcel) bool { return p.age > w.bounds.Late })
	queued, heights := len(w.queue), w.heights()
	for range 4 * timing.Patience {
		for i := range peers {
			if group[i] {
				w.change(i).now++
				w.do(i, coordinator.Passed{})
			}
		}
		if w.err != nil || len(w.queue) != queued || w.heights() != heights {
			break
		}
	}
	w.near = [peers]bool{}
}

func (w *world) heights() (list [peers]uint64) {
	for i, p := range w.peers {
		list[i] = p.coord.Snapshot().Height
	}
	return list
}

var linkPattern = regexp.MustCompile(`bafy[a-z2-7]+`)

var errStuck = errors.New("honest peers that hear each other do not agree, or make no progress")

// digest tells states apart.
func (w *world) digest() [32]byte {
	h := sha256.New()
	for _, p := range w.peers {
		if p.sum == ([32]byte{}) {
			p.sum = digestOf(p.coord, p.now)
		}
		h.Write(p.sum[:])
		h.Write(p.disk.state)
		if n := len(p.disk.chain); n > 0 {
			h.Write(p.disk.chain[n-1].Bytes())
		}
		for _, link := range p.known {
			h.Write(link.Bytes())
		}
		for _, cut := range p.cut {
			h.Write([]byte{map[bool]byte{true: 1}[cut]})
		}
	}
	var sums [][]byte
	for _, p := range w.queue {
		sums = append(sums, append(p.sum[:], byte(p.age)))
	}
	for _, v := range w.votes {
		sums = append(sums, append(binary.AppendUvarint([]byte{'v', byte(v.voter)}, v.term), v.candidate[:]...))
	}
	for _, s := range w.seals {
		at := binary.AppendUvarint(binary.AppendUvarint([]byte{'s', byte(s.leader)}, s.term), s.height)
		sums = append(sums, append(at, s.link.Bytes()...))
	}
	slices.SortFunc(sums, slices.Compare[[]byte])
	for _, sum := range sums {
		h.Write(sum)
		h.Write([]byte{0})
	}
	fmt.Fprint(h, w.advances, w.crashes, w.forgeries, len(w.forged))
	return [32]byte(h.Sum(nil))
}
