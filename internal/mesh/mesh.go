// Package mesh connects peers: a libp2p host, native or in a tab, that says hello, gossips and carries direct messages.
//
// Every topic and protocol id but hello's names the run, so swarms of different runs never mix. What is not a message
// of the protocol is never handed up: who sends such things is cut off for an hour when it does so repeatedly.
package mesh

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

var (
	// ErrAddress is returned for an address that cannot be dialled as it is written.
	ErrAddress = errors.New("mesh: bad address")
	// ErrUnreachable is returned where nobody answers, and by Send where no way to the receiver is known.
	ErrUnreachable = errors.New("mesh: unreachable")
	// ErrWrongPeer is returned where somebody else answers than the address says.
	ErrWrongPeer = errors.New("mesh: somebody else answers")
	// ErrForeign is returned where the other side is no evoswarm node or speaks another version.
	ErrForeign = errors.New("mesh: not an evoswarm node of this version")
	// ErrFull is returned by Send when the receiver does not keep up; the message is dropped.
	ErrFull = errors.New("mesh: queue full")
	// ErrEntered is returned by a second Enter.
	ErrEntered = errors.New("mesh: already in a run")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("mesh: closed")
)

// Config is what a mesh is made of. Zero values are defaults.
type Config struct {
	Key    ed25519.PrivateKey // required: the peer's identity
	Kind   coordinator.Kind   // Native or Tab
	Hub    bool               // whether others can dial this peer: wide gossip mesh, limits for the public
	Listen []string           // multiaddrs to listen on; natives only. None: dials out only
	Agent  string             // name and version that others see, such as "evonode/0.1.0"
	Peers  []string           // addresses of hubs to keep connected with (a bootstrap list, those remembered)
	MDNS   bool               // find hubs in the local network; natives only
	// PortMap asks the router (UPnP, NAT-PMP) to open the listening ports; natives only.
	PortMap bool
	Logger  *slog.Logger // nil: none
}

// DefaultListen returns the addresses that a node listens on unless told otherwise: port for TCP and QUIC, and
// for WebSocket the same TCP port.
func DefaultListen(port int) []string { return nil }

// Hello is what a peer says of itself when it is met.
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
	Message coordinator.Message
}

func (Linked) event()   {}
func (Unlinked) event() {}
func (Received) event() {}

// Mesh is a running host. Its methods are safe for concurrent use.
type Mesh struct{}

// New starts a host that listens and answers hello. It joins nothing yet. ctx bounds the start only.
func New(ctx context.Context, cfg Config) (*Mesh, error) { return nil, ErrClosed }

// Self is this peer's key.
func (m *Mesh) Self() seedlog.Peer { return seedlog.Peer{} }

// Addrs lists full addresses (with /p2p/) that others can dial. It may grow when the router opens a port.
func (m *Mesh) Addrs() []string { return nil }

// Dial connects to a full address and exchanges hello. The peer is kept connected if it is a hub. The error wraps
// ErrAddress, ErrUnreachable, ErrWrongPeer or ErrForeign and says what to do.
func (m *Mesh) Dial(ctx context.Context, addr string) (Hello, error) { return Hello{}, ErrClosed }

// Enter joins the run whose spec is genesis: its topic and its protocol for direct messages. Peers of that run that are
// connected already are linked.
func (m *Mesh) Enter(genesis []byte) error { return ErrClosed }

// Gossip publishes an encoded message to everybody in the run.
func (m *Mesh) Gossip(data []byte) error { return ErrClosed }

// Send queues an encoded message for one peer and returns at once: the error wraps ErrFull or ErrUnreachable. What was
// queued may still be lost when the connection breaks; it is counted and logged then.
func (m *Mesh) Send(to seedlog.Peer, data []byte) error { return ErrClosed }

// SendHubs queues an encoded message for every linked hub. It fails if there is none.
func (m *Mesh) SendHubs(data []byte) error { return ErrClosed }

// Events is closed by Close. Linked and Unlinked are never lost and come in order; gossip is dropped while nobody
// reads; direct messages wait at the sender.
func (m *Mesh) Events() <-chan Event { return nil }

// Links lists the linked peers, sorted.
func (m *Mesh) Links() []Linked { return nil }

// Hubs lists full addresses of the hubs that answered lately: worth remembering for the next start.
func (m *Mesh) Hubs() []string { return nil }

// Ban cuts a peer off for an hour.
func (m *Mesh) Ban(p seedlog.Peer) {}

// Flush waits until all queued messages are written, or ctx ends.
func (m *Mesh) Flush(ctx context.Context) error { return nil }

// Close leaves and stops everything.
func (m *Mesh) Close() error { return nil }
