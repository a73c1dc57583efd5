package mesh

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	"golang.org/x/time/rate"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Links of a tab to other tabs. Graphs in which each chooses two others at random are connected, but for few.
const (
	tabDials   = 2 // links that a tab begins
	tabAccepts = 4 // links that others began
	tabShaking = 4 // of others, under way
	tabShake   = 10 * time.Second
	tabRefuse  = time.Minute // after which a tab that did not answer is tried again

	maxTold      = 16              // tabs that a peer tells of
	tellAgain    = 2 * time.Minute // after which a tab that has not asked again is no longer told of
	askTabsFirst = time.Second
	askTabsEvery = 30 * time.Second
)

// offerRate bounds what is done for offers of others, all of them together.
var offerRate = limit{1, 8}

// askRate bounds how often a tab asks, since others decide how often it loses connections: to its hub a question costs
// as much as a hello.
var askRate = limit{0.1, 8}

// tabAddress is the address of every tab: where it is, it tells itself.
var tabAddress = ma.StringCast("/webrtc")

// isTab reports whether an address is that of a tab.
func isTab(a ma.Multiaddr) bool { return a.Equal(tabAddress) }

// Reasons for which an offer of this tab comes to nothing.
var (
	errRefused = errors.New("the other tab has enough connections")
	errCrossed = errors.New("the other tab offers a connection at the same time")
	errNoReply = errors.New("the other tab does not answer")
)

// tabLinks is what a peer knows of tabs that would like to be connected to others, and what a tab has under way.
type tabLinks struct {
	mu      sync.Mutex
	asked   map[peer.ID]tabAsked  // neighbors that asked for tabs: they are told of
	told    map[peer.ID][]peer.ID // of which tabs a neighbor told last
	tried   map[peer.ID]time.Time // tabs that did not answer, and until when they are left alone
	mine    *tabOffer             // under way; one at a time
	shaking int                   // offers of others under way
	offers  *rate.Limiter
	asks    *rate.Limiter
	askAt   time.Time
	askIn   time.Duration
	had     int // links when it was looked last
	alone   bool
}

// tabAsked is what a neighbor says that asks for tabs.
type tabAsked struct {
	at    time.Time
	alone bool // whether it has no hub
}

// tabOffer is a connection that this tab has offered.
type tabOffer struct {
	to     peer.ID
	number uint64
	over   []peer.ID    // neighbors that lead there
	answer chan *signal // closed: the other tab's own offer is answered instead
}

func newTabLinks() *tabLinks {
	return &tabLinks{asked: make(map[peer.ID]tabAsked), told: make(map[peer.ID][]peer.ID), tried: make(map[peer.ID]time.Time),
		offers: offerRate.limiter(), asks: askRate.limiter(), askIn: askTabsFirst}
}

// linkedTabs are the neighbors that are tabs, with which browsers connect this one directly.
type linkedTabs struct{ dialed, accepted []peer.ID }

func (l linkedTabs) all() int { return len(l.dialed) + len(l.accepted) }

func (l linkedTabs) has(id peer.ID) bool {
	return slices.Contains(l.dialed, id) || slices.Contains(l.accepted, id)
}

// tabLinks lists the connections to other tabs.
func (m *Mesh) tabLinks() (l linkedTabs) {
	for _, c := range m.host.Network().Conns() {
		switch id := c.RemotePeer(); {
		case !isTab(c.RemoteMultiaddr()) || l.has(id):
		case c.Stat().Direction == network.DirOutbound:
			l.dialed = append(l.dialed, id)
		default:
			l.accepted = append(l.accepted, id)
		}
	}
	return l
}

// keepTabs asks neighbors for other tabs, and begins a connection to one of them if this tab has too few.
func (m *Mesh) keepTabs() {
	if m.acceptTab == nil {
		return
	}
	have, now := m.tabLinks(), time.Now()
	m.mu.Lock()
	neighbors := make([]peer.ID, 0, len(m.links))
	for id := range m.links { // in no order
		neighbors = append(neighbors, id)
	}
	m.mu.Unlock()
	if alone := !m.HasHub(); m.tabs.askNow(now, have, alone) {
		for _, id := range neighbors {
			m.spawn(func() { m.askForTabs(id, alone) })
		}
	}
	o := m.tabs.next(now, neighbors, m.host.ID(), have)
	if o == nil {
		return
	}
	m.spawn(func() {
		ctx, cancel := context.WithTimeout(m.ctx, 2*tabShake)
		defer cancel()
		_, err := m.meet(ctx, peer.AddrInfo{ID: o.to, Addrs: []ma.Multiaddr{tabAddress}})
		if err != nil {
			m.log.Debug("no connection to a tab", "peer", o.to, "err", err)
		}
		m.tabs.ended(o, time.Now(), err)
	})
}

// askNow reports whether it is time to ask for tabs: often where links or the last hub were lost, else now and then.
func (t *tabLinks) askNow(now time.Time, have linkedTabs, alone bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if have.all() < t.had || alone != t.alone {
		t.askIn, t.askAt = askTabsFirst, now
	}
	t.had, t.alone = have.all(), alone
	if now.Before(t.askAt) || !t.asks.AllowN(now, 1) {
		return false
	}
	t.askAt = now.Add(t.askIn)
	t.askIn = min(2*t.askIn, askTabsEvery)
	return true
}

// next chooses a tab to connect to, if this one has too few links, and the neighbors that told of it. Each neighbor's
// word counts the same, however many it names.
func (t *tabLinks) next(now time.Time, neighbors []peer.ID, self peer.ID, have linkedTabs) *tabOffer {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, until := range t.tried {
		if now.After(until) {
			delete(t.tried, id)
		}
	}
	for id := range t.told {
		if !slices.Contains(neighbors, id) {
			delete(t.told, id)
		}
	}
	if t.mine != nil || len(have.dialed) >= tabDials || have.all() >= tabDials+tabAccepts {
		return nil
	}
	rand.Shuffle(len(neighbors), func(i, j int) { neighbors[i], neighbors[j] = neighbors[j], neighbors[i] })
	for _, teller := range neighbors {
		list := t.told[teller]
		for _, i := range rand.Perm(len(list)) {
			id := list[i]
			if id == self || have.has(id) || slices.Contains(neighbors, id) || !t.tried[id].IsZero() {
				continue
			}
			t.mine = &tabOffer{to: id, number: rand.Uint64(), over: t.tellers(id, teller), answer: make(chan *signal, 1)}
			return t.mine
		}
	}
	return nil
}

// tellers lists two neighbors that told of a tab, one of which is known. The caller holds mu.
func (t *tabLinks) tellers(id, one peer.ID) []peer.ID {
	for other, list := range t.told {
		if other != one && slices.Contains(list, id) {
			return []peer.ID{one, other}
		}
	}
	return []peer.ID{one}
}

// ended notes how an offer of this tab ended.
func (t *tabLinks) ended(o *tabOffer, now time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mine == o {
		t.mine = nil
	}
	if err != nil {
		t.tried[o.to] = now.Add(tabRefuse)
	}
}

// answered hands an answer to the offer that waits for it; what nobody waits for is dropped.
func (t *tabLinks) answered(from peer.ID, s *signal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := t.mine; o != nil && o.to == from && o.number == s.Number && o.answer != nil {
		o.answer <- s
		o.answer = nil // one answer
	}
}

// awaitAnswer waits for the answer to an offer.
func awaitAnswer(ctx context.Context, answer <-chan *signal) (*description, error) {
	ctx, cancel := context.WithTimeout(ctx, tabShake)
	defer cancel()
	select {
	case s, ok := <-answer:
		switch {
		case !ok:
			return nil, errCrossed
		case s.Kind == refusing:
			return nil, errRefused
		}
		return &s.Theirs, nil
	case <-ctx.Done():
		return nil, errNoReply
	}
}

// offered decides about an offer: whether it is accepted, and if not, whether that is worth a reply. Of two tabs that
// offer at the same time, the offer of the one with the lower id holds.
func (t *tabLinks) offered(now time.Time, from, self peer.ID, have linkedTabs) (accept, reply bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.offers.AllowN(now, 1) {
		return false, false
	}
	if o := t.mine; o != nil && o.to == from && o.answer != nil {
		if self < from {
			return false, false
		}
		close(o.answer)
		o.answer = nil
	}
	known := have.has(from) // it came back before this tab saw it leave
	if t.shaking >= tabShaking || !known && (len(have.accepted)+t.shaking >= tabAccepts || have.all()+t.shaking >= tabDials+tabAccepts) {
		return false, true
	}
	t.shaking++
	return true, false
}

// settled notes the end of a handshake that another tab began.
func (t *tabLinks) settled() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shaking--
}

// offer returns this tab's offer to another one, and where its answer comes. libp2p gives a dial no values.
func (t *tabLinks) offer(to peer.ID) (*tabOffer, <-chan *signal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mine == nil || t.mine.to != to {
		return nil, nil
	}
	return t.mine, t.mine.answer
}

// askForTabs asks a neighbor for tabs, and says with that that this one would like to be connected to others, and
// whether it has no hub.
func (m *Mesh) askForTabs(id peer.ID, alone bool) {
	ctx, cancel := context.WithTimeout(m.ctx, helloTimeout)
	defer cancel()
	s, err := m.host.NewStream(network.WithNoDial(ctx, "tabs"), id, tabsProtocol(m.runID()))
	if err != nil {
		return // it is of an earlier build
	}
	defer s.Close()
	_ = s.SetDeadline(time.Now().Add(helloTimeout))
	question := []byte{0}
	if alone {
		question[0] = 1
	}
	var list []peer.ID
	if _, err = s.Write(question); err == nil {
		list, err = readTabs(s)
	}
	if err != nil {
		_ = s.Reset()
		m.log.Debug("a neighbor told of no tabs", "peer", id, "err", err)
		return
	}
	m.tabs.mu.Lock()
	defer m.tabs.mu.Unlock()
	m.tabs.told[id] = list
}

// readTabs reads what a neighbor tells: keys.
func readTabs(r io.Reader) ([]peer.ID, error) {
	const size = len(seedlog.Peer{})
	const most = maxTold * size
	data, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err != nil {
		return nil, err
	}
	if len(data) > most || len(data)%size != 0 {
		return nil, fmt.Errorf("%w: %d bytes of tabs", errSignal, len(data))
	}
	var list []peer.ID
	for ; len(data) > 0; data = data[size:] {
		id, err := IDOf(seedlog.Peer(data[:size]))
		if err != nil {
			return nil, fmt.Errorf("%w: %v", errSignal, err)
		}
		list = append(list, id)
	}
	return list, nil
}

// onTabs tells a neighbor of tabs that asked before, and remembers that it did.
func (m *Mesh) onTabs(s network.Stream) {
	defer s.Close()
	id := s.Conn().RemotePeer()
	if !m.isLinked(id) || !m.neighbors.take(id, hellos, 1) {
		_ = s.Reset()
		return
	}
	_ = s.SetDeadline(time.Now().Add(helloTimeout))
	question := make([]byte, 1)
	if _, err := io.ReadFull(s, question); err != nil {
		_ = s.Reset()
		return
	}
	var data []byte
	for _, other := range m.tabsFor(id, tabAsked{time.Now(), question[0] == 1}) {
		if key, err := PeerOf(other); err == nil {
			data = append(data, key[:]...)
		}
	}
	if _, err := s.Write(data); err != nil {
		_ = s.Reset()
	}
}

// tabsFor lists linked neighbors that asked for tabs of late: one of each block of addresses in turn, so that a
// stranger with many keys is not most of what others are told.
func (m *Mesh) tabsFor(id peer.ID, asked tabAsked) []peer.ID {
	t := m.tabs
	t.mu.Lock()
	defer t.mu.Unlock()
	of := make(map[block][]peer.ID)
	for other, a := range t.asked {
		if asked.at.Sub(a.at) > tellAgain || !m.isLinked(other) {
			delete(t.asked, other)
		} else if other != id {
			b := m.neighbors.block(other)
			of[b] = append(of[b], other)
		}
	}
	t.asked[id] = asked
	for _, list := range of {
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return takeTurns(of, maxTold)
}

// takeTurns takes at most n of several lists, one of each in turn. They come in no order.
func takeTurns[K comparable, V any](of map[K][]V, n int) (taken []V) {
	for turn := 0; ; turn++ {
		before := len(taken)
		for _, list := range of {
			if turn < len(list) && len(taken) < n {
				taken = append(taken, list[turn])
			}
		}
		if len(taken) == before {
			return taken
		}
	}
}

// handsOn reports whether this tab gives another one what is gossiped: where both have hubs, they hear it from these.
func (m *Mesh) handsOn(id peer.ID) bool {
	if !m.HasHub() {
		return true
	}
	m.tabs.mu.Lock()
	defer m.tabs.mu.Unlock()
	a := m.tabs.asked[id]
	return a.alone && time.Since(a.at) < tellAgain
}

// tabStream is a stream for gossip to another tab. Gossipsub writes one frame at a time.
type tabStream struct {
	network.Stream
	m *Mesh
}

// publishes is the first byte of a frame of messages alone: the tag of their field. Subscriptions would come first.
const publishes = 2<<3 | 2

// Write leaves out messages that the other tab hears from its hubs.
func (s *tabStream) Write(frame []byte) (int, error) {
	if _, n := binary.Uvarint(frame); n > 0 && n < len(frame) && frame[n] == publishes && !s.m.handsOn(s.Conn().RemotePeer()) {
		return len(frame), nil
	}
	return s.Stream.Write(frame)
}
