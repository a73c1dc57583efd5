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
)

const (
	banTime    = time.Hour
	maxStrikes = 3
	maxBanned  = 1 << 14 // peers remembered; keys are free, so memory must not grow with them
)

// bans remembers banned peers, and offences of others. It is the host's connection gater and gossipsub's blacklist.
type bans struct {
	mu      sync.Mutex
	until   map[peer.ID]time.Time
	strikes map[peer.ID]strikes
	now     func() time.Time
}

type strikes struct {
	n     int
	first time.Time
}

var (
	_ connmgr.ConnectionGater = (*bans)(nil)
	_ pubsub.Blacklist        = (*bans)(nil)
)

func newBans() *bans {
	return &bans{until: make(map[peer.ID]time.Time), strikes: make(map[peer.ID]strikes), now: time.Now}
}

func (b *bans) ban(id peer.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.until) >= maxBanned {
		for old := range b.until { // any one makes room
			delete(b.until, old)
			break
		}
	}
	b.until[id] = b.now().Add(banTime)
}

func (b *bans) banned(id peer.ID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	until, ok := b.until[id]
	if ok && b.now().After(until) {
		delete(b.until, id)
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

// strike counts one offence and reports whether it was one too many.
func (b *bans) strike(id peer.ID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ok := b.strikes[id]
	if !ok || b.now().Sub(s.first) > banTime {
		if len(b.strikes) >= maxBanned {
			for old := range b.strikes {
				delete(b.strikes, old)
				break
			}
		}
		s = strikes{first: b.now()}
	}
	s.n++
	if s.n >= maxStrikes {
		delete(b.strikes, id)
		return true
	}
	b.strikes[id] = s
	return false
}

// InterceptPeerDial refuses to dial banned peers.
func (b *bans) InterceptPeerDial(id peer.ID) bool { return !b.banned(id) }

// InterceptAddrDial allows every address.
func (b *bans) InterceptAddrDial(peer.ID, ma.Multiaddr) bool { return true }

// InterceptAccept allows every connection until its peer is known.
func (b *bans) InterceptAccept(network.ConnMultiaddrs) bool { return true }

// InterceptSecured refuses banned peers.
func (b *bans) InterceptSecured(_ network.Direction, id peer.ID, _ network.ConnMultiaddrs) bool {
	return !b.banned(id)
}

// InterceptUpgraded allows what InterceptSecured did.
func (b *bans) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }
