package mesh

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"golang.org/x/time/rate"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/fair"
)

const (
	maxBook      = 256
	maxPerBlock  = 8 // hubs of one public block of addresses in the book, and that count as proven
	backoffFirst = time.Second
	backoffMax   = time.Minute
	maxFailures  = 8                // in a row, after which a hub that never answered and that the user did not name is forgotten
	lostAfter    = time.Hour        // since its last answer, after which a hub is dialed less often
	backoffLost  = 10 * time.Minute // then
	rememberFor  = 24 * time.Hour   // since its last answer, after which a hub is forgotten: the other side of a partition comes back
	keepEvery    = 500 * time.Millisecond
	refreshFirst = time.Second      // after entering a run: until its first hello to a hub, which may know new ones
	refreshEvery = 30 * time.Second // between two of those, after some time with hubs
	freshFor     = 10 * time.Minute // how long after its last answer a hub is recommended to others
	strangerFor  = time.Minute      // how long a peer may stay connected without a hello of this run
)

// Connections that are kept with hubs.
const (
	nativeHubs = 32
	tabHubs    = 3
)

// book remembers hubs, their addresses and how dialing them went. What others tell is held in fair shares of those who
// told it, and few per block of addresses: one stranger cannot fill it, nor make this peer dial one network only.
type book struct {
	mu   sync.Mutex
	hubs *fair.Table[peer.ID, teller, *hub]
}

// teller is by whom shares of the book are counted: the block of addresses that told of a hub; a hub that answered when
// this peer dialed it, or that the user named, counts for itself.
type teller struct {
	told block
	self peer.ID
}

type hub struct {
	addrs    []ma.Multiaddr
	pinned   bool // named by the user: never forgotten
	failures int  // in a row
	next     time.Time
	answered time.Time // when this peer dialed it
	dialing  bool
}

func newBook() *book { return &book{hubs: fair.NewTable[peer.ID, teller, *hub](maxBook)} }

// add merges addresses in, the newest first, as somebody in a block told them.
func (b *book) add(info peer.AddrInfo, told block, pinned bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(info.Addrs) == 0 {
		return
	}
	h, known := b.hubs.Get(info.ID)
	if !known {
		if !pinned && b.crowded(info.Addrs[0]) {
			return
		}
		h = &hub{}
		b.put(info.ID, teller{told: told}, h)
	}
	if pinned && !h.pinned {
		h.pinned = true
		b.put(info.ID, teller{self: info.ID}, h)
	}
	for _, a := range info.Addrs {
		if !slices.ContainsFunc(h.addrs, a.Equal) {
			h.addrs = slices.Insert(h.addrs, 0, a)
		}
	}
	if len(h.addrs) > maxAddrsPerHub {
		h.addrs = h.addrs[:maxAddrsPerHub]
	}
}

// put keeps those that the user named even where there are too many.
func (b *book) put(id peer.ID, by teller, h *hub) {
	for _, lost := range b.hubs.Put(id, by, 1, h) {
		if lost.Value.pinned && lost.Key != id {
			b.hubs.Put(lost.Key, lost.Source, 1, lost.Value)
		}
	}
}

// crowded reports whether the book has enough hubs in the block of an address. Single computers of private networks
// may have as many as they like: who is there is not a stranger.
func (b *book) crowded(a ma.Multiaddr) bool {
	at := blockOf(a)
	if at.IsSingleIP() || !at.IsValid() {
		return false
	}
	n := 0
	for _, h := range b.hubs.All() {
		if len(h.addrs) > 0 && blockOf(h.addrs[0]) == at {
			n++
		}
	}
	return n >= maxPerBlock
}

func (b *book) remove(id peer.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hubs.Delete(id)
}

// succeeded notes that this peer dialed a hub and it answered.
func (b *book) succeeded(id peer.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h, ok := b.hubs.Get(id); ok {
		if h.answered.IsZero() {
			b.put(id, teller{self: id}, h)
		}
		h.failures, h.answered, h.dialing = 0, time.Now(), false
	}
}

// failed sets the time of the next try, or forgets the hub.
func (b *book) failed(id peer.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h, ok := b.hubs.Get(id)
	if !ok {
		return
	}
	h.failures++
	h.dialing = false
	backoff := min(backoffFirst<<min(h.failures-1, 10), backoffMax)
	if h.failures >= maxFailures && !h.pinned {
		switch silent := time.Since(h.answered); {
		case silent > rememberFor:
			b.hubs.Delete(id)
		case silent > lostAfter:
			backoff = backoffLost
		}
	}
	h.next = time.Now().Add(backoff)
}

// take returns one hub to dial now, and marks it, or nil; dialing: a dial is under way already.
func (b *book) take(id peer.ID, rate *rate.Limiter) (info *peer.AddrInfo, dialing bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h, ok := b.hubs.Get(id)
	if !ok || h.dialing {
		return nil, ok
	}
	if time.Now().Before(h.next) || !rate.Allow() {
		return nil, false
	}
	h.dialing = true
	return &peer.AddrInfo{ID: id, Addrs: slices.Clone(h.addrs)}, true
}

// due returns up to n hubs to dial now, of those that skip does not exclude, and marks them. Those come first whose
// blocks have fewest of the hubs that are linked already: a network that has many does not get all connections.
func (b *book) due(n int, linked map[block]int, skip func(peer.ID) bool) []peer.AddrInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	type candidate struct {
		peer.AddrInfo
		hub *hub
		at  block
	}
	var found []candidate
	now := time.Now()
	for id, h := range b.hubs.All() {
		if !h.dialing && now.After(h.next) && !skip(id) {
			found = append(found, candidate{peer.AddrInfo{ID: id, Addrs: slices.Clone(h.addrs)}, h, blockOf(h.addrs[0])})
		}
	}
	rand.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] }) // spreads leaves over hubs
	count := maps.Clone(linked)
	if count == nil {
		count = make(map[block]int)
	}
	var list []peer.AddrInfo
	for len(list) < n && len(found) > 0 {
		best := 0
		for i, c := range found {
			if count[c.at] < count[found[best].at] {
				best = i
			}
		}
		c := found[best]
		found = slices.Delete(found, best, best+1)
		count[c.at]++
		c.hub.dialing = true
		list = append(list, c.AddrInfo)
	}
	return list
}

// good lists the hubs that answered recently.
func (b *book) good() []peer.AddrInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []peer.AddrInfo
	for id, h := range b.hubs.All() {
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
	var refreshAt time.Time
	refreshIn, had := refreshFirst, 0
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
		m.endVisits(m.dialHubs())
		m.prove()
		hubs := len(m.linkedHubs())
		if had > 0 && hubs == 0 {
			refreshAt, refreshIn = time.Now().Add(refreshFirst), refreshFirst
		}
		had = hubs
		if now := time.Now(); now.After(refreshAt) {
			if !refreshAt.IsZero() {
				m.refresh()
				m.explore()
			}
			refreshAt = now.Add(refreshIn)
			refreshIn = min(2*refreshIn, refreshEvery)
		}
		m.dropStrangers(strangers)
	}
}

// dialHubs dials hubs that are due, if this peer is linked to fewer than it wants; true: to more. Only hubs that it
// dialed count: those that dialed it chose it, and a stranger could take all places.
func (m *Mesh) dialHubs() (enough bool) {
	want := m.cfg.Hubs
	linked := make(map[block]int)
	for _, id := range m.linkedHubs() {
		linked[m.neighbors.block(id)]++
		want--
	}
	for _, info := range m.book.due(max(want, 0), linked, func(id peer.ID) bool { return m.isLinked(id) || id == m.host.ID() }) {
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
	return want < 0
}

// maxProofs is how many hubs are tried at a time.
const maxProofs = 2

// prove dials hubs that dialed this peer, at the addresses that they gave: until they answer there, their word is all
// that makes them hubs. The connection is closed at once, since there is one.
func (m *Mesh) prove() {
	claimed := make(map[peer.ID]bool)
	m.mu.Lock()
	for id, l := range m.links {
		if l.Hub && m.cfg.Kind != coordinator.Tab && !m.neighbors.proven(id) {
			claimed[id] = true
		}
	}
	m.mu.Unlock()
	inBlock := make(map[block]int)
	for _, id := range m.linkedHubs() {
		inBlock[m.neighbors.block(id)]++
	}
	for _, info := range m.book.due(maxProofs, inBlock, func(id peer.ID) bool { return !claimed[id] }) {
		if at := m.neighbors.block(info.ID); !at.IsSingleIP() && inBlock[at] >= maxPerBlock {
			m.book.failed(info.ID)
			continue
		}
		m.spawn(func() {
			if err := m.answersThere(info); err != nil {
				m.log.Debug("a hub does not answer where it says", "peer", info.ID, "err", err)
				m.book.failed(info.ID)
				return
			}
			m.neighbors.prove(info.ID)
			m.book.succeeded(info.ID)
			if m.isLinked(info.ID) {
				m.host.ConnManager().Protect(info.ID, "hub")
			}
		})
	}
}

// answersThere makes a connection of its own to a peer, and closes it.
func (m *Mesh) answersThere(info peer.AddrInfo) error {
	network, ok := m.host.Network().(*swarm.Swarm)
	if !ok {
		return errors.ErrUnsupported
	}
	ctx, cancel := context.WithTimeout(m.ctx, dialTimeout)
	defer cancel()
	err := fmt.Errorf("%w: no address of %s can be dialed", ErrUnreachable, info.ID)
	for _, a := range info.Addrs {
		transport := network.TransportForDialing(a)
		if transport == nil {
			continue
		}
		conn, dialErr := transport.Dial(ctx, a, info.ID)
		if dialErr == nil {
			return conn.Close()
		}
		err = dialErr
	}
	return err
}

func (m *Mesh) isLinked(id peer.ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.links[id]
	return ok
}

// linkedHubs lists the proven hubs that this peer is linked to, in no order.
func (m *Mesh) linkedHubs() []peer.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	var hubs []peer.ID
	for id, l := range m.links {
		if l.Hub && m.neighbors.proven(id) {
			hubs = append(hubs, id)
		}
	}
	return hubs
}

// refresh exchanges hello again with a linked hub and a linked leaf, which may know new hubs: a leaf may be all that
// joins two hubs.
func (m *Mesh) refresh() {
	var hub, leaf peer.ID
	m.mu.Lock()
	for id, l := range m.links { // any of them: they come in no order
		switch {
		case !l.Hub:
			leaf = id
		case m.neighbors.proven(id):
			hub = id
		}
	}
	m.mu.Unlock()
	for _, id := range []peer.ID{hub, leaf} {
		if id == "" {
			continue
		}
		m.spawn(func() {
			ctx, cancel := context.WithTimeout(m.ctx, helloTimeout)
			defer cancel()
			if _, err := m.sayHello(ctx, id); err != nil {
				m.log.Debug("hello failed", "peer", id, "err", err)
			}
		})
	}
}

// explore visits a hub that this one is not linked to: parts of a swarm that were cut off from each other meet again,
// though each has as many connections as it wants.
func (m *Mesh) explore() {
	if !m.cfg.Hub {
		return
	}
	linked := make(map[block]int)
	for _, id := range m.linkedHubs() {
		linked[m.neighbors.block(id)]++
	}
	for _, info := range m.book.due(1, linked, func(id peer.ID) bool { return m.isLinked(id) || id == m.host.ID() }) {
		m.spawn(func() { m.call(info) })
	}
}

// dropStrangers closes connections to peers that are not in this run.
func (m *Mesh) dropStrangers(since map[peer.ID]time.Time) {
	connected := make(map[peer.ID]bool)
	for _, id := range m.host.Network().Peers() {
		connected[id] = true
		if m.isOlder(id) {
			m.log.Warn("a node of an earlier version of evoswarm was turned away; its owner must update it", "peer", id, "protocol", version)
			m.spawn(func() { _ = m.host.Network().ClosePeer(id) })
			continue
		}
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
