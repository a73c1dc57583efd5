package mesh

import (
	"sync"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/evoswarm/evoswarm/internal/fair"
)

const (
	banTime    = time.Hour
	maxStrikes = 3
	maxBanned  = 1 << 14 // peers remembered; keys are free, so memory must not grow with them
)

// bans remembers banned peers, and offenses of others, in fair shares of the blocks of addresses that they come from:
// a stranger that has many keys banned displaces its own. It is the host's connection gater and gossipsub's blacklist.
type bans struct {
	mu      sync.Mutex
	until   *fair.Table[peer.ID, block, time.Time]
	strikes *fair.Table[peer.ID, block, strikes]
	now     func() time.Time
	where   func(peer.ID) block
	backs   func(peer.ID) bool // whether a peer was asked to dial this one back; nil: nobody is
}

type strikes struct {
	n     int
	first time.Time
}

var (
	_ connmgr.ConnectionGater = (*bans)(nil)
	_ pubsub.Blacklist        = (*bans)(nil)
)

// newBans makes an empty list; where tells the block of a neighbor.
func newBans(where func(peer.ID) block) *bans {
	return &bans{until: fair.NewTable[peer.ID, block, time.Time](maxBanned),
		strikes: fair.NewTable[peer.ID, block, strikes](maxBanned), now: time.Now, where: where}
}

func (b *bans) ban(id peer.ID) {
	at := b.where(id)
	b.mu.Lock()
	defer b.mu.Unlock()
	if old, ok := b.until.Source(id); ok && at == (block{}) {
		at = old
	}
	b.until.Put(id, at, 1, b.now().Add(banTime))
}

func (b *bans) banned(id peer.ID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	until, ok := b.until.Get(id)
	if ok && b.now().After(until) {
		b.until.Delete(id)
		return false
	}
	return ok
}

// Add bans a peer.
func (b *bans) Add(id peer.ID) bool {
	b.ban(id)
	return true
}

// Contains reports whether a peer is banned.
func (b *bans) Contains(id peer.ID) bool { return b.banned(id) }

// strike counts one offense and reports whether it was one too many.
func (b *bans) strike(id peer.ID) bool {
	at := b.where(id)
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ok := b.strikes.Get(id)
	if !ok || b.now().Sub(s.first) > banTime {
		s = strikes{first: b.now()}
	}
	s.n++
	if s.n >= maxStrikes {
		b.strikes.Delete(id)
		return true
	}
	b.strikes.Put(id, at, 1, s)
	return false
}

// InterceptPeerDial refuses to dial banned peers.
func (b *bans) InterceptPeerDial(id peer.ID) bool { return !b.banned(id) }

// InterceptAddrDial allows every address.
func (b *bans) InterceptAddrDial(peer.ID, ma.Multiaddr) bool { return true }

// InterceptAccept allows every connection until its peer is known.
func (b *bans) InterceptAccept(network.ConnMultiaddrs) bool { return true }

// InterceptSecured refuses banned peers, and the connection by which a peer that was asked finds out that it can dial
// this one: it has seen enough, and closes it, so no stream may begin there.
func (b *bans) InterceptSecured(dir network.Direction, id peer.ID, _ network.ConnMultiaddrs) bool {
	return !b.banned(id) && !(dir == network.DirInbound && b.backs != nil && b.backs(id))
}

// InterceptUpgraded allows what InterceptSecured did.
func (b *bans) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }
