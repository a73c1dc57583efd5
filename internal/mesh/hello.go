package mesh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

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
	return &helloMessage{Kind: m.cfg.Kind, Hub: m.isHub(c), Agent: m.cfg.Agent, Run: run, Addrs: m.ownAddrs(c, byWay), Probe: m.asksBack(c)}
}

// ownAddrs lists addresses of this peer for the other side of a connection: through relays if others cannot dial it,
// and first those that the user announced in its network, then those of the interface that the connection is on.
func (m *Mesh) ownAddrs(c network.Conn, ways []Way) []string {
	addrs := append(m.circuits(), m.host.Addrs()...)
	in := scopeOf(c.RemoteMultiaddr())
	if ip, err := manet.ToIP(c.LocalMultiaddr()); err == nil {
		elsewhere := func(a ma.Multiaddr) int {
			if m.announcer.first(a, in) {
				return 0
			}
			if at, err := manet.ToIP(a); err == nil && at.Equal(ip) {
				return 1
			}
			return 2
		}
		slices.SortStableFunc(addrs, func(a, b ma.Multiaddr) int { return elsewhere(a) - elsewhere(b) })
	}
	return full(m.host.ID(), addrs, c.RemoteMultiaddr(), ways)
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
	m.checkPlace(info.ID, hello.Run)
	return hello, nil
}

// A node that works on several runs has an address for each, all under one key. Who is connected to one of them is not
// at the others.

// Leave closes the connections to a peer and forgets where it is: it works on another run there, and may be dialed at
// another address.
func (m *Mesh) Leave(p seedlog.Peer) {
	id, err := IDOf(p)
	if err != nil {
		return
	}
	_ = m.host.Network().ClosePeer(id)
	m.host.Peerstore().ClearAddrs(id)
}

// checkPlace leaves a peer that this one dialed and that answers for another run, and forgets that it is there. One
// that has no run yet may get this one.
func (m *Mesh) checkPlace(id peer.ID, run string) {
	own := m.runID()
	if own == "" || run == "" || run == own || m.isLinked(id) {
		return
	}
	for _, c := range m.host.Network().ConnsToPeer(id) {
		if c.Stat().Direction == network.DirOutbound {
			m.book.misplaced(id, c.RemoteMultiaddr())
			_ = c.Close()
		}
	}
	m.host.Peerstore().ClearAddrs(id)
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
	question := m.question(s.Conn())
	answer, err := ask(s, question)
	if err != nil {
		if question.Probe {
			m.standing.unheard(id, blockOf(s.Conn().RemoteMultiaddr()))
		}
		_ = s.Reset()
		if errors.Is(err, errHello) {
			m.offend(id, err.Error())
		}
		return Hello{}, err
	}
	hello, err := m.met(id, s.Conn(), answer)
	if question.Probe {
		m.judged(s.Conn(), answer.Reached)
	}
	return hello, err
}

// helloAgain tells a neighbor what this peer is now, and hears what the neighbor is.
func (m *Mesh) helloAgain(id peer.ID) {
	ctx, cancel := context.WithTimeout(m.ctx, helloTimeout)
	defer cancel()
	if _, err := m.sayHello(ctx, id); err != nil {
		m.log.Debug("hello failed", "peer", id, "err", err)
	}
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
	m.neighbors.greet(id)
	tab, circuit := isTab(c.RemoteMultiaddr()), isCircuit(c.RemoteMultiaddr())
	relayed := h.Kind == coordinator.Native && !h.Hub && len(ownCircuits(id, h)) > 0
	if run != "" && h.Run == run {
		m.link(id, Linked{Peer: p, Kind: h.Kind, Hub: h.Hub && !tab && !circuit, Relayed: relayed && !tab, Tab: tab})
	}
	return Hello{Peer: p, Kind: h.Kind, Hub: h.Hub && !circuit, Relayed: relayed, Agent: h.Agent, Run: h.Run, Genesis: h.Genesis, Hubs: h.Hubs, Reached: h.Reached}, nil
}

// ownCircuits lists the addresses through relays that a peer says it has.
func ownCircuits(id peer.ID, h *helloMessage) []ma.Multiaddr {
	var list []ma.Multiaddr
	for _, a := range h.Addrs {
		if info, err := parseAddr(a); err == nil && info.ID == id && isCircuit(info.Addrs[0]) {
			list = append(list, info.Addrs...)
		}
	}
	return list
}

// learn remembers the hubs that a peer names, and the peer itself if it is one or has relays that lead to it.
func (m *Mesh) learn(id peer.ID, c network.Conn, h *helloMessage) {
	from := c.RemoteMultiaddr()
	at, dialed := m.neighbors.block(id), chosen(c)
	if !h.Hub && h.Kind == coordinator.Native {
		m.book.sheltered(id, slices.DeleteFunc(ownCircuits(id, h), func(a ma.Multiaddr) bool { return !useful(a, from) }), at)
	}
	if h.Hub && !isCircuit(from) {
		own := peer.AddrInfo{ID: id}
		if dialed && dialable(from) {
			own.Addrs = append(own.Addrs, from)
		}
		for _, a := range h.Addrs {
			if info, err := parseAddr(a); err == nil && info.ID == id && useful(info.Addrs[0], from) {
				own.Addrs = append(own.Addrs, info.Addrs...)
			}
		}
		m.book.add(own, at, false)
		m.book.renew(own)
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
	from, ways := c.RemoteMultiaddr(), byWay
	if q.Kind == coordinator.Tab {
		ways = ofTabs
	}
	a := &helloMessage{Kind: m.cfg.Kind, Hub: m.isHub(c), Agent: m.cfg.Agent, Run: run, Addrs: m.ownAddrs(c, ways)}
	if m.cfg.Hub && !a.Hub { // at its own addresses nobody finds it
		a.Addrs = full(m.host.ID(), m.circuits(), from, ways)
	}
	if q.Run != run {
		a.Genesis = genesis
	}
	if m.cfg.Hub {
		a.Hubs = append(a.Hubs, a.Addrs...)
	}
	for _, info := range append(m.book.good(), m.relayedHere()...) {
		if info.ID != c.RemotePeer() && len(a.Hubs) < maxHelloHubs-maxAddrsPerHub {
			a.Hubs = append(a.Hubs, full(info.ID, info.Addrs, from, ways)...)
		}
	}
	if q.Probe {
		a.Reached = m.probe(c, q.Addrs)
	}
	return a
}
