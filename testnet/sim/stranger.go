package sim

import (
	"reflect"
	"slices"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Stranger sends any message that has the form of one, drawn from the seed, to anybody: drawn field by field from what
// it knows, heard from others and changed in one field, or made with care. It gets new keys all the time.
type Stranger struct {
	keys   int
	forges bool // whether it builds entries, too
	base   int  // number of the oldest key in use
	heard  []coordinator.Message
	branch *Branch
	actor  *Actor
	best   View
}

// NewStranger makes a stranger that uses so many keys at once, and builds chains of its own or not.
func NewStranger(keys int, forges bool) *Stranger { return &Stranger{keys: keys, forges: forges} }

// messages has one message of each type.
var messages = []coordinator.Message{
	new(coordinator.Status), new(coordinator.Inventory), new(coordinator.Want), new(coordinator.Claims), new(coordinator.Announce), new(coordinator.Pull),
	new(coordinator.Segment), new(coordinator.FraudProof), new(coordinator.VoteRequest), new(coordinator.VoteReply), new(coordinator.Handover), new(coordinator.Leave), new(coordinator.Vouch), new(coordinator.Equivocation), new(coordinator.Mandate), new(coordinator.DoubleVote), new(coordinator.Recheck), new(coordinator.Rechecked), new(coordinator.Ask), new(coordinator.Part), new(coordinator.Advance), new(coordinator.Seek), new(coordinator.Base), new(coordinator.Push),
}

// maxHeard is how many messages of others a stranger remembers.
const maxHeard = 64

// Act implements Adversary.
func (st *Stranger) Act(a *Actor) {
	st.actor, st.best = a, a.Best()
	if !st.best.Up {
		return
	}
	if a.Below(4) == 0 {
		st.base++
	}
	if a.CutOff(a.Relay) {
		a.Relay = st.base + st.keys - 1
	}
	for range 1 + a.Below(a.attack.Rate) {
		st.send(st.draw())
	}
}

// Receive implements Adversary: it remembers what it hears, and answers some questions.
func (st *Stranger) Receive(a *Actor, m Mail) {
	if st.actor == nil {
		return
	}
	if len(st.heard) < maxHeard {
		st.heard = append(st.heard, m.Message)
	} else {
		st.heard[a.Below(maxHeard)] = m.Message
	}
	if pull, ok := m.Message.(*coordinator.Pull); ok && st.branch != nil && a.Below(2) == 0 {
		if n := a.swarm.byPeer[m.From]; n != nil {
			a.Send(m.To, n.index, st.branch.Answer(pull))
		}
	}
}

func (st *Stranger) key() int { return st.base + st.actor.Below(st.keys) }

// send sends a message on one of its ways.
func (st *Stranger) send(m coordinator.Message) {
	a := st.actor
	if a.Below(2) == 0 {
		a.Gossip(st.key(), m)
		return
	}
	a.Send(st.key(), a.Below(len(a.swarm.nodes)), m)
}

// draw makes a message.
func (st *Stranger) draw() coordinator.Message {
	a := st.actor
	switch way := a.Below(4); {
	case way == 0 && len(st.heard) > 0:
		if m, err := coordinator.DecodeMessage(coordinator.EncodeMessage(st.heard[a.Below(len(st.heard))])); err == nil {
			st.change(reflect.ValueOf(m).Elem())
			return m
		}
	case way == 1:
		return st.make()
	}
	m := reflect.New(reflect.TypeOf(messages[a.Below(len(messages))]).Elem())
	st.fill(m.Elem(), 0)
	return m.Interface().(coordinator.Message)
}

// change draws one field of a message again.
func (st *Stranger) change(v reflect.Value) {
	if n := v.NumField(); n > 1 {
		st.fill(v.Field(1+st.actor.Below(n-1)), 0)
	}
}

// fill draws a value of any type that messages have.
func (st *Stranger) fill(v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case seedlog.Link:
		v.Set(reflect.ValueOf(st.link()))
		return
	case seedlog.Peer:
		v.Set(reflect.ValueOf(st.peer()))
		return
	case seedlog.Vote:
		v.Set(reflect.ValueOf(st.actor.Vote(st.number(), st.peer(), st.key())))
		return
	case []byte:
		v.SetBytes(st.bytes())
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(st.actor.Below(2) == 0)
	case reflect.Uint64:
		n := st.number()
		if _, ok := v.Interface().(coordinator.Kind); ok {
			n %= 2
		}
		v.SetUint(n)
	case reflect.Int64:
		v.SetInt(int64(st.number()))
	case reflect.Slice:
		n := st.actor.Below(4)
		if depth == 0 && st.actor.Below(8) == 0 {
			n = 1 << st.actor.Below(9)
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			st.fill(v.Index(i), depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			st.fill(v.Index(i), depth+1)
		}
	case reflect.Uint8:
		v.SetUint(uint64(st.actor.Below(256)))
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				st.fill(v.Field(i), depth+1)
			}
		}
	default:
		panic("sim: messages have a field of type " + v.Type().String())
	}
}

// number draws one of those that mean something here, or nearly, or the ends of the range.
func (st *Stranger) number() uint64 {
	a := st.actor
	base := [...]uint64{0, st.best.Term, st.best.Height, st.best.Weight, 1 << 20, 1 << 32, 1 << 63, ^uint64(0)}[a.Below(8)]
	return base + uint64(a.Below(5)) - 2
}

// link draws an entry, a claim, or what nobody knows.
func (st *Stranger) link() seedlog.Link {
	a := st.actor
	chain := a.swarm.nodes[st.best.Index].disk.chain
	switch kind := a.Below(6); {
	case kind == 0 || len(chain) == 0:
		return seedlog.LinkOf([]byte{byte(a.Below(256))})
	case kind == 1:
		return a.swarm.rules.Run
	case kind == 2:
		return st.best.Head
	case kind == 3:
		if e, err := seedlog.ReadEntry(st.block(chain), a.Block); err == nil {
			return e.Claims[a.Below(len(e.Claims))]
		}
	}
	return chain[a.Below(len(chain))]
}

// block draws an entry.
func (st *Stranger) block(chain []seedlog.Link) []byte {
	data, _ := st.actor.Block(chain[st.actor.Below(len(chain))])
	return data
}

func (st *Stranger) peer() coordinator.Peer {
	a := st.actor
	if a.Below(3) == 0 {
		return a.Peer(st.key())
	}
	return a.swarm.nodes[a.Below(len(a.swarm.nodes))].peer
}

// bytes draws a block, a signature, or noise.
func (st *Stranger) bytes() []byte {
	a := st.actor
	switch a.Below(4) {
	case 0:
		if data, ok := a.Block(st.link()); ok {
			return slices.Clone(data)
		}
	case 1:
		data, _ := st.claim().Encode()
		return data
	case 2:
		return []byte{}
	}
	data := make([]byte, 64)
	for i := range data {
		data[i] = byte(a.Below(256))
	}
	return data
}

// parent draws an entry to build on: often the head.
func (st *Stranger) parent() seedlog.Link {
	a := st.actor
	chain := a.swarm.nodes[st.best.Index].disk.chain
	if a.Below(2) == 0 || len(chain) == 0 {
		return st.best.Head
	}
	return chain[len(chain)-1-a.Below(min(len(chain), 60))]
}

// claim makes a claim with a valid signature, true or not.
func (st *Stranger) claim() *seedlog.Claim {
	a, parent := st.actor, st.parent()
	if a.Below(2) == 0 {
		if claims := a.TrueClaims(parent, st.key(), 1); claims != nil {
			return claims[0]
		}
	}
	return a.ForgedClaim(parent, st.key(), uint64(a.Below(3)), st.number())
}

// make builds a message whose blocks are signed as they should be.
func (st *Stranger) make() coordinator.Message {
	a := st.actor
	ways := 3
	if st.forges {
		ways = 5
	}
	switch a.Below(ways) {
	case 0:
		m := &coordinator.Claims{Blocks: [][]byte{}}
		for range 1 + a.Below(4) {
			data, _ := st.claim().Encode()
			m.Blocks = append(m.Blocks, data)
		}
		return m
	case 1: // a claim of its own that is false, and a proof of it, right or wrong
		claim := a.ForgedClaim(st.parent(), st.key(), 0, 9)
		results := a.TrueResults(claim.Parent, 0, 0)
		if a.Below(2) == 0 && results != nil {
			fitness := make([]int64, a.swarm.rules.Signs())
			for sign := range fitness {
				fitness[sign] = truth(a.swarm.rules.Seed(claim.Parent, claim.Peer, 0), sign)
			}
			steps := uint64(a.swarm.rules.Signs()) * trueSteps(a.swarm.rules.Seed(claim.Parent, claim.Peer, 0))
			return a.Proof(claim, 0, fitness, steps, st.key())
		}
		return a.Proof(claim, 0, make([]int64, a.swarm.rules.Signs()), st.number(), st.key())
	case 2: // a proof against a claim of the chain
		if e, err := seedlog.ReadEntry(first(a.Block(st.parent())), a.Block); err == nil {
			if claim, err := seedlog.DecodeClaim(first(a.Block(e.Claims[a.Below(len(e.Claims))]))); err == nil {
				return a.Proof(claim, a.Rules().First(claim), make([]int64, a.swarm.rules.Signs()), st.number(), st.key())
			}
		}
		return new(coordinator.Leave)
	default: // an entry of its own
		parent := st.parent()
		if st.branch != nil && a.Below(2) == 0 && len(st.branch.Links) < 20 {
			parent = st.branch.Head()
		}
		k := a.swarm.library.find(parent)
		if k == nil {
			return new(coordinator.Leave)
		}
		if st.branch == nil || parent != st.branch.Head() {
			st.branch = a.Branch(parent)
		}
		var claims []*seedlog.Claim
		for i := range 1 + a.Below(3) {
			if a.Below(2) == 0 {
				claims = append(claims, a.TrueClaims(parent, st.base+i, 2)...)
			} else {
				claims = append(claims, a.ForgedClaim(parent, st.base+i, 0, 500), a.ForgedClaim(parent, st.base+i, 1, 500))
			}
		}
		st.branch.Grow(k.Term+uint64(a.Below(2)), st.key(), claims, nil)
		return st.branch.Announce()
	}
}

func first(data []byte, _ bool) []byte { return data }
