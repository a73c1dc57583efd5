package mesh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	"github.com/libp2p/go-libp2p/p2p/host/pstoremanager"
	"github.com/libp2p/go-libp2p/p2p/protocol/identify"
	ma "github.com/multiformats/go-multiaddr"
	"github.com/multiformats/go-multistream"
)

// negotiationTimeout bounds how long two peers take to agree on the protocol of a stream, as in libp2p's own host.
const negotiationTimeout = 10 * time.Second

// tabHost is libp2p's basic host without what a tab never does: listen, map ports, ask whether others reach it, relay,
// punch holes. That host brings all of it into the program, a tenth of what a tab downloads.
type tabHost struct {
	net     network.Network
	bus     event.Bus
	mux     *multistream.MultistreamMuxer[protocol.ID]
	updated event.Emitter // of what this side speaks
	ids     identify.IDService
	gone    *pstoremanager.PeerstoreManager // forgets peers that are gone
	once    sync.Once
}

var _ host.Host = (*tabHost)(nil)

func newTabHost(net network.Network, bus event.Bus, agent string) (*tabHost, error) {
	h := &tabHost{net: net, bus: bus, mux: multistream.NewMultistreamMuxer[protocol.ID]()}
	var err error
	if h.updated, err = bus.Emitter(new(event.EvtLocalProtocolsUpdated), eventbus.Stateful); err != nil {
		return nil, err
	}
	if h.gone, err = pstoremanager.NewPeerstoreManager(net.Peerstore(), bus, net); err != nil {
		return nil, err
	}
	// Without addresses there is nothing that a signed record could say.
	if h.ids, err = identify.NewIDService(h, identify.UserAgent(agent), identify.DisableSignedPeerRecord()); err != nil {
		return nil, err
	}
	net.SetStreamHandler(h.accept)
	return h, nil
}

// start begins to tell others what this side speaks, and to ask them.
func (h *tabHost) start() {
	h.gone.Start()
	h.ids.Start()
}

// ID names this side.
func (h *tabHost) ID() peer.ID { return h.net.LocalPeer() }

// Peerstore has what is known of others.
func (h *tabHost) Peerstore() peerstore.Peerstore { return h.net.Peerstore() }

// Addrs are none: a tab is nowhere that others could dial.
func (h *tabHost) Addrs() []ma.Multiaddr { return nil }

// Network has the connections.
func (h *tabHost) Network() network.Network { return h.net }

// Mux has what this side speaks.
func (h *tabHost) Mux() protocol.Switch { return h.mux }

// ConnManager closes nothing: a tab has few connections, which the mesh chooses.
func (h *tabHost) ConnManager() connmgr.ConnManager { return connmgr.NullConnMgr{} }

// EventBus tells the parts of the host what happens.
func (h *tabHost) EventBus() event.Bus { return h.bus }

// Connect dials a peer that is not connected, and waits until it has said what it speaks.
func (h *tabHost) Connect(ctx context.Context, info peer.AddrInfo) error {
	h.Peerstore().AddAddrs(info.ID, info.Addrs, peerstore.TempAddrTTL)
	if direct, _ := network.GetForceDirectDial(ctx); !direct {
		limited, _ := network.GetAllowLimitedConn(ctx)
		if has := h.net.Connectedness(info.ID); has == network.Connected || limited && has == network.Limited {
			return nil
		}
	}
	c, err := h.net.DialPeer(ctx, info.ID)
	if err != nil {
		return fmt.Errorf("failed to dial: %w", err)
	}
	return h.identified(ctx, c)
}

// identified waits until the other side has said what it speaks, or will not.
func (h *tabHost) identified(ctx context.Context, c network.Conn) error {
	select {
	case <-h.ids.IdentifyWait(c):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("identify failed to complete: %w", ctx.Err())
	}
}

// NewStream opens a stream for the first of the protocols that the other side speaks.
func (h *tabHost) NewStream(ctx context.Context, id peer.ID, protocols ...protocol.ID) (network.Stream, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, negotiationTimeout)
		defer cancel()
	}
	if connected, _ := network.GetNoDial(ctx); !connected {
		if err := h.Connect(ctx, peer.AddrInfo{ID: id}); err != nil {
			return nil, err
		}
	}
	s, err := h.net.NewStream(network.WithNoDial(ctx, "already dialed"), id)
	if err != nil {
		return nil, fmt.Errorf("failed to open stream: %w", err)
	}
	agreed, err := h.agree(ctx, s, protocols)
	if err != nil {
		_ = s.ResetWithError(network.StreamProtocolNegotiationFailed)
		return nil, err
	}
	return agreed, nil
}

// agree settles the protocol of a new stream: without waiting for an answer if it is known what the other side speaks.
func (h *tabHost) agree(ctx context.Context, s network.Stream, protocols []protocol.ID) (network.Stream, error) {
	if err := h.identified(ctx, s.Conn()); err != nil {
		return nil, err
	}
	id := s.Conn().RemotePeer()
	spoken, err := h.Peerstore().SupportsProtocols(id, protocols...)
	if err != nil {
		return nil, err
	}
	if len(spoken) > 0 {
		return &promptStream{s, multistream.NewMSSelect(s, spoken[0])}, s.SetProtocol(spoken[0])
	}
	stop := context.AfterFunc(ctx, func() { _ = s.ResetWithError(network.StreamProtocolNegotiationFailed) })
	defer stop()
	chosen, err := multistream.SelectOneOf(protocols, s)
	if err != nil {
		return nil, fmt.Errorf("failed to negotiate protocol: %w", errors.Join(ctx.Err(), err))
	}
	_ = h.Peerstore().AddProtocols(id, chosen) // next time it is known
	return s, s.SetProtocol(chosen)
}

// promptStream sends the name of its protocol with the first bytes, and reads the answer to that before the first.
type promptStream struct {
	network.Stream
	rw io.ReadWriteCloser
}

// Read reads past the answer.
func (s *promptStream) Read(b []byte) (int, error) { return s.rw.Read(b) }

// Write writes behind the name.
func (s *promptStream) Write(b []byte) (int, error) { return s.rw.Write(b) }

// Close waits for the answer, but not forever.
func (s *promptStream) Close() error {
	_ = s.SetReadDeadline(time.Now().Add(negotiationTimeout))
	return s.rw.Close()
}

// CloseWrite sends the name if nothing was written; what goes wrong is found out by reading.
func (s *promptStream) CloseWrite() error {
	if f, ok := s.rw.(interface{ Flush() error }); ok {
		_ = f.Flush()
	}
	return s.Stream.CloseWrite()
}

// accept hands a stream that the other side opened to what handles its protocol.
func (h *tabHost) accept(s network.Stream) {
	_ = s.SetDeadline(time.Now().Add(negotiationTimeout))
	id, handle, err := h.mux.Negotiate(s)
	if err != nil {
		_ = s.ResetWithError(network.StreamProtocolNegotiationFailed)
		return
	}
	_ = s.SetDeadline(time.Time{})
	if err := s.SetProtocol(id); err != nil {
		_ = s.ResetWithError(network.StreamResourceLimitExceeded)
		return
	}
	_ = handle(id, s)
}

// SetStreamHandler has streams of a protocol handled.
func (h *tabHost) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	h.mux.AddHandler(id, handled(handle))
	_ = h.updated.Emit(event.EvtLocalProtocolsUpdated{Added: []protocol.ID{id}})
}

// SetStreamHandlerMatch has streams of matching protocols handled.
func (h *tabHost) SetStreamHandlerMatch(id protocol.ID, match func(protocol.ID) bool, handle network.StreamHandler) {
	h.mux.AddHandlerWithFunc(id, match, handled(handle))
	_ = h.updated.Emit(event.EvtLocalProtocolsUpdated{Added: []protocol.ID{id}})
}

func handled(handle network.StreamHandler) func(protocol.ID, io.ReadWriteCloser) error {
	return func(_ protocol.ID, s io.ReadWriteCloser) error {
		handle(s.(network.Stream)) // accept has negotiated with nothing else
		return nil
	}
}

// RemoveStreamHandler has streams of a protocol refused.
func (h *tabHost) RemoveStreamHandler(id protocol.ID) {
	h.mux.RemoveHandler(id)
	_ = h.updated.Emit(event.EvtLocalProtocolsUpdated{Removed: []protocol.ID{id}})
}

// Close ends the connections.
func (h *tabHost) Close() error {
	var err error
	h.once.Do(func() {
		err = errors.Join(h.ids.Close(), h.updated.Close(), h.net.Close(), h.gone.Close(), h.Peerstore().Close())
	})
	return err
}
