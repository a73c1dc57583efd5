// Package mesh connects peers: a libp2p host, native or in a tab, that says hello, gossips and carries direct messages.
//
// Floor 4, adapters: floors 5 and 6 import it.
//
// Every topic and protocol id but hello's names the run, so swarms of different runs never mix. Only messages of the
// protocol are handed up; a peer that repeatedly sends anything else is disconnected for an hour. What strangers can
// make this peer spend or remember is bounded, and shared by blocks of addresses: budget.go.
package mesh

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

var (
	// ErrAddress is returned for an address that cannot be dialed as it is written.
	ErrAddress = errors.New("bad address")
	// ErrUnreachable is returned where no peer answers, and by Send where the receiver is not linked.
	ErrUnreachable = errors.New("unreachable")
	// ErrWrongPeer is returned where another peer answers than the one that the address names.
	ErrWrongPeer = errors.New("another peer answers")
	// ErrForeign is returned where the other side is no evoswarm node, or one of another version.
	ErrForeign = errors.New("not an evoswarm node of this version")
	// ErrFull is returned by Send when the receiver falls behind; the message is dropped.
	ErrFull = errors.New("the queue is full")
	// ErrEntered is returned by a second Enter.
	ErrEntered = errors.New("already in a run")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("the mesh is closed")
)

// Config is what a mesh is made of. Zero values are defaults.
type Config struct {
	Key    ed25519.PrivateKey // required: the peer's identity
	Kind   coordinator.Kind   // Native or Tab
	Hub    bool               // whether others can dial this peer: wide gossip mesh, limits for the public
	Listen []string           // multiaddrs to listen on; natives only. None: dials out only
	Agent  string             // name and version that others see, such as "evonode/0.1.0"
	Peers  []string           // addresses of hubs to stay connected to (a bootstrap list, those saved)
	Hubs   int                // to how many hubs this peer keeps connections; zero: natives 32, tabs 3
	MDNS   bool               // find hubs in the local network; natives only
	// PortMap asks the router (UPnP, NAT-PMP) to open the listening ports; natives only.
	PortMap bool
	Logger  *slog.Logger // nil: none
}

// DefaultListen returns the addresses that a node listens on by default: port for TCP, WebSocket (which share it) and
// QUIC, on all interfaces. Port 0 lets the system choose.
func DefaultListen(port int) []string {
	p := strconv.Itoa(port)
	var list []string
	for _, ip := range []string{"/ip4/0.0.0.0", "/ip6/::"} {
		list = append(list, ip+"/tcp/"+p, ip+"/tcp/"+p+"/ws", ip+"/udp/"+p+"/quic-v1")
	}
	return list
}

// Hello is what a peer says of itself on first contact.
type Hello struct {
	Peer    seedlog.Peer
	Kind    coordinator.Kind
	Hub     bool
	Agent   string
	Run     string   // run id; empty: in no run
	Genesis []byte   // the run's spec; its link is Run (checked)
	Hubs    []string // full addresses of hubs that it knows, itself included if it is one
	Reached bool     // whether it could reach one of our own listening addresses: whether we can be a hub
}

// Event is one of Linked, Unlinked, Received.
type Event interface{ event() }

// Linked says that a peer of the same run is connected and has said hello.
type Linked struct {
	Peer seedlog.Peer
	Kind coordinator.Kind
	Hub  bool
}

// Unlinked says that the last connection to a linked peer is gone.
type Unlinked struct{ Peer seedlog.Peer }

// Received is a message: well-formed, its author authenticated, not seen before.
type Received struct {
	From    seedlog.Peer // who wrote it
	Via     seedlog.Peer // who handed it over; From itself on a direct stream
	Source  netip.Prefix // where Via is: shares are counted by blocks of addresses, since keys are free
	Message coordinator.Message
}

func (Linked) event()   {}
func (Unlinked) event() {}
func (Received) event() {}

// Mesh is a running host. Its methods are safe for concurrent use.
type Mesh struct {
	cfg    Config
	log    *slog.Logger
	self   seedlog.Peer
	host   host.Host
	bans   *bans
	events *queue
	book   *book
	probes chan struct{} // one slot per dial-back in progress

	neighbors *neighbors
	heard     *replays // gossip
	parcels   *replays
	parts     *parts

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	closed sync.Once
	mdns   io.Closer

	mu      sync.Mutex
	run     string // empty before Enter
	genesis []byte
	pubsub  *pubsub.PubSub
	topics  map[subject]*pubsub.Topic
	links   map[peer.ID]Linked
	outs    map[peer.ID]*outbox
	inbound map[peer.ID]int // open streams for direct messages
	queued  int             // bytes in all outboxes
	visits  visits
	number  uint64 // of the newest parcel
	// forgetting has the peers whose superseded connections gossip has not forgotten yet. Closed once it has.
	forgetting map[peer.ID]chan struct{}
}

// New starts a host that listens and answers hello. It joins nothing yet. ctx bounds the start only.
func New(ctx context.Context, cfg Config) (*Mesh, error) {
	if len(cfg.Key) != ed25519.PrivateKeySize {
		return nil, errors.New("the mesh needs a key")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if cfg.Hubs == 0 {
		cfg.Hubs = nativeHubs
		if cfg.Kind == coordinator.Tab {
			cfg.Hubs = tabHubs
		}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Mesh{
		cfg: cfg, log: cfg.Logger, self: seedlog.PeerOf(cfg.Key), events: newQueue(), book: newBook(),
		probes: make(chan struct{}, maxProbes), neighbors: newNeighbors(), heard: newReplays(), parcels: newReplays(), parts: newParts(),
		topics: make(map[subject]*pubsub.Topic), visits: newVisits(),
		links: make(map[peer.ID]Linked), outs: make(map[peer.ID]*outbox), inbound: make(map[peer.ID]int),
		forgetting: make(map[peer.ID]chan struct{}),
	}
	m.bans = newBans(m.neighbors.block)
	for _, addr := range cfg.Peers {
		info, err := parseAddr(addr)
		if err != nil {
			return nil, err
		}
		m.book.add(*info, block{}, true)
	}
	key, err := crypto.UnmarshalEd25519PrivateKey(cfg.Key)
	if err != nil {
		return nil, fmt.Errorf("identity key: %w", err)
	}
	if m.host, err = newHost(cfg, key, m.bans, m.neighbors); err != nil {
		return nil, err
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.host.Network().Notify(&network.NotifyBundle{
		ConnectedF: func(_ network.Network, c network.Conn) {
			m.neighbors.connected(c.RemotePeer(), c.RemoteMultiaddr(), c.Stat().Direction == network.DirOutbound)
			m.supersede(c)
		},
		DisconnectedF: func(_ network.Network, c network.Conn) {
			m.neighbors.disconnected(c.RemotePeer())
			m.unlink(c.RemotePeer())
		},
	})
	m.host.SetStreamHandler(helloProtocol, m.onHello)
	m.spawn(func() { m.events.pump(m.ctx) })
	m.spawn(m.keep)
	if cfg.MDNS {
		if m.mdns, err = startMDNS(m); err != nil {
			m.log.Warn("cannot search the local network for nodes", "err", err)
		}
	}
	return m, nil
}

// spawn runs f on a goroutine that Close waits for.
func (m *Mesh) spawn(f func()) {
	if m.ctx.Err() != nil {
		return
	}
	m.wg.Add(1)
	go func() {
		defer m.wg.Done()
		f()
	}()
}

// Self is this peer's key.
func (m *Mesh) Self() seedlog.Peer { return m.self }

// Addrs lists full addresses (with /p2p/) that others can dial. It may grow when the router opens a port.
func (m *Mesh) Addrs() []string {
	var list []string
	for _, a := range m.host.Addrs() {
		list = append(list, a.String()+"/p2p/"+m.host.ID().String())
	}
	return list
}

// Dial connects to a full address and exchanges hello. The peer is kept connected if it is a hub. The error wraps
// ErrAddress, ErrUnreachable, ErrWrongPeer or ErrForeign and says what to do.
func (m *Mesh) Dial(ctx context.Context, addr string) (Hello, error) {
	info, err := parseAddr(addr)
	if err != nil {
		return Hello{}, err
	}
	if info.ID == m.host.ID() {
		return Hello{}, fmt.Errorf("%w: %s is this node itself", ErrAddress, addr)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	hello, err := m.meet(ctx, *info)
	if run := m.runID(); err == nil && hello.Hub && (run == "" || hello.Run == run) {
		m.book.add(*info, block{}, true)
		m.book.succeeded(info.ID)
	}
	return hello, err
}

// Enter joins the run whose spec is genesis: its topic and its protocol for direct messages. Peers of that run that are
// connected already are linked.
func (m *Mesh) Enter(genesis []byte) error {
	if m.ctx.Err() != nil {
		return ErrClosed
	}
	run := seedlog.LinkOf(genesis).String()
	m.mu.Lock()
	entered := m.run != ""
	if !entered {
		m.run, m.genesis = run, genesis
	}
	m.mu.Unlock()
	if entered {
		return ErrEntered
	}
	if err := m.joinTopics(run); err != nil {
		return err
	}
	m.host.SetStreamHandler(directProtocol(run), m.onDirect)
	for _, id := range m.host.Network().Peers() {
		m.spawn(func() {
			ctx, cancel := context.WithTimeout(m.ctx, dialTimeout)
			defer cancel()
			if _, err := m.sayHello(ctx, id); err != nil {
				m.log.Debug("hello failed", "peer", id, "err", err)
			}
		})
	}
	return nil
}

// Events is closed by Close. Linked and Unlinked are never lost and come in order; gossip is dropped while
// the channel is not read; direct messages wait at the sender.
func (m *Mesh) Events() <-chan Event { return m.events.out }

// Links lists the linked peers, sorted.
func (m *Mesh) Links() []Linked {
	m.mu.Lock()
	list := slices.Collect(maps.Values(m.links))
	m.mu.Unlock()
	slices.SortFunc(list, func(a, b Linked) int { return a.Peer.Compare(b.Peer) })
	return list
}

// link reports a connected peer of the same run.
func (m *Mesh) link(id peer.ID, l Linked) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.links[id]; known || m.host.Network().Connectedness(id) != network.Connected || m.bans.banned(id) {
		return
	}
	m.links[id] = l
	if l.Hub && m.neighbors.proven(id) {
		m.host.ConnManager().Protect(id, "hub")
	}
	m.events.link(l)
	m.release(id)
	m.log.Debug("linked", "peer", l.Peer.Short(), "hub", l.Hub)
}

// parallel is within what time a peer may dial several addresses of this one, to keep the connection that is up first.
const parallel = 3 * time.Second

// supersede closes the connections that a peer had dialed before it dialed c. A peer dials again only when it has lost
// them, after a crash or on another network, and this side would go unheard on them until they time out. It runs before
// anything is received on c.
func (m *Mesh) supersede(c network.Conn) {
	if c.Stat().Direction != network.DirInbound {
		return
	}
	id := c.RemotePeer()
	var lost []network.Conn
	for _, old := range m.host.Network().ConnsToPeer(id) {
		if old.Stat().Direction == network.DirInbound && c.Stat().Opened.Sub(old.Stat().Opened) > parallel {
			lost = append(lost, old)
		}
	}
	if len(lost) == 0 {
		return
	}
	m.mu.Lock()
	m.removeLink(id) // its hello links it again
	if m.pubsub != nil && m.forgetting[id] == nil {
		m.forgetting[id] = make(chan struct{})
	}
	m.mu.Unlock()
	for _, old := range lost {
		_ = old.Close()
	}
}

// forgetful is how long gossip may take to see that a connection has ended.
const forgetful = 5 * time.Second

// awaitForgotten returns once gossip has forgotten the connections of a peer that were superseded. When gossip sees one
// end, it forgets which topics the peer is subscribed to, those too that the peer has named on its new connection, and
// the peer names them only once.
func (m *Mesh) awaitForgotten(id peer.ID) {
	m.mu.Lock()
	done := m.forgetting[id]
	m.mu.Unlock()
	if done == nil {
		return
	}
	select {
	case <-done:
	case <-time.After(forgetful):
		m.forgotten(id)
	case <-m.ctx.Done():
	}
}

// forgotten notes that gossip has nothing of a peer's superseded connections any more.
func (m *Mesh) forgotten(id peer.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if done := m.forgetting[id]; done != nil {
		close(done)
		delete(m.forgetting, id)
	}
}

// unlink runs after every disconnection; only the last one counts.
func (m *Mesh) unlink(id peer.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.host.Network().Connectedness(id) != network.Connected {
		m.removeLink(id)
		delete(m.forgetting, id)
	}
}

// removeLink reports that a peer is not linked any more. The caller holds mu.
func (m *Mesh) removeLink(id peer.ID) {
	l, known := m.links[id]
	if !known {
		return
	}
	delete(m.links, id)
	delete(m.visits.used, id)
	m.host.ConnManager().Unprotect(id, "hub")
	m.events.link(Unlinked{l.Peer})
	m.log.Debug("unlinked", "peer", l.Peer.Short())
}

// Ban disconnects a peer for an hour.
func (m *Mesh) Ban(p seedlog.Peer) {
	if id, err := IDOf(p); err == nil && p != m.self {
		m.ban(id, "it broke the rules of the run")
	}
}

func (m *Mesh) ban(id peer.ID, why string) {
	m.bans.ban(id)
	m.book.remove(id)
	m.log.Warn("disconnected a peer for an hour", "peer", id, "why", why)
	m.mu.Lock()
	ps := m.pubsub
	m.mu.Unlock()
	m.spawn(func() {
		if ps != nil {
			ps.BlacklistPeer(id)
		}
		if err := m.host.Network().ClosePeer(id); err != nil {
			m.log.Debug("closing a connection", "peer", id, "err", err)
		}
	})
}

// offend counts what only a broken or hostile peer does; the third time within an hour the peer is banned.
func (m *Mesh) offend(id peer.ID, why string) {
	m.log.Info("a peer sent something invalid", "peer", id, "why", why)
	if id != m.host.ID() && m.bans.strike(id) {
		m.ban(id, why)
	}
}

// Close leaves and stops everything.
func (m *Mesh) Close() error {
	var err error
	m.closed.Do(func() {
		m.cancel()
		m.events.close()
		if m.mdns != nil {
			err = m.mdns.Close()
		}
		err = errors.Join(err, m.host.Close())
		m.wg.Wait()
	})
	return err
}
