package mesh

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"golang.org/x/time/rate"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Limits of direct messages.
const (
	maxOutbox      = 512       // messages waiting for one peer
	maxOutboxBytes = 16 << 20  // for one peer
	maxQueuedBytes = 256 << 20 // for all peers
	maxInbound     = 4         // streams from one peer
	openTimeout    = 10 * time.Second
	writeTimeout   = 30 * time.Second
	idleTimeout    = time.Minute     // after which the sender closes its stream
	readTimeout    = 5 * time.Minute // after which the receiver does
	messageRate    = 500             // per second from one stream; more waits
	messageBurst   = 2000
)

// directProtocol carries messages of a run in one direction: each is preceded by its length as an unsigned varint.
func directProtocol(run string) protocol.ID {
	return protocol.ID("/evoswarm/" + run + "/direct/1")
}

// outbox holds what waits for one peer. A goroutine writes it out and ends when it has nothing to do for a minute.
type outbox struct {
	items [][]byte // guarded by Mesh.mu
	bytes int
	busy  bool // a message is being written
	wake  chan struct{}
}

// Send queues an encoded message for one peer and returns at once. The error wraps ErrFull or ErrUnreachable. A queued
// message may still be lost when the connection breaks; that is logged.
func (m *Mesh) Send(to seedlog.Peer, data []byte) error {
	if len(data) > coordinator.MaxDirectBytes {
		return fmt.Errorf("a message of %d bytes, at most %d can be sent", len(data), coordinator.MaxDirectBytes)
	}
	id, err := IDOf(to)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		return ErrClosed
	}
	return m.enqueue(id, data)
}

func (m *Mesh) enqueue(id peer.ID, data []byte) error {
	if _, linked := m.links[id]; !linked {
		return fmt.Errorf("%w: no connection to %s", ErrUnreachable, id)
	}
	o := m.outs[id]
	if o == nil {
		o = &outbox{wake: make(chan struct{}, 1)}
		m.outs[id] = o
		m.spawn(func() { m.drain(id, o) })
	}
	if len(o.items) >= maxOutbox || o.bytes+len(data) > maxOutboxBytes || m.queued+len(data) > maxQueuedBytes {
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

// SendHubs queues an encoded message for every linked hub. It fails if there is none.
func (m *Mesh) SendHubs(data []byte) error {
	err := fmt.Errorf("%w: no hub is connected", ErrUnreachable)
	hubs := m.linkedHubs()
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
			data := o.items[0]
			o.items[0] = nil
			o.items = o.items[1:]
			o.bytes -= len(data)
			o.busy = true
			m.queued -= len(data)
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
	limiter := rate.NewLimiter(messageRate, messageBurst)
	r := bufio.NewReader(s)
	for {
		_ = s.SetReadDeadline(time.Now().Add(readTimeout))
		msg, err := readMessage(r)
		if err != nil {
			_ = s.Reset()
			if errors.Is(err, coordinator.ErrMessage) {
				m.offend(id, err.Error())
			}
			return
		}
		if limiter.Wait(m.ctx) != nil || !m.events.direct(Received{From: from, Via: from, Message: msg}) {
			_ = s.Reset()
			return
		}
	}
}

// readMessage reads one framed message. Errors of its form wrap coordinator.ErrMessage.
func readMessage(r *bufio.Reader) (coordinator.Message, error) {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}
	if n > coordinator.MaxDirectBytes {
		return nil, fmt.Errorf("%w: %d bytes announced", coordinator.ErrMessage, n)
	}
	var b bytes.Buffer // grows with what arrives, not with what is announced
	if _, err := io.CopyN(&b, r, int64(n)); err != nil {
		return nil, err
	}
	return coordinator.DecodeMessage(b.Bytes())
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
