package mesh

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	"golang.org/x/time/rate"

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
	freshFor     = 10 * time.Minute // how long after its last answer a hub is recommended to others
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
	for _, a := range slices.Backward(info.Addrs) {
		if !slices.ContainsFunc(h.addrs, a.Equal) {
			h.addrs = slices.Insert(h.addrs, 0, a)
		}
	}
	if len(h.addrs) > maxAddrsPerHub {
		h.addrs = h.addrs[:maxAddrsPerHub]
	}
}

// renew forgets the addresses of a hub whose certificates it says it has renewed. Only its own word counts: others
// could make it unreachable with wrong ones.
func (b *book) renew(info peer.AddrInfo) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h, known := b.hubs.Get(info.ID)
	if !known {
		return
	}
	left := slices.DeleteFunc(slices.Clone(h.addrs), func(old ma.Multiaddr) bool {
		return slices.ContainsFunc(info.Addrs, func(a ma.Multiaddr) bool { return renews(a, old) })
	})
	if len(left) > 0 {
		h.addrs = left
	}
}

// misplaced forgets an address of a hub at which it works on another run, if it has others.
func (b *book) misplaced(id peer.ID, at ma.Multiaddr) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h, known := b.hubs.Get(id)
	if !known {
		return
	}
	if left := slices.DeleteFunc(slices.Clone(h.addrs), at.Equal); len(left) > 0 {
		h.addrs = left
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

// sheltered replaces what is known of where a peer is that says it is no hub: relays that lead to it, if any.
func (b *book) sheltered(id peer.ID, circuits []ma.Multiaddr, told block) {
	b.mu.Lock()
	h, known := b.hubs.Get(id)
	if known && !h.pinned {
		h.addrs = nil
		if len(circuits) == 0 {
			b.hubs.Delete(id)
		}
	}
	b.mu.Unlock()
	b.add(peer.AddrInfo{ID: id, Addrs: circuits}, told, false)
}

// behindRelays lists the peers that only relays lead to, of those that want accepts.
func (b *book) behindRelays(want func(peer.ID) bool) []peer.AddrInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []peer.AddrInfo
	for id, h := range b.hubs.All() {
		if onlyCircuits(h.addrs) && want(id) {
			list = append(list, peer.AddrInfo{ID: id, Addrs: slices.Clone(h.addrs)})
		}
	}
	return list
}

// due returns up to n hubs to dial now, of those that skip does not exclude, and marks them. Those come first whose
// blocks have fewest of the hubs that are linked already: a network that has many does not get all connections.
func (b *book) due(n int, linked map[block]int, skip func(peer.ID) bool) []peer.AddrInfo {
	return b.choose(n, linked, func(id peer.ID, h *hub) bool { return !onlyCircuits(h.addrs) && !skip(id) })
}

// throughRelays does the same for peers that only relays lead to.
func (b *book) throughRelays(n int, skip func(peer.ID) bool) []peer.AddrInfo {
	return b.choose(n, nil, func(id peer.ID, h *hub) bool { return onlyCircuits(h.addrs) && !skip(id) })
}

func (b *book) choose(n int, linked map[block]int, want func(peer.ID, *hub) bool) []peer.AddrInfo {
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
		if !h.dialing && now.After(h.next) && want(id, h) {
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
		if !h.answered.IsZero() && time.Since(h.answered) < freshFor && !onlyCircuits(h.addrs) {
			list = append(list, peer.AddrInfo{ID: id, Addrs: slices.Clone(h.addrs)})
		}
	}
	return list
}
