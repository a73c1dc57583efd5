package mesh

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"golang.org/x/time/rate"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Limits of what is addressed to peers that are not linked.
const (
	maxHops            = 4                // hubs that a parcel passes: a swarm of 200 hubs of 32 links needs 2
	maxAddressedGossip = 4 << 10          // smaller messages go by gossip if no way is known
	maxHeld            = 256              // messages that wait for a dial
	maxHeldBytes       = 8 << 20          // of them
	heldFor            = 10 * time.Second // then they are dropped: what matters is repeated
	maxVisits          = 64               // connections that were dialed for a message, or to explore
	visitFor           = 2 * time.Minute  // without a message, after which such a connection may be closed
	visitRate          = 2                // dials per second for messages
	visitBurst         = 8
)

// parcelRate bounds the parcels of one author that are carried on.
var parcelRate = limit{50, 500}

// parcel is a message for one peer that hubs carry on to it. On the wire: 0, the hops left (1 byte), receiver (32),
// author (32), number (8, big-endian), signature (64), message. The author signs all but the hops, so the receiver
// knows who wrote it; numbers of one author grow, so nobody can send it twice.
type parcel struct {
	hops      byte
	to, from  seedlog.Peer
	number    uint64
	signature []byte
	data      []byte
}

const parcelHeader = 1 + 1 + 32 + 32 + 8 + ed25519.SignatureSize

func (p *parcel) encode() []byte {
	b := make([]byte, 0, parcelHeader+len(p.data))
	b = append(b, addressed, p.hops)
	b = append(b, p.to[:]...)
	b = append(b, p.from[:]...)
	b = binary.BigEndian.AppendUint64(b, p.number)
	b = append(b, p.signature...)
	return append(b, p.data...)
}

// decodeParcel reads a parcel, whose signature is still to be checked. Errors wrap coordinator.ErrMessage.
func decodeParcel(b []byte) (*parcel, error) {
	if len(b) < parcelHeader+2 || b[0] != addressed || b[1] > maxHops {
		return nil, fmt.Errorf("%w: parcel of %d bytes", coordinator.ErrMessage, len(b))
	}
	p := &parcel{hops: b[1], number: binary.BigEndian.Uint64(b[66:74]), signature: b[74:parcelHeader], data: b[parcelHeader:]}
	copy(p.to[:], b[2:34])
	copy(p.from[:], b[34:66])
	return p, nil
}

// signed is what the author of a parcel signs in a run.
func (p *parcel) signed(run string) []byte {
	b := append([]byte("evoswarm/parcel/2\x00"), run...)
	b = append(append(b, 0), p.to[:]...)
	b = binary.BigEndian.AppendUint64(b, p.number)
	return append(b, p.data...)
}

func (p *parcel) valid(run string) bool {
	return ed25519.Verify(p.from[:], p.signed(run), p.signature)
}

// pack makes a parcel of this peer's.
func (m *Mesh) pack(to seedlog.Peer, data []byte) *parcel {
	m.mu.Lock()
	m.number = max(m.number+1, uint64(time.Now().UnixNano()))
	p := &parcel{hops: maxHops, to: to, from: m.self, number: m.number, data: data}
	run := m.run
	m.mu.Unlock()
	p.signature = ed25519.Sign(m.cfg.Key, p.signed(run))
	return p
}

// reach sends a message to a peer that is not linked. It dials the peer if it knows where it is, so that the next
// message goes directly; this one goes by way of the hub that the peer was last heard by, and if it is small by a
// second one, since the first may be hostile. Where no way is known it waits for the dial, or goes by gossip.
func (m *Mesh) reach(to seedlog.Peer, id peer.ID, data []byte) error {
	if m.runID() == "" {
		return fmt.Errorf("%w: not in a run", ErrUnreachable)
	}
	dialing := m.visit(id)
	hubs := m.ways(id)
	small := len(data) <= maxAddressedGossip
	switch {
	case len(hubs) > 0:
		frame := m.pack(to, data).encode()
		m.mu.Lock()
		defer m.mu.Unlock()
		var err error
		for i, hub := range hubs {
			if i == 0 || small {
				err = m.enqueue(hub, frame)
			}
		}
		return err
	case dialing:
		return m.hold(id, data)
	case small && m.linkedAny():
		return m.publish(append(append([]byte{addressed}, to[:]...), data...))
	}
	return fmt.Errorf("%w: no connection to %s, and no way to it is known", ErrUnreachable, id)
}

// SendOver is Send to a peer that a hub is said to be linked to: where this one is not, that hub carries the message.
// A leaf says nothing to all, so no other way to it is known. Without a hub, or where this peer is not linked to it,
// it is Send.
func (m *Mesh) SendOver(hub, to seedlog.Peer, data []byte) error {
	over, err := IDOf(hub)
	id, err2 := IDOf(to)
	if err != nil || err2 != nil || m.runID() == "" || m.isLinked(id) || !m.carries(over) || len(data) > coordinator.MaxDirectBytes {
		return m.Send(to, data)
	}
	frame := m.pack(to, data).encode()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.enqueue(over, frame)
}

// ways lists up to two linked neighbors that may lead to a peer: the one that it was last heard by, and a hub. A leaf
// passes gossip on from one of its hubs to the others, but carries no parcels.
func (m *Mesh) ways(id peer.ID) []peer.ID {
	var list []peer.ID
	for _, r := range []*replays{m.parcels, m.heard} {
		if via, ok := r.way(id); ok && via != id && via != m.host.ID() && m.carries(via) {
			list = append(list, via)
			break
		}
	}
	if len(list) == 0 {
		return nil
	}
	for _, hub := range m.linkedHubs() { // in no order
		if hub != list[0] && hub != id {
			return append(list, hub)
		}
	}
	return list
}

// carries reports whether a linked neighbor carries parcels: it says that it is a hub, or there are tabs alone.
func (m *Mesh) carries(id peer.ID) bool {
	m.mu.Lock()
	l, linked := m.links[id]
	m.mu.Unlock()
	return l.Hub || linked && m.tabsAlone()
}

// carriesTo reports whether this peer carries parcels for another one on. Hubs do, and tabs where they have each other
// alone; where a hub is, they bring them to their own neighbors.
func (m *Mesh) carriesTo(to seedlog.Peer) bool {
	id, err := IDOf(to)
	return m.cfg.Hub || m.tabsAlone() || err == nil && m.acceptTab != nil && m.isLinked(id)
}

// tabsAlone reports whether this is a tab that no hub is connected to.
func (m *Mesh) tabsAlone() bool { return m.acceptTab != nil && !m.HasHub() }

func (m *Mesh) linkedAny() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.links) > 0
}

// onParcel takes a parcel that a neighbor hands over: delivers it, or carries it on if this peer is a hub.
func (m *Mesh) onParcel(via peer.ID, from seedlog.Peer, data []byte) error {
	p, err := decodeParcel(data)
	if err != nil {
		return err
	}
	author, err := IDOf(p.from)
	if err != nil {
		return fmt.Errorf("%w: %v", coordinator.ErrMessage, err)
	}
	mine := p.to == m.self
	switch {
	case p.from == m.self || m.bans.banned(author):
		return nil
	case !mine && (p.hops == 0 || !m.carriesTo(p.to)):
		return nil
	case !mine && (!m.neighbors.take(via, relayMessages, price(p.data)) ||
		!m.neighbors.take(via, relayBytes, min(len(data), int(quotas[relayBytes].own.burst)))):
		return nil // more than its share
	}
	number := binary.BigEndian.AppendUint64(nil, p.number)
	if m.parcels.known(author, number) {
		return nil
	}
	if !p.valid(m.runID()) {
		return fmt.Errorf("%w: parcel with a bad signature", coordinator.ErrMessage)
	}
	at := m.neighbors.block(via)
	if !m.parcels.fresh(author, number, addressed, parcelRate, via, at) {
		return nil
	}
	if !mine {
		m.carry(via, p)
		return nil
	}
	if len(p.data) > 0 && p.data[0] == signaled {
		m.onSignal(author, via, p.data)
		return nil
	}
	msg, err := coordinator.DecodeMessage(p.data)
	if err != nil {
		m.offend(author, err.Error()) // it signed that
		return nil
	}
	m.events.gossip(Received{From: p.from, Via: from, Source: at, Message: msg}, len(p.data))
	return nil
}

// carry hands a parcel on.
func (m *Mesh) carry(from peer.ID, p *parcel) {
	to, err := IDOf(p.to)
	if err != nil {
		return
	}
	next := to
	if !m.isLinked(to) {
		hubs := m.ways(to)
		if len(hubs) == 0 || hubs[0] == from {
			return
		}
		next = hubs[0]
	}
	p.hops--
	frame := p.encode()
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enqueue(next, frame); err != nil {
		m.log.Debug("parcel lost", "to", p.to.Short(), "err", err)
	}
}

// visits are connections that were dialed because a message was for a peer that was not linked, or to explore, and
// messages that wait for such a dial. Mesh.mu guards them.
type visits struct {
	rate  *rate.Limiter
	used  map[peer.ID]time.Time // when a message was last sent there
	held  map[peer.ID][]heldMessage
	items int
	bytes int
}

type heldMessage struct {
	data []byte
	at   time.Time
}

func newVisits() visits {
	return visits{rate: rate.NewLimiter(visitRate, visitBurst), used: make(map[peer.ID]time.Time), held: make(map[peer.ID][]heldMessage)}
}

// visit dials a peer if the book says where it is; true: a dial is under way.
func (m *Mesh) visit(id peer.ID) bool {
	info, dialing := m.book.take(id, m.visits.rate)
	if info == nil {
		return dialing
	}
	m.spawn(func() { m.call(*info) })
	return true
}

// call dials a peer of the book for a while.
func (m *Mesh) call(info peer.AddrInfo) {
	ctx, cancel := context.WithTimeout(m.ctx, dialTimeout)
	defer cancel()
	_, err := m.meet(ctx, info)
	if err != nil || !m.isLinked(info.ID) {
		m.log.Debug("not reached on a visit", "peer", info.ID, "err", err)
		m.book.failed(info.ID)
		return
	}
	m.book.succeeded(info.ID)
	m.mu.Lock()
	m.visits.used[info.ID] = time.Now()
	m.mu.Unlock()
}

// hold keeps a message until its receiver is linked.
func (m *Mesh) hold(id peer.ID, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := &m.visits
	if _, linked := m.links[id]; linked {
		return m.enqueue(id, data)
	}
	if v.items >= maxHeld || v.bytes+len(data) > maxHeldBytes {
		return fmt.Errorf("%w: %d messages wait for dials", ErrFull, v.items)
	}
	v.items++
	v.bytes += len(data)
	v.held[id] = append(v.held[id], heldMessage{data, time.Now()})
	return nil
}

// release sends what waited for a peer that is linked now. The caller holds mu.
func (m *Mesh) release(id peer.ID) {
	v := &m.visits
	for _, h := range v.held[id] {
		v.items--
		v.bytes -= len(h.data)
		if err := m.enqueue(id, h.data); err != nil {
			m.log.Debug("message lost", "peer", id, "err", err)
		}
	}
	delete(v.held, id)
}

// endVisits drops what waited too long, and closes visits that carried no message for some time, if this peer has as
// many hubs as it wants without them.
func (m *Mesh) endVisits(enough bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := &m.visits
	for id, list := range v.held {
		if time.Since(list[0].at) > heldFor {
			for _, h := range list {
				v.items--
				v.bytes -= len(h.data)
			}
			delete(v.held, id)
		}
	}
	var idlest peer.ID
	for id, used := range v.used {
		switch {
		case time.Since(used) > visitFor && !enough:
			delete(v.used, id) // it stays as one of the hubs that this peer keeps
		case idlest == "" || used.Before(v.used[idlest]):
			idlest = id
		}
	}
	if idlest != "" && (len(v.used) > maxVisits || time.Since(v.used[idlest]) > visitFor) {
		delete(v.used, idlest)
		m.spawn(func() { _ = m.host.Network().ClosePeer(idlest) })
	}
}
