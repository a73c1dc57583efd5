package mesh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Limits of a hello.
const (
	maxHelloBytes  = 64 << 10
	maxHelloHubs   = 128 // addresses
	maxAddrsPerHub = 8
	maxAgentBytes  = 128
	helloTimeout   = 15 * time.Second
)

// helloMessage is a hello on the wire, a CBOR tuple, in both directions.
type helloMessage struct {
	_       struct{} `cbor:",toarray"`
	Kind    coordinator.Kind
	Hub     bool
	Agent   string
	Run     string   // empty: in no run
	Genesis []byte   // in answers only
	Addrs   []string // where the sender listens
	Hubs    []string // hubs that the sender knows; in answers only
	Probe   bool     // in questions: whether the other side should try Addrs
	Reached bool     // in answers: whether it reached one of them
}

var helloMode = func() cbor.DecMode {
	m, err := cbor.DecOptions{IndefLength: cbor.IndefLengthForbidden, MaxArrayElements: 1 << 8, MaxMapPairs: 16, MaxNestedLevels: 4}.DecMode()
	if err != nil {
		panic("mesh: " + err.Error())
	}
	return m
}()

var errHello = errors.New("malformed hello")

// decodeHello reads a hello and checks all that can be checked locally.
func decodeHello(data []byte) (*helloMessage, error) {
	h := new(helloMessage)
	if err := helloMode.Unmarshal(data, h); err != nil {
		return nil, fmt.Errorf("%w: %v", errHello, err)
	}
	switch {
	case h.Kind > coordinator.Tab:
		return nil, fmt.Errorf("%w: unknown kind of peer %d", errHello, h.Kind)
	case len(h.Agent) > maxAgentBytes:
		return nil, fmt.Errorf("%w: agent of %d bytes", errHello, len(h.Agent))
	case len(h.Addrs) > maxAddrsPerHub || len(h.Hubs) > maxHelloHubs:
		return nil, fmt.Errorf("%w: %d addresses and %d hubs", errHello, len(h.Addrs), len(h.Hubs))
	}
	if h.Run != "" {
		link, err := seedlog.ParseLink(h.Run)
		if err != nil || link.String() != h.Run {
			return nil, fmt.Errorf("%w: run id %.80q", errHello, h.Run)
		}
	}
	if len(h.Genesis) > 0 && seedlog.LinkOf(h.Genesis).String() != h.Run {
		return nil, fmt.Errorf("%w: the genesis block is not that of run %s", errHello, h.Run)
	}
	return h, nil
}

// question is what this peer says of itself first.
func (m *Mesh) question(c network.Conn) *helloMessage {
	m.mu.Lock()
	run := m.run
	m.mu.Unlock()
	return &helloMessage{Kind: m.cfg.Kind, Hub: m.cfg.Hub, Agent: m.cfg.Agent, Run: run,
		Addrs: full(m.host.ID(), m.host.Addrs(), c.RemoteMultiaddr()), Probe: run == "" && len(m.cfg.Listen) > 0}
}

// meet connects to a peer and exchanges hello.
func (m *Mesh) meet(ctx context.Context, info peer.AddrInfo) (Hello, error) {
	if m.bans.banned(info.ID) {
		return Hello{}, fmt.Errorf("%w: %s is banned for now because it sent invalid data", ErrUnreachable, info.ID)
	}
	forgetBackoff(m.host, info.ID)
	if err := m.host.Connect(ctx, info); err != nil {
		return Hello{}, explain(err, info)
	}
	hello, err := m.sayHello(ctx, info.ID)
	if err != nil {
		return Hello{}, explain(m.older(info.ID, err), info)
	}
	return hello, nil
}

// errOlder is returned where the other side speaks an earlier version of the protocol.
var errOlder = errors.New("it speaks an earlier version of the protocol")

// older tells a program of an earlier version from one that is no evoswarm node.
func (m *Mesh) older(id peer.ID, err error) error {
	if m.isOlder(id) {
		return fmt.Errorf("%w: %w", errOlder, err)
	}
	return err
}

// isOlder reports whether a connected peer answers only to the names of earlier versions.
func (m *Mesh) isOlder(id peer.ID) bool {
	store := m.host.Peerstore()
	now, err := store.SupportsProtocols(id, helloProtocol)
	if err != nil || len(now) > 0 {
		return false
	}
	before, err := store.SupportsProtocols(id, olderHello...)
	return err == nil && len(before) > 0
}

// sayHello exchanges hello with a connected peer, and links it if it is in the same run.
func (m *Mesh) sayHello(ctx context.Context, id peer.ID) (Hello, error) {
	s, err := m.host.NewStream(network.WithNoDial(ctx, "hello"), id, helloProtocol)
	if err != nil {
		return Hello{}, err
	}
	defer s.Close()
	answer, err := ask(s, m.question(s.Conn()))
	if err != nil {
		_ = s.Reset()
		if errors.Is(err, errHello) {
			m.offend(id, err.Error())
		}
		return Hello{}, err
	}
	return m.met(id, s.Conn(), answer)
}

func ask(s network.Stream, q *helloMessage) (*helloMessage, error) {
	_ = s.SetDeadline(time.Now().Add(helloTimeout))
	if _, err := s.Write(seedlog.Encode(q)); err != nil {
		return nil, err
	}
	if err := s.CloseWrite(); err != nil {
		return nil, err
	}
	data, err := readAll(s)
	if err != nil {
		return nil, err
	}
	return decodeHello(data)
}

func readAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxHelloBytes+1))
	if err == nil && len(data) > maxHelloBytes {
		err = fmt.Errorf("%w: over %d bytes", errHello, maxHelloBytes)
	}
	return data, err
}

// met takes in what a peer said: addresses for the book, and a link if the run is the same.
func (m *Mesh) met(id peer.ID, c network.Conn, h *helloMessage) (Hello, error) {
	p, err := PeerOf(id)
	if err != nil {
		return Hello{}, err
	}
	m.mu.Lock()
	run := m.run
	m.mu.Unlock()
	if run == "" || h.Run == run {
		m.learn(id, c, h)
	}
	if run != "" && h.Run == run {
		m.link(id, Linked{Peer: p, Kind: h.Kind, Hub: h.Hub})
	}
	return Hello{Peer: p, Kind: h.Kind, Hub: h.Hub, Agent: h.Agent, Run: h.Run, Genesis: h.Genesis, Hubs: h.Hubs, Reached: h.Reached}, nil
}

// learn remembers the hubs that a peer names, and the peer itself if it is one.
func (m *Mesh) learn(id peer.ID, c network.Conn, h *helloMessage) {
	from := c.RemoteMultiaddr()
	at, dialed := m.neighbors.block(id), c.Stat().Direction == network.DirOutbound
	if h.Hub {
		own := peer.AddrInfo{ID: id}
		for _, a := range h.Addrs {
			if info, err := parseAddr(a); err == nil && info.ID == id && useful(info.Addrs[0], from) {
				own.Addrs = append(own.Addrs, info.Addrs...)
			}
		}
		if dialed {
			own.Addrs = append(own.Addrs, from)
		}
		m.book.add(own, at, false)
		if dialed { // else it is its own word: see prove
			m.book.succeeded(id)
		}
	}
	for _, a := range h.Hubs {
		if info, err := parseAddr(a); err == nil && info.ID != m.host.ID() && useful(info.Addrs[0], from) {
			m.book.add(*info, at, false)
		}
	}
}

// onHello answers.
func (m *Mesh) onHello(s network.Stream) {
	defer s.Close()
	id := s.Conn().RemotePeer()
	if !m.neighbors.take(id, hellos, 1) {
		_ = s.Reset()
		m.offend(id, "it says hello all the time")
		return
	}
	_ = s.SetDeadline(time.Now().Add(helloTimeout))
	q, err := readQuestion(s)
	if err != nil {
		_ = s.Reset()
		if errors.Is(err, errHello) {
			m.offend(id, err.Error())
		}
		return
	}
	if _, err := m.met(id, s.Conn(), q); err != nil {
		_ = s.Reset()
		return
	}
	if _, err := s.Write(seedlog.Encode(m.answer(s.Conn(), q))); err != nil {
		_ = s.Reset()
	}
}

func readQuestion(r io.Reader) (*helloMessage, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	return decodeHello(data)
}

func (m *Mesh) answer(c network.Conn, q *helloMessage) *helloMessage {
	m.mu.Lock()
	run, genesis := m.run, m.genesis
	m.mu.Unlock()
	from := c.RemoteMultiaddr()
	a := &helloMessage{Kind: m.cfg.Kind, Hub: m.cfg.Hub, Agent: m.cfg.Agent, Run: run, Addrs: full(m.host.ID(), m.host.Addrs(), from)}
	if q.Run != run {
		a.Genesis = genesis
	}
	if m.cfg.Hub {
		a.Hubs = append(a.Hubs, a.Addrs...)
	}
	for _, info := range m.book.good() {
		if info.ID != c.RemotePeer() && len(a.Hubs) < maxHelloHubs-maxAddrsPerHub {
			a.Hubs = append(a.Hubs, full(info.ID, info.Addrs, from)...)
		}
	}
	if q.Probe {
		a.Reached = m.probe(c, q.Addrs)
	}
	return a
}
