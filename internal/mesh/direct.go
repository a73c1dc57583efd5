package mesh

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/fair"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Limits of direct messages.
const (
	maxOutbox      = 512       // messages waiting for one peer
	maxOutboxBytes = 4 << 20   // for one peer
	maxQueuedBytes = 128 << 20 // for all peers; beyond, the block of addresses that has most loses its oldest
	maxInbound     = 2         // streams from one peer
	openTimeout    = 10 * time.Second
	writeTimeout   = 30 * time.Second
	idleTimeout    = time.Minute      // after which the sender closes its stream
	readTimeout    = 5 * time.Minute  // after which the receiver does, between two messages
	pieceTimeout   = 15 * time.Second // within which each piece of a message must come
	pieceBytes     = 32 << 10
	maxParts       = 64 << 20 // bytes of messages that have come in part; beyond, the block that has most loses one
	maxPartsOf     = 8 << 20  // of one block
)

// outbox holds what waits for one peer. A goroutine writes it out and ends when it has nothing to do for a minute.
type outbox struct {
	at    block
	items [][]byte // guarded by Mesh.mu
	bytes int
	busy  bool // a message is being written
	wake  chan struct{}
}

// Send queues an encoded message for one peer and returns at once. A peer that is not linked is dialed, if it is known
// where it is, or the message goes to it over hubs: see relay.go. The error wraps ErrFull or ErrUnreachable. A queued
// message may still be lost when the connection breaks; that is logged.
func (m *Mesh) Send(to seedlog.Peer, data []byte) error {
	if len(data) > coordinator.MaxDirectBytes {
		return fmt.Errorf("a message of %d bytes, at most %d can be sent", len(data), coordinator.MaxDirectBytes)
	}
	id, err := IDOf(to)
	if err != nil {
		return err
	}
	if m.ctx.Err() != nil {
		return ErrClosed
	}
	m.mu.Lock()
	if _, linked := m.links[id]; linked {
		defer m.mu.Unlock()
		if _, visiting := m.visits.used[id]; visiting {
			m.visits.used[id] = time.Now()
		}
		return m.enqueue(id, data)
	}
	m.mu.Unlock()
	return m.reach(to, id, data)
}

func (m *Mesh) enqueue(id peer.ID, data []byte) error {
	if _, linked := m.links[id]; !linked {
		return fmt.Errorf("%w: no connection to %s", ErrUnreachable, id)
	}
	o := m.outs[id]
	if o == nil {
		o = &outbox{at: m.neighbors.block(id), wake: make(chan struct{}, 1)}
		m.outs[id] = o
		m.spawn(func() { m.drain(id, o) })
	}
	if len(o.items) >= maxOutbox || o.bytes+len(data) > maxOutboxBytes || !m.makeRoom(o.at, len(data)) {
		return fmt.Errorf("%w: %d messages wait for %s", ErrFull, len(o.items), id)
	}
	o.items = append(o.items, data)
	o.bytes += len(data)
	m.queued += len(data)
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return nil
}

// makeRoom drops messages for the block of addresses for which most wait, until there is room for so many bytes more;
// false: that is the block at. The caller holds mu.
func (m *Mesh) makeRoom(at block, bytes int) bool {
	for m.queued+bytes > maxQueuedBytes {
		waiting := make(map[block]int)
		longest := make(map[block]*outbox)
		most := at
		for _, o := range m.outs {
			if waiting[o.at] += o.bytes; longest[o.at] == nil || o.bytes > longest[o.at].bytes {
				longest[o.at] = o
			}
			if waiting[o.at] > waiting[most] {
				most = o.at
			}
		}
		if most == at {
			return false
		}
		o := longest[most] // it is full of what its reader does not read: half of it makes room for some time
		for n := (len(o.items) + 1) / 2; n > 0; n-- {
			o.pop(m)
		}
	}
	return true
}

// pop takes the first message. The caller holds Mesh.mu.
func (o *outbox) pop(m *Mesh) []byte {
	data := o.items[0]
	o.items[0] = nil
	o.items = o.items[1:]
	o.bytes -= len(data)
	m.queued -= len(data)
	return data
}

// SendHubs queues an encoded message for every linked hub. It fails if there is none.
func (m *Mesh) SendHubs(data []byte) error {
	err := fmt.Errorf("%w: no hub is connected", ErrUnreachable)
	hubs := m.servers()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range hubs {
		if e := m.enqueue(id, data); e == nil || errors.Is(err, ErrUnreachable) {
			err = e
		}
	}
	return err
}

// next takes the next message of an outbox, waiting for it; nil: the outbox is closed.
func (m *Mesh) next(id peer.ID, o *outbox) []byte {
	timer := time.NewTimer(idleTimeout)
	defer timer.Stop()
	for idle := false; ; {
		m.mu.Lock()
		o.busy = false
		if len(o.items) > 0 {
			data := o.pop(m)
			o.busy = true
			m.mu.Unlock()
			return data
		}
		if idle {
			delete(m.outs, id)
			m.mu.Unlock()
			return nil
		}
		m.mu.Unlock()
		select {
		case <-o.wake:
		case <-timer.C:
			idle = true
		case <-m.ctx.Done():
			idle = true
		}
	}
}

// abandon drops an outbox whose peer cannot be reached.
func (m *Mesh) abandon(id peer.ID, o *outbox, why error) {
	m.mu.Lock()
	n := len(o.items) + 1
	m.queued -= o.bytes
	delete(m.outs, id)
	m.mu.Unlock()
	m.log.Debug("messages lost", "peer", id, "messages", n, "err", why)
}

// drain writes an outbox out.
func (m *Mesh) drain(id peer.ID, o *outbox) {
	var s network.Stream
	defer func() {
		if s != nil {
			_ = s.Close()
		}
	}()
	for {
		data := m.next(id, o)
		if data == nil {
			return
		}
		// A stream that was open for long may be dead: try once more on a new one.
		fresh := s == nil
		err := m.write(&s, id, data)
		if err != nil && !fresh {
			err = m.write(&s, id, data)
		}
		if err != nil {
			m.abandon(id, o, err)
			return
		}
	}
}

// write sends one message on *s, which it opens if need be and clears on an error.
func (m *Mesh) write(s *network.Stream, id peer.ID, data []byte) error {
	if *s == nil {
		ctx, cancel := context.WithTimeout(m.ctx, openTimeout)
		defer cancel()
		opened, err := m.host.NewStream(network.WithNoDial(ctx, "direct"), id, directProtocol(m.runID()))
		if err != nil {
			return err
		}
		*s = opened
	}
	_ = (*s).SetWriteDeadline(time.Now().Add(writeTimeout))
	frame := binary.AppendUvarint(make([]byte, 0, len(data)+binary.MaxVarintLen32), uint64(len(data)))
	if _, err := (*s).Write(append(frame, data...)); err != nil {
		_ = (*s).Reset()
		*s = nil
		return err
	}
	return nil
}

func (m *Mesh) runID() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.run
}

// Flush waits until all queued messages are written, or ctx ends.
func (m *Mesh) Flush(ctx context.Context) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for m.pending() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-m.ctx.Done():
			return ErrClosed
		}
	}
	return nil
}

func (m *Mesh) pending() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range m.outs {
		if o.busy || len(o.items) > 0 {
			return true
		}
	}
	return false
}

// onDirect reads messages until the sender closes or misbehaves.
func (m *Mesh) onDirect(s network.Stream) {
	defer s.Close()
	id := s.Conn().RemotePeer()
	from, err := PeerOf(id)
	if err != nil || !m.admit(id) {
		_ = s.Reset()
		return
	}
	defer m.dismiss(id)
	in := &incoming{m: m, id: id, at: m.neighbors.block(id), s: s, r: bufio.NewReader(s)}
	for {
		data, err := in.next()
		if err == nil {
			err = m.onMessage(id, from, in.at, data)
		}
		if err != nil {
			_ = s.Reset()
			if errors.Is(err, coordinator.ErrMessage) {
				m.offend(id, err.Error())
			}
			return
		}
	}
}

// onMessage takes a direct message. Errors of its form wrap coordinator.ErrMessage.
func (m *Mesh) onMessage(id peer.ID, from seedlog.Peer, at block, data []byte) error {
	if !m.neighbors.pay(m.ctx, id, directMessages, price(data)) {
		return errSpent
	}
	if len(data) > 0 && data[0] == addressed {
		return m.onParcel(id, from, data)
	}
	msg, err := coordinator.DecodeMessage(data)
	if err != nil {
		return err
	}
	if !m.events.direct(Received{From: from, Via: from, Source: at, Message: msg}, len(data)) {
		return ErrClosed
	}
	return nil
}

// errSpent is why a stream of a neighbor that sends too much ends.
var errSpent = errors.New("the sender has spent its share")

// errCrowded is why a stream ends whose message came too slowly while others needed the memory.
var errCrowded = errors.New("no memory for more messages that have come in part")

// incoming is a stream of direct messages.
type incoming struct {
	m  *Mesh
	id peer.ID
	at block
	s  network.Stream
	r  *bufio.Reader
}

// next reads one message. Its memory grows with what arrives, not with what is announced.
func (in *incoming) next() ([]byte, error) {
	_ = in.s.SetReadDeadline(time.Now().Add(readTimeout))
	n, err := binary.ReadUvarint(in.r)
	if err != nil {
		return nil, err
	}
	if n > coordinator.MaxDirectBytes+parcelHeader {
		return nil, fmt.Errorf("%w: %d bytes announced", coordinator.ErrMessage, n)
	}
	defer in.m.parts.done(in.s)
	var data []byte
	for uint64(len(data)) < n {
		piece := int(min(n-uint64(len(data)), pieceBytes))
		if !in.m.neighbors.pay(in.m.ctx, in.id, directBytes, piece) {
			return nil, errSpent
		}
		if !in.m.parts.grow(in.s, in.at, len(data)+piece) {
			return nil, errCrowded
		}
		_ = in.s.SetReadDeadline(time.Now().Add(pieceTimeout))
		begun := len(data)
		data = append(data, make([]byte, piece)...)
		if _, err := io.ReadFull(in.r, data[begun:]); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// parts counts the bytes of messages that have come in part. When there are too many, the block of addresses that has
// most loses the message that has not grown for longest: its stream is reset.
type parts struct {
	mu    sync.Mutex
	bytes *fair.Table[network.Stream, block, struct{}]
}

func newParts() *parts {
	return &parts{bytes: fair.NewTable[network.Stream, block, struct{}](maxParts)}
}

// grow notes that the message on a stream takes so many bytes now; false: there is no room for it.
func (p *parts) grow(s network.Stream, at block, bytes int) bool {
	if bytes <= pieceBytes/8 {
		return true // streams are bounded, too
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, lost := range p.bytes.Put(s, at, uint64(bytes), struct{}{}) {
		p.reset(lost.Key)
	}
	for p.bytes.UsedBy(at) > maxPartsOf {
		for stalled := range p.bytes.Of(at) {
			p.bytes.Delete(stalled)
			p.reset(stalled)
			break
		}
	}
	return p.bytes.Has(s)
}

// reset ends a stream, not within the caller's locks.
func (p *parts) reset(s network.Stream) { go func() { _ = s.Reset() }() }

func (p *parts) done(s network.Stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes.Delete(s)
}

// admit counts the streams of a peer.
func (m *Mesh) admit(id peer.ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.inbound[id] >= maxInbound {
		return false
	}
	m.inbound[id]++
	return true
}

func (m *Mesh) dismiss(id peer.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.inbound[id]--; m.inbound[id] <= 0 {
		delete(m.inbound, id)
	}
}
