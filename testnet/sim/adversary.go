package sim

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Adversary keeps no rule of the protocol. It has any number of keys and may send whatever has the form of a message,
// to anybody, as fast as its address lets it. It knows all that can be known: every block that was ever made, and every
// peer's head. Each adversary is a file of its own; state is its own, chance comes from [Actor.Below] alone.
type Adversary interface {
	// Act is called once in every tick in which the adversary is active.
	Act(a *Actor)
	// Receive is told of each message that reaches one of the adversary's own keys, also while it is not active.
	Receive(a *Actor, m Mail)
}

// Insider is an adversary that owns peers: they have a key with a record, and its driver in place of the true one.
// Between its calls such a peer runs the real coordinator.
type Insider interface {
	Adversary
	// Event may change what happens to an owned peer, or drop it by returning false.
	Event(a *Actor, n int, e coordinator.Event) (coordinator.Event, bool)
	// Send may change, drop or add to what an owned peer sends.
	Send(a *Actor, n int, out []coordinator.Envelope) []coordinator.Envelope
	// Evaluate may change the results of an owned peer; nil: it never answers.
	Evaluate(a *Actor, n int, w coordinator.Work, results []rollout.CandidateResult) []rollout.CandidateResult
}

// Attack puts an adversary into a scenario.
type Attack struct {
	New   func() Adversary // makes one; a run with the same options makes the same one
	Rate  int              // messages that leave in a tick, to each receiver one; 0: 100
	Owns  int              // honest natives that it takes, from the last one down; it must be an Insider then
	From  coordinator.Tick // when it begins
	Until coordinator.Tick // when it ends; 0: never
}

// Mail is a message that reached one of an adversary's keys.
type Mail struct {
	To      int // number of the key
	From    coordinator.Peer
	Message coordinator.Message
}

// View is what an adversary sees of a peer.
type View struct {
	Index int
	Peer  coordinator.Peer
	Kind  coordinator.Kind
	Up    bool // has power
	Owned bool // by this adversary
	coordinator.Snapshot
}

// Actor is an adversary in a swarm: its keys, its connections, and what it can make. Peers are named by their index in
// [Actor.Views], keys by a number from 0 up; key -1-n is that of the owned peer n.
type Actor struct {
	swarm     *Swarm
	adversary Adversary
	attack    Attack
	index     int
	rng       noise.Stream
	keys      []ed25519.PrivateKey
	numbers   map[coordinator.Peer]int
	links     map[link]bool
	Relay     int // number of the key at whose neighbors its gossip enters the mesh

	choosy bool // whether it says itself whom key 0 dials
	left   int  // messages that may leave in this tick

	Sent        int // messages that left
	Malformed   int // messages without the form of one: they are not sent
	Refused     int // messages that its address had no room for
	Evaluations int // true results that it computed: what the attack costs
}

// link is a connection of one of an actor's keys to a peer.
type link struct{ key, node int }

// defaultRate is how many messages one address gets through in a tick of 50 ms.
const defaultRate = 100

func (s *Swarm) newActor(i int, attack Attack) *Actor {
	a := &Actor{swarm: s, adversary: attack.New(), attack: attack, index: i,
		numbers: make(map[coordinator.Peer]int), links: make(map[link]bool), rng: noise.NewStream(s.opts.Seed, drawAttack+uint32(i))}
	if a.attack.Rate == 0 {
		a.attack.Rate = defaultRate
	}
	return a
}

// act gives every active adversary its turn.
func (s *Swarm) act() {
	for _, a := range s.actors {
		if s.now >= a.attack.From && (a.attack.Until == 0 || s.now < a.attack.Until) {
			a.left = a.attack.Rate
			a.adversary.Act(a)
		}
	}
}

// Now is the present tick.
func (a *Actor) Now() coordinator.Tick { return a.swarm.now }

// Rules are those of the run.
func (a *Actor) Rules() *seedlog.Rules { return a.swarm.rules }

// Below draws a number below n from the actor's own stream.
func (a *Actor) Below(n int) int { return int(a.rng.Uint64() % uint64(n)) }

// Key returns a private key, made when it is asked for first.
func (a *Actor) Key(i int) ed25519.PrivateKey {
	if i < 0 {
		n := a.swarm.nodes[-1-i]
		if n.owner != a {
			panic(fmt.Sprintf("sim: node %d is not owned", n.index))
		}
		return n.key
	}
	for len(a.keys) <= i {
		seed := sha256.Sum256(fmt.Appendf(nil, "evoswarm/sim/adversary %d %d %d", a.swarm.opts.Seed, a.index, len(a.keys)))
		key := ed25519.NewKeyFromSeed(seed[:])
		a.numbers[seedlog.PeerOf(key)] = len(a.keys)
		a.keys = append(a.keys, key)
	}
	return a.keys[i]
}

// Peer is the public half of [Actor.Key].
func (a *Actor) Peer(i int) coordinator.Peer { return seedlog.PeerOf(a.Key(i)) }

// Views lists all peers but the adversaries' own keys.
func (a *Actor) Views() []View {
	views := make([]View, len(a.swarm.nodes))
	for i := range views {
		views[i] = a.View(i)
	}
	return views
}

// View shows one peer; without power only its key.
func (a *Actor) View(i int) View {
	n := a.swarm.nodes[i]
	v := View{Index: i, Peer: n.peer, Kind: n.kind, Up: n.coord != nil, Owned: n.owner == a}
	if v.Up {
		v.Snapshot = n.coord.Snapshot()
	}
	return v
}

// Best is the peer with the heaviest head among those that no adversary owns.
func (a *Actor) Best() View {
	var best View
	for _, n := range a.swarm.nodes {
		if n.owner != nil || n.coord == nil {
			continue
		}
		if v := a.View(n.index); !best.Up || v.Weight > best.Weight {
			best = v
		}
	}
	return best
}

// Leader is the peer that leads the latest term, if any does.
func (a *Actor) Leader() (View, bool) {
	var found View
	for _, n := range a.swarm.nodes {
		if n.coord == nil {
			continue
		}
		if v := a.View(n.index); v.Role == coordinator.Leader && (!found.Up || v.Term > found.Term) {
			found = v
		}
	}
	return found, found.Up
}

// Block returns a block that anybody ever made.
func (a *Actor) Block(link seedlog.Link) ([]byte, bool) {
	data, ok := a.swarm.library.blocks[link]
	return data, ok
}

// Send sends a message directly from a key to a peer. The key dials the peer if it has no connection to it yet.
func (a *Actor) Send(key int, to int, m coordinator.Message) {
	if !a.spend() {
		return
	}
	a.dial(key, to)
	n, p := a.swarm.nodes[to], a.pack(key, m)
	if p == nil {
		return
	}
	p.via = p.from
	if n.coord != nil && a.links[link{key, to}] {
		a.swarm.arrive(n, p, a.swarm.hop(nil, n))
	}
}

// Gossip publishes a message by a key. It enters the mesh at the peers that key Relay is connected with: all hubs,
// unless the adversary dialed some by itself.
func (a *Actor) Gossip(key int, m coordinator.Message) {
	if !a.spend() {
		return
	}
	for _, n := range a.swarm.nodes {
		if n.hub() && !a.choosy {
			a.dial(a.Relay, n.index)
		}
	}
	if p := a.pack(key, m); p != nil && p.size <= coordinator.MaxGossipBytes {
		p.via = a.Peer(a.Relay)
		a.swarm.flood(nil, a, p)
	}
}

// pack makes a message ready to travel; nil: it has not the form of one, and its first receiver drops it.
func (a *Actor) pack(key int, m coordinator.Message) *parcel {
	p, err := a.swarm.pack(-1-a.index, m)
	if err != nil {
		a.Malformed++
		return nil
	}
	p.from = a.Peer(key)
	return p
}

// lost forgets the connections to a peer without power.
func (a *Actor) lost(n *node) {
	for l := range a.links { //lint:sorted each one on its own
		if l.node == n.index {
			delete(a.links, l)
		}
	}
}

// Dial connects a key with a peer, unless that cut it off or has no power.
func (a *Actor) Dial(key, to int) {
	a.choosy = a.choosy || key == a.Relay
	a.dial(key, to)
}

func (a *Actor) dial(key, to int) {
	n := a.swarm.nodes[to]
	if l := (link{key, to}); !a.links[l] && n.coord != nil && !n.banned[a.Peer(key)] {
		a.links[l] = true
		a.swarm.step(n, coordinator.Linked{Peer: a.Peer(key)})
	}
}

// CutOff reports whether every peer with power has cut off a key.
func (a *Actor) CutOff(key int) bool {
	for _, n := range a.swarm.nodes {
		if n.coord != nil && !n.banned[a.Peer(key)] {
			return false
		}
	}
	return true
}

// spend takes one message from the budget of the actor's address.
func (a *Actor) spend() bool {
	if a.left <= 0 {
		a.Refused++
		return false
	}
	a.left--
	a.Sent++
	return true
}

// receive hands over what reached a key.
func (a *Actor) receive(from, to coordinator.Peer, m coordinator.Message) {
	a.adversary.Receive(a, Mail{To: a.numbers[to], From: from, Message: m})
}
