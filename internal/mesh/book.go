package mesh

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/evoswarm/evoswarm/coordinator"
)

const (
	maxBook      = 256
	backoffFirst = time.Second
	backoffMax   = time.Minute
	maxFailures  = 8 // in a row, after which a hub that the user did not name is forgotten
	keepEvery    = 500 * time.Millisecond
	refreshEvery = 30 * time.Second // between two hellos to a hub, which may know new ones
	freshFor     = 10 * time.Minute // how long after its last answer a hub is recommended to others
	strangerFor  = time.Minute      // how long a peer may stay connected without a hello of this run
)

// Connections that are kept with hubs.
const (
	nativeHubs = 32
	tabHubs    = 3
)

// book remembers hubs, their addresses and how dialing them went.
type book struct {
	mu   sync.Mutex
	hubs map[peer.ID]*hub
}

type hub struct {
	addrs    []ma.Multiaddr
	pinned   bool // named by the user: never forgotten
	failures int  // in a row
	next     time.Time
	answered time.Time
	dialing  bool
}

func newBook() *book { return &book{hubs: make(map[peer.ID]*hub)} }

// add merges addresses in, the newest first.
func (b *book) add(info peer.AddrInfo, pinned bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.hubs[info.ID]
	if h == nil {
		if len(b.hubs) >= maxBook && !b.evict() {
			return
		}
		h = &hub{}
		b.hubs[info.ID] = h
	}
	h.pinned = h.pinned || pinned
	for _, a := range info.Addrs {
		if !slices.ContainsFunc(h.addrs, a.Equal) {
			h.addrs = slices.Insert(h.addrs, 0, a)
		}
	}
	if len(h.addrs) > maxAddrsPerHub {
		h.addrs = h.addrs[:maxAddrsPerHub]
	}
}

// evict makes room by forgetting the hub that failed most often; false: none failed.
func (b *book) evict() bool {
	var worst peer.ID
	failures := 0
	for id, h := range b.hubs {
		if !h.pinned && h.failures > failures {
			worst, failures = id, h.failures
		}
	}
	delete(b.hubs, worst)
	return worst != ""
}

func (b *book) remove(id peer.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.hubs, id)
}

func (b *book) succeeded(id peer.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.hubs[id]; h != nil {
		h.failures, h.answered, h.dialing = 0, time.Now(), false
	}
}

// failed sets the time of the next try, or forgets the hub.
func (b *book) failed(id peer.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.hubs[id]
	if h == nil {
		return
	}
	h.failures++
	h.dialing = false
	h.next = time.Now().Add(min(backoffFirst<<min(h.failures-1, 10), backoffMax))
	if h.failures >= maxFailures && !h.pinned {
		delete(b.hubs, id)
	}
}

// due returns up to n hubs to dial now, of those that skip does not exclude, and marks them.
func (b *book) due(n int, skip func(peer.ID) bool) []peer.AddrInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []peer.AddrInfo
	now := time.Now()
	for id, h := range b.hubs { // in any order: that spreads leaves over hubs
		if len(list) < n && !h.dialing && now.After(h.next) && !skip(id) {
			h.dialing = true
			list = append(list, peer.AddrInfo{ID: id, Addrs: slices.Clone(h.addrs)})
		}
	}
	return list
}

// good lists the hubs that answered recently.
func (b *book) good() []peer.AddrInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []peer.AddrInfo
	for id, h := range b.hubs {
		if !h.answered.IsZero() && time.Since(h.answered) < freshFor {
			list = append(list, peer.AddrInfo{ID: id, Addrs: slices.Clone(h.addrs)})
		}
	}
	return list
}

// Hubs lists full addresses of the hubs that answered recently: worth saving for the next start.
func (m *Mesh) Hubs() []string {
	var list []string
	for _, info := range m.book.good() {
		list = append(list, full(info.ID, info.Addrs, nil)...)
	}
	slices.Sort(list)
	return list
}

// keep holds the connections to hubs until Close.
func (m *Mesh) keep() {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	refreshed := time.Now()
	strangers := make(map[peer.ID]time.Time)
	for {
		select {
		case <-m.ctx.Done():
			return
		case <-tick.C:
		}
		m.mu.Lock()
		entered := m.pubsub != nil
		m.mu.Unlock()
		if !entered {
			continue
		}
		m.dialHubs()
		if time.Since(refreshed) >= refreshEvery {
			refreshed = time.Now()
			m.refresh()
		}
		m.dropStrangers(strangers)
	}
}

// dialHubs dials hubs that are due, if this peer is linked to fewer than it wants.
func (m *Mesh) dialHubs() {
	want := nativeHubs
	if m.cfg.Kind == coordinator.Tab {
		want = tabHubs
	}
	want -= len(m.linkedHubs())
	for _, info := range m.book.due(max(want, 0), func(id peer.ID) bool { return m.isLinked(id) || id == m.host.ID() }) {
		m.spawn(func() {
			ctx, cancel := context.WithTimeout(m.ctx, dialTimeout)
			defer cancel()
			hello, err := m.meet(ctx, info)
			if err == nil && m.isLinked(info.ID) {
				m.book.succeeded(info.ID)
				return
			}
			m.log.Debug("hub not reached", "peer", info.ID, "run", hello.Run, "err", err)
			m.book.failed(info.ID)
		})
	}
}

func (m *Mesh) isLinked(id peer.ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.links[id]
	return ok
}

// linkedHubs lists the hubs that this peer is linked to, in no order.
func (m *Mesh) linkedHubs() []peer.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	var hubs []peer.ID
	for id, l := range m.links {
		if l.Hub {
			hubs = append(hubs, id)
		}
	}
	return hubs
}

// refresh exchanges hello again with one linked hub, which may know new ones.
func (m *Mesh) refresh() {
	hubs := m.linkedHubs()
	if len(hubs) == 0 {
		return
	}
	id := hubs[0] // any one: they come in no order
	m.spawn(func() {
		ctx, cancel := context.WithTimeout(m.ctx, helloTimeout)
		defer cancel()
		if _, err := m.sayHello(ctx, id); err != nil {
			m.log.Debug("hello failed", "peer", id, "err", err)
		}
	})
}

// dropStrangers closes connections to peers that are not in this run.
func (m *Mesh) dropStrangers(since map[peer.ID]time.Time) {
	connected := make(map[peer.ID]bool)
	for _, id := range m.host.Network().Peers() {
		connected[id] = true
		if m.isLinked(id) || m.host.Network().Connectedness(id) != network.Connected {
			delete(since, id)
			continue
		}
		if _, ok := since[id]; !ok {
			since[id] = time.Now()
		}
		if time.Since(since[id]) > strangerFor {
			m.spawn(func() { _ = m.host.Network().ClosePeer(id) })
		}
	}
	for id := range since {
		if !connected[id] {
			delete(since, id)
		}
	}
}

// useful reports whether an address that the peer at from gave may lead to a peer from here.
func useful(addr, from ma.Multiaddr) bool {
	return dialable(addr) && (!manet.IsIPLoopback(addr) || manet.IsIPLoopback(from))
}

// forgetBackoff lets a peer be dialed again at once: the book has a backoff of its own.
func forgetBackoff(h host.Host, id peer.ID) {
	if s, ok := h.Network().(*swarm.Swarm); ok {
		s.Backoff().Clear(id)
	}
}
