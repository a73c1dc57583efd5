package sim

import (
	"slices"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// library holds every block that anybody made.
type library struct {
	rules  *seedlog.Rules
	blocks map[seedlog.Link][]byte
	known  map[seedlog.Link]*known
}

// known is an entry with what follows from it.
type known struct {
	seedlog.Parent
	weight uint64
	state  *evolve.State
}

func newLibrary(rules *seedlog.Rules) library {
	root := &known{Parent: seedlog.Parent{Link: rules.Run}, state: rules.Initial()}
	return library{rules: rules, blocks: make(map[seedlog.Link][]byte), known: map[seedlog.Link]*known{rules.Run: root}}
}

func (l *library) add(blocks []seedlog.RawBlock) {
	for _, b := range blocks {
		l.blocks[b.Link()] = b.Bytes()
	}
}

// block looks up what any peer ever had.
func (l *library) block(link seedlog.Link) ([]byte, bool) {
	data, ok := l.blocks[link]
	return data, ok
}

// find folds what it must to know an entry; nil if a block is missing.
func (l *library) find(link seedlog.Link) *known {
	if k := l.known[link]; k != nil {
		return k
	}
	e, err := seedlog.ReadEntry(l.blocks[link], l.block)
	if err != nil {
		return nil
	}
	parent := l.find(e.Parent)
	if parent == nil {
		return nil
	}
	claims := make([]*seedlog.Claim, len(e.Claims))
	for i, c := range e.Claims {
		if claims[i], err = seedlog.DecodeClaim(l.blocks[c]); err != nil {
			return nil
		}
	}
	k := &known{Parent: l.rules.After(parent.Parent, link, e, claims), state: l.rules.Apply(parent.state, e.Parent, claims)}
	k.weight = parent.weight + min(e.Steps, l.rules.Spec.Generation.WeightSteps)
	l.known[link] = k
	return k
}

// TrueResults evaluates counters of a key on an entry, as an honest peer would. That is what an attack costs.
func (a *Actor) TrueResults(parent seedlog.Link, key int, chunk uint64) []rollout.CandidateResult {
	k := a.swarm.library.find(parent)
	if k == nil {
		return nil
	}
	results := a.swarm.evaluate(a.swarm.rules.Task(k.state, parent, a.Peer(key), chunk), false)
	a.Evaluations += len(results) * a.swarm.rules.Signs()
	return results
}

// TrueClaims makes claims of a key on an entry: chunks 0 to n-1, all true.
func (a *Actor) TrueClaims(parent seedlog.Link, key, n int) []*seedlog.Claim {
	claims := make([]*seedlog.Claim, n)
	for i := range claims {
		claims[i] = a.swarm.rules.Claim(parent, a.Key(key), uint64(i), a.TrueResults(parent, key, uint64(i)))
	}
	return claims
}

// ForgedClaim makes a claim without any work: the lowest fitness that counts, and steps as said for every counter.
func (a *Actor) ForgedClaim(parent seedlog.Link, key int, chunk, steps uint64) *seedlog.Claim {
	n := int(a.swarm.rules.Spec.Generation.Chunk)
	results := make([]rollout.CandidateResult, n)
	for i := range results {
		results[i] = rollout.CandidateResult{Fitness: [2]int64{-1, -1}, Steps: steps}
	}
	return a.swarm.rules.Claim(parent, a.Key(key), chunk, results)
}

// Claim makes a claim of the results given.
func (a *Actor) Claim(parent seedlog.Link, key int, chunk uint64, results []rollout.CandidateResult) *seedlog.Claim {
	return a.swarm.rules.Claim(parent, a.Key(key), chunk, results)
}

// Vote makes a key's vote.
func (a *Actor) Vote(term uint64, candidate coordinator.Peer, key int) seedlog.Vote {
	return seedlog.NewVote(a.swarm.rules.Run, term, candidate, a.Key(key))
}

// Proof makes a fraud proof of a key against a claim, true or not.
func (a *Actor) Proof(claim *seedlog.Claim, counter uint64, fitness []int64, steps uint64, key int) *coordinator.FraudProof {
	data, link := claim.Encode()
	proof, _ := seedlog.NewProof(a.swarm.rules.Run, link, counter, fitness, steps, a.Key(key)).Encode()
	return &coordinator.FraudProof{Claim: data, Proof: proof}
}

// Generation makes an entry on a parent with its seal, in the name of a key. The digests are right whatever the claims
// say. Votes may be nil.
func (a *Actor) Generation(parent seedlog.Link, term uint64, leader int, claims []*seedlog.Claim, votes []seedlog.Vote) (coordinator.Generation, seedlog.Link) {
	k := a.swarm.library.find(parent)
	if k == nil {
		panic("sim: an entry on a parent that nobody made: " + parent.String())
	}
	claims = slices.Clone(claims)
	slices.SortFunc(claims, func(x, y *seedlog.Claim) int {
		if c := x.Peer.Compare(y.Peer); c != 0 {
			return c
		}
		return int(x.Chunk) - int(y.Chunk)
	})
	e, state := a.swarm.rules.NewEntry(k.state, k.Parent, term, a.Peer(leader), claims)
	return a.Seal(e, leader, claims, votes, state)
}

// Seal signs an entry as it is, right or wrong, and remembers it as a parent of others. state may be nil: then nothing
// can be built on it.
func (a *Actor) Seal(e *seedlog.Entry, leader int, claims []*seedlog.Claim, votes []seedlog.Vote, state *evolve.State) (coordinator.Generation, seedlog.Link) {
	var g coordinator.Generation
	var link seedlog.Link
	g.Entry, link = e.Encode()
	g.Seal, _ = seedlog.NewSeal(e, a.Key(leader), votes).Encode()
	l := &a.swarm.library
	for _, batch := range e.Blocks() {
		g.Claims = append(g.Claims, batch.Bytes())
		l.blocks[batch.Link()] = batch.Bytes()
	}
	for _, c := range claims {
		data, claimLink := c.Encode()
		g.Claims = append(g.Claims, data)
		l.blocks[claimLink] = data
	}
	l.blocks[link] = g.Entry
	if parent := l.find(e.Parent); parent != nil && state != nil {
		l.known[link] = &known{parent.Next(link, e), parent.weight + min(e.Steps, a.swarm.rules.Spec.Generation.WeightSteps), state}
	}
	return g, link
}

// Branch is a chain of an adversary's own on top of an entry that others know.
type Branch struct {
	actor       *Actor
	base        seedlog.Link
	Generations []coordinator.Generation
	Links       []seedlog.Link
}

// Branch begins a branch on base.
func (a *Actor) Branch(base seedlog.Link) *Branch { return &Branch{actor: a, base: base} }

// Head is the branch's newest entry.
func (b *Branch) Head() seedlog.Link {
	if len(b.Links) == 0 {
		return b.base
	}
	return b.Links[len(b.Links)-1]
}

// Height of the head.
func (b *Branch) Height() uint64 { return b.actor.swarm.library.find(b.Head()).Height }

// Term of the head.
func (b *Branch) Term() uint64 { return b.actor.swarm.library.find(b.Head()).Term }

// Weight that the chain up to the head claims to have.
func (b *Branch) Weight() uint64 { return b.actor.swarm.library.find(b.Head()).weight }

// Grow adds an entry of a key with claims on the head.
func (b *Branch) Grow(term uint64, leader int, claims []*seedlog.Claim, votes []seedlog.Vote) {
	g, link := b.actor.Generation(b.Head(), term, leader, claims, votes)
	b.Generations, b.Links = append(b.Generations, g), append(b.Links, link)
}

// Announce is the message that announces the head.
func (b *Branch) Announce() *coordinator.Announce {
	g := b.Generations[len(b.Generations)-1]
	return &coordinator.Announce{Entry: g.Entry, Seal: g.Seal}
}

// Answer answers a Pull as an honest peer on this branch would, with at most 64 generations.
func (b *Branch) Answer(m *coordinator.Pull) *coordinator.Segment {
	from := 0
	for _, link := range m.Locator {
		if i := slices.Index(b.Links, link); i >= 0 {
			from = i + 1
			break
		}
	}
	return &coordinator.Segment{Generations: b.Generations[from:min(from+64, len(b.Generations))], Height: b.Height()}
}
