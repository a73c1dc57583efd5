package mesh

import (
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/evoswarm/evoswarm/internal/fair"
)

// Whether others can dial this peer is for them to say: each hub that it dialed is asked to dial back. One answer of
// each block of addresses counts, and most of them decide, so that one hub that lies decides nothing where there are
// others.

const (
	maxJudges  = 32               // blocks whose answers are remembered
	judgeAgain = 10 * time.Minute // after which a block is asked again
	judgedFor  = time.Hour        // for which an answer counts
)

// scope is a network in which a peer can be dialed or not: in its own it can where it cannot from the internet.
type scope bool

const (
	private scope = false
	public  scope = true
)

func scopeOf(a ma.Multiaddr) scope { return scope(manet.IsPublicAddr(a)) }

// standing remembers what hubs said when they were asked to dial back.
type standing struct {
	mu     sync.Mutex
	judges *fair.Table[block, scope, judgement]
	asking map[block]bool
	backs  map[peer.ID]time.Time // until when a peer that was asked may dial back
}

type judgement struct {
	at       time.Time
	reached  bool
	untested bool // it counts for nothing, and is asked again as others are
}

func newStanding() *standing {
	return &standing{judges: fair.NewTable[block, scope, judgement](maxJudges), asking: make(map[block]bool), backs: make(map[peer.ID]time.Time)}
}

// lateBack is how long after its answer the connection may come by which a hub found that it can dial this peer.
const lateBack = time.Second

// ask reports whether a hub is to be asked. heard or unheard has to follow.
func (s *standing) ask(id peer.ID, at block, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, known := s.judges.Get(at)
	if s.asking[at] || known && now.Sub(j.at) < judgeAgain {
		return false
	}
	s.asking[at] = true
	s.backs[id] = now.Add(helloTimeout)
	return true
}

// dialsBack reports whether a peer may dial this one because it was asked to.
func (s *standing) dialsBack(id peer.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	until, asked := s.backs[id]
	if asked && time.Now().After(until) {
		delete(s.backs, id)
		return false
	}
	return asked
}

// unheard notes that a hub that was asked did not answer.
func (s *standing) unheard(id peer.ID, at block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.asking, at)
	delete(s.backs, id)
}

// answered notes that a hub has dialed this peer, or not.
func (s *standing) answered(id peer.ID, at block, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.asking, at)
	s.backs[id] = now.Add(lateBack)
	for other, until := range s.backs {
		if now.After(until) {
			delete(s.backs, other)
		}
	}
}

// heard notes an answer, and reports whether it changes what most say.
func (s *standing) heard(at block, in scope, reached bool, now time.Time) bool {
	before := s.behind(in, now)
	s.mu.Lock()
	s.judges.Put(at, in, 1, judgement{at: now, reached: reached})
	s.mu.Unlock()
	return s.behind(in, now) != before
}

// untested notes that a hub that was asked could not know.
func (s *standing) untested(at block, in scope, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.judges.Put(at, in, 1, judgement{at: now, untested: true})
}

// behind reports whether most hubs of a scope cannot dial this peer.
func (s *standing) behind(in scope, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	vain := 0
	for at := range s.judges.Of(in) {
		switch j, _ := s.judges.Get(at); {
		case now.Sub(j.at) > judgedFor:
			s.judges.Delete(at)
		case j.untested:
		case j.reached:
			vain--
		default:
			vain++
		}
	}
	return vain > 0
}

// isBehind reports whether others cannot dial this peer, though it listens, in the network of an address.
func (m *Mesh) isBehind(in scope) bool {
	return len(m.cfg.Listen) > 0 && m.standing.behind(in, time.Now())
}

// behindNAT reports whether there are others that cannot dial this peer, though it listens.
func (m *Mesh) behindNAT() bool { return m.isBehind(public) || m.isBehind(private) }

// isHub reports whether this peer is a hub for the other side of a connection.
func (m *Mesh) isHub(c network.Conn) bool {
	return m.cfg.Hub && !m.isBehind(scopeOf(c.RemoteMultiaddr()))
}

// asksBack reports whether the other side of a connection is asked to dial this peer. Who dialed this one can.
func (m *Mesh) asksBack(c network.Conn) bool {
	return len(m.cfg.Listen) > 0 && c.Stat().Direction == network.DirOutbound && !isCircuit(c.RemoteMultiaddr()) &&
		m.standing.ask(c.RemotePeer(), blockOf(c.RemoteMultiaddr()), time.Now())
}

// judged takes the answer of a hub that was asked to dial this peer. If it changes what most say, all neighbors are
// told.
func (m *Mesh) judged(c network.Conn, reached bool) {
	in, at := scopeOf(c.RemoteMultiaddr()), blockOf(c.RemoteMultiaddr())
	m.standing.answered(c.RemotePeer(), at, time.Now())
	if !reached && !m.announcer.couldTest(c.RemotePeer(), in) {
		m.log.Info("a hub cannot dial this node at the IP that it sees; the addresses that are announced are taken to work", "asked", c.RemotePeer())
		m.standing.untested(at, in, time.Now())
		return
	}
	if !m.standing.heard(at, in, reached, time.Now()) {
		return
	}
	if m.isBehind(in) {
		m.log.Warn("nobody can dial this node: it looks for relays. Open its port, or map it on the router, to make it a hub", "asked", c.RemotePeer())
	} else {
		m.log.Info("others can dial this node: it is a hub")
	}
	m.greetAgain()
}

// greetAgain says hello to all neighbors again: what this peer says of itself has changed.
func (m *Mesh) greetAgain() {
	for _, l := range m.Links() {
		id, err := IDOf(l.Peer)
		if err != nil || l.Tab {
			continue
		}
		m.spawn(func() { m.helloAgain(id) })
	}
}

// known reports whether a hub has said whether it can dial this peer.
func (s *standing) known() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.judges.Len() > 0
}
