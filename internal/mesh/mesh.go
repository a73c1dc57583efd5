// Package mesh connects peers: a libp2p host, native or in a tab, that says hello, gossips and carries direct messages.
//
// Floor 4, adapters: floors 5 and 6 import it.
//
// Every topic names the run, and every protocol id but those of hello and of gossipsub for other programs, so swarms of
// different runs never mix. Only messages of the
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
	"net/netip"
	"slices"
	"strconv"
	"sync"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

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
	MDNS   bool               // find hubs of the run in the local network; natives only
	// Hosts is how many meshes this process has at the same time, one for each run, which share what strangers may make
	// it hold; zero: one. Natives only.
	Hosts int
	// PerAddress is how many connections an IP address may have; zero: ConnsPerAddress. Natives only.
	PerAddress int
	// PortMap asks the router (UPnP, NAT-PMP) to open the listening ports; natives only.
	PortMap bool
	// Announce has addresses at which the user says that others can dial this peer, besides those that it finds itself:
	// see ParseAnnounced. Natives only.
	Announce []string
	Secure   Secure   // of listeners for WebSocket over TLS (/tls/ws); natives only
	Relays   []string // full addresses of hubs of any run at which to have a place if nobody can dial this peer; natives only
	// Reached is told, where others reach this peer over relays, at which addresses they do, whenever these change;
	// nil: nobody is. Natives only.
	Reached func(addrs []string)
	Logger  *slog.Logger // nil: none
}

// ConnsPerAddress is how many connections an IP address may have: classrooms, offices and carriers put many behind one,
// and a stranger with one address takes no more. Where MaxConnsPerAddress are allowed, others still find places.
const (
	ConnsPerAddress    = 256
	MaxConnsPerAddress = 2000
)

// DefaultListen returns the addresses that a node listens on by default, on all interfaces: a TCP port that TCP and
// WebSocket share, and the UDP port of the same number, which QUIC, WebTransport and WebRTC-Direct share.
func DefaultListen(port int) []string {
	p := strconv.Itoa(port)
	var list []string
	for _, ip := range []string{"/ip4/0.0.0.0", "/ip6/::"} {
		udp := ip + "/udp/" + p
		list = append(list, ip+"/tcp/"+p, ip+"/tcp/"+p+"/ws", udp+"/quic-v1", udp+"/quic-v1/webtransport", udp+"/webrtc-direct")
	}
	return list
}

// SecureListen returns the addresses on which a node with a certificate listens besides: for WebSocket over TLS, on the
// TCP port of the others.
func SecureListen(port int) []string {
	p := strconv.Itoa(port)
	return []string{"/ip4/0.0.0.0/tcp/" + p + "/tls/ws", "/ip6/::/tcp/" + p + "/tls/ws"}
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
	Relayed bool     // a native that does what hubs do, but that only relays lead to
	Reached bool     // whether it could reach one of our own listening addresses: whether we can be a hub
}

// Event is one of Linked, Unlinked, Received.
type Event interface{ event() }

// Linked says that a peer of the same run is connected and has said hello.
type Linked struct {
	Peer seedlog.Peer
	Kind coordinator.Kind
	Hub  bool
	// Relayed says that only relays lead to it, but that it does what hubs do.
	Relayed bool
	Tab     bool // browsers connect it to this tab
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
	probes *probes

	neighbors *neighbors
	heard     *replays // gossip
	parcels   *replays
	parts     *parts
	tabs      *tabLinks
	standing  *standing
	reserved  *reservations
	announcer announcer
	hops      *hops                                        // nil: this peer does not relay
	puncher   *puncher                                     // nil: this peer does not listen
	acceptTab func(from, via peer.ID, offer *signal) error // nil: this peer is not connected to tabs by browsers

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	closed sync.Once

	mu      sync.Mutex
	mdns    io.Closer // nil: nobody is searched for in the local network
	run     string    // empty before Enter
	genesis []byte
	pubsub  *pubsub.PubSub
	topics  map[subject]*pubsub.Topic
	hearing map[subject]context.CancelFunc // ends what was subscribed to; nil: nothing is
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
		probes: newProbes(), neighbors: newNeighbors(), heard: newReplays(), parcels: newReplays(), parts: newParts(), tabs: newTabLinks(),
		standing: newStanding(), reserved: newReservations(), topics: make(map[subject]*pubsub.Topic), hearing: make(map[subject]context.CancelFunc), visits: newVisits(),
		links: make(map[peer.ID]Linked), outs: make(map[peer.ID]*outbox), inbound: make(map[peer.ID]int),
		forgetting: make(map[peer.ID]chan struct{}),
	}
	m.bans = newBans(m.neighbors.block)
	m.bans.backs = m.standing.dialsBack
	for _, addr := range cfg.Peers {
		info, err := parseAddr(addr)
		if err != nil {
			return nil, err
		}
		m.book.add(*info, block{}, true)
	}
	for _, addr := range cfg.Relays {
		if _, err := parseAddr(addr); err != nil {
			return nil, err
		}
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
			m.neighbors.connected(c.RemotePeer(), c.RemoteMultiaddr(), chosen(c))
			m.supersede(c)
			m.leaveCircuits(c)
		},
		DisconnectedF: func(_ network.Network, c network.Conn) {
			m.neighbors.disconnected(c.RemotePeer())
			m.unlink(c.RemotePeer())
		},
	})
	m.host.SetStreamHandler(helloProtocol, m.onHello)
	if err := errors.Join(m.openToTabs(key), m.offerRelay(), m.openPuncher(), m.announce()); err != nil {
		return nil, errors.Join(err, m.host.Close())
	}
	m.spawn(func() { m.events.pump(m.ctx) })
	m.spawn(m.keep)
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

// Addrs lists full addresses (with /p2p/) that others can dial, by way; those through relays last. It may grow when
// the router opens a port, and those of WebTransport change when its certificate is renewed, every fourteen days;
// they hold the next one, too.
func (m *Mesh) Addrs() []string {
	addrs := m.host.Addrs()
	slices.SortStableFunc(addrs, func(a, b ma.Multiaddr) int {
		return slices.Index(byWay, wayOf(a)) - slices.Index(byWay, wayOf(b))
	})
	var list []string
	for _, a := range append(addrs, m.circuits()...) {
		list = append(list, fullText(m.host.ID(), a))
	}
	return list
}

// meetAt exchanges hello at a full address of another peer. info is nil if the address is none.
func (m *Mesh) meetAt(ctx context.Context, addr string) (info *peer.AddrInfo, hello Hello, err error) {
	if info, err = parseAddr(addr); err != nil {
		return nil, Hello{}, err
	}
	if info.ID == m.host.ID() {
		return nil, Hello{}, fmt.Errorf("%w: %s is this node itself", ErrAddress, addr)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	hello, err = m.meet(ctx, *info)
	return info, hello, err
}

// Dial connects to a full address and exchanges hello. The peer is kept connected if it is a hub. The error wraps
// ErrAddress, ErrUnreachable, ErrWrongPeer or ErrForeign and says what to do.
func (m *Mesh) Dial(ctx context.Context, addr string) (Hello, error) {
	info, hello, err := m.meetAt(ctx, addr)
	if run := m.runID(); err == nil && (hello.Hub || hello.Relayed) && (run == "" || hello.Run == run) {
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
	if m.cfg.MDNS {
		m.searchLocally(run)
	}
	m.host.SetStreamHandler(tabsProtocol(run), m.onTabs)
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

// searchLocally finds the nodes of a run in the local network, and is found by them.
func (m *Mesh) searchLocally(run string) {
	service, err := startMDNS(m, run)
	if err != nil {
		m.log.Warn("cannot search the local network for nodes", "err", err)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mdns = service
}

// Events is closed by Close. Linked and Unlinked are never lost and come in order; gossip is dropped while
// the channel is not read; direct messages wait at the sender.
func (m *Mesh) Events() <-chan Event { return m.events.out }

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
		m.mu.Lock()
		mdns := m.mdns
		m.mu.Unlock()
		if mdns != nil {
			err = mdns.Close()
		}
		err = errors.Join(err, m.hops.close(), m.puncher.close(), m.host.Close())
		m.wg.Wait()
	})
	return err
}
