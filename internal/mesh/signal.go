package mesh

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// signaled is the first byte of a parcel that tells how two tabs connect. No message of the coordinator has it.
const signaled = 255

// Limits of a signal. What a stranger tells goes into a description for the browser, so each field is of few
// characters.
const (
	maxSignalBytes = 2 << 10
	maxPlaces      = 8
	minSecret      = 4 // characters of an ICE user name and password, by RFC 8839
	maxSecret      = 64
)

// signalKind is what a signal is for.
type signalKind uint8

const (
	offering  signalKind = iota // the author would like a connection
	answering                   // the author takes the one that was offered
	refusing                    // it does not
)

// signal is what tabs tell each other to connect, over peers that both are connected to. It goes as a parcel, which its
// author signs, so the certificate that it names is that of its author.
type signal struct {
	_      struct{} `cbor:",toarray"`
	Kind   signalKind
	Number uint64 // of the offer: its answer repeats it
	Theirs description
}

// description is what a browser has to know of another one to connect to it.
type description struct {
	_           struct{} `cbor:",toarray"`
	User        string   // of ICE, as the password
	Password    string
	Fingerprint []byte // SHA-256 of its certificate
	Places      []place
}

// place is an address of a browser, over UDP.
type place struct {
	_        struct{} `cbor:",toarray"`
	Host     string   // an IP address, or a name in the local network
	Port     uint16
	Priority uint32
}

var errSignal = errors.New("malformed signal")

var signalMode = func() cbor.DecMode {
	m, err := cbor.DecOptions{IndefLength: cbor.IndefLengthForbidden, MaxArrayElements: 16, MaxMapPairs: 16, MaxNestedLevels: 5}.DecMode()
	if err != nil {
		panic("mesh: " + err.Error())
	}
	return m
}()

// isSecret reports whether a text is written as browsers write user names and passwords. This and isLocalName are no
// regular expressions: those would be 2 % of what a tab downloads.
func isSecret(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '+' && r != '/'
	}) < 0
}

// isLocalName reports whether a name is what browsers call themselves in the local network instead of their address:
// 00000000-0000-0000-0000-000000000000.local, in lower case.
func isLocalName(name string) bool {
	id, local := strings.CutSuffix(name, ".local")
	for i, c := range []byte(id) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') || !dash && (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return local && len(id) == 36
}

func (s *signal) encode() []byte { return append([]byte{signaled}, seedlog.Encode(s)...) }

// decodeSignal reads a signal and checks all of it, since it comes from anybody.
func decodeSignal(data []byte) (*signal, error) {
	if len(data) == 0 || data[0] != signaled || len(data) > maxSignalBytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are allowed", errSignal, len(data), maxSignalBytes)
	}
	s := new(signal)
	if err := signalMode.Unmarshal(data[1:], s); err != nil {
		return nil, fmt.Errorf("%w: %v", errSignal, err)
	}
	switch {
	case s.Kind > refusing:
		return nil, fmt.Errorf("%w: unknown kind %d", errSignal, s.Kind)
	case s.Kind == refusing:
		return s, nil
	}
	return s, s.Theirs.check()
}

// check refuses what no browser says of itself.
func (d *description) check() error {
	for _, secret := range []string{d.User, d.Password} {
		if len(secret) < minSecret || len(secret) > maxSecret || !isSecret(secret) {
			return fmt.Errorf("%w: user name or password %.80q", errSignal, secret)
		}
	}
	if len(d.Fingerprint) != sha256.Size {
		return fmt.Errorf("%w: a fingerprint of %d bytes", errSignal, len(d.Fingerprint))
	}
	if len(d.Places) > maxPlaces {
		return fmt.Errorf("%w: %d places, at most %d are allowed", errSignal, len(d.Places), maxPlaces)
	}
	for _, p := range d.Places {
		addr, err := netip.ParseAddr(p.Host)
		if err == nil && (addr.Zone() != "" || addr.IsUnspecified() || addr.IsMulticast()) || err != nil && !isLocalName(p.Host) || p.Port == 0 {
			return fmt.Errorf("%w: the place %.80q, port %d", errSignal, p.Host, p.Port)
		}
	}
	return nil
}

// sendSignal hands a signal to a tab to neighbors that may lead there: a hostile one may swallow it.
func (m *Mesh) sendSignal(to peer.ID, over []peer.ID, s *signal) error {
	key, err := PeerOf(to)
	if err != nil {
		return err
	}
	frame := m.pack(key, s.encode()).encode()
	err = fmt.Errorf("%w: nobody is connected who knows the way to %s", ErrUnreachable, to)
	m.mu.Lock()
	defer m.mu.Unlock()
	sent := false
	for _, via := range over {
		if e := m.enqueue(via, frame); e == nil {
			sent = true
		} else {
			err = e
		}
	}
	if sent {
		return nil
	}
	return err
}

// onSignal takes a signal of a tab.
func (m *Mesh) onSignal(from, via peer.ID, data []byte) {
	s, err := decodeSignal(data)
	if err != nil {
		m.offend(from, err.Error()) // it signed that
		return
	}
	switch s.Kind {
	case offering:
		m.onOffer(from, via, s)
	default:
		m.tabs.answered(from, s)
	}
}

// onOffer answers an offer, or refuses it if this tab has enough.
func (m *Mesh) onOffer(from, via peer.ID, s *signal) {
	accept, reply := m.tabs.offered(time.Now(), from, m.host.ID(), m.tabLinks())
	switch {
	case accept && m.acceptTab != nil:
		m.spawn(func() {
			defer m.tabs.settled()
			if err := m.acceptTab(from, via, s); err != nil {
				m.log.Debug("a connection that a tab offered failed", "peer", from, "err", err)
			}
		})
	case reply:
		if err := m.sendSignal(from, []peer.ID{via}, &signal{Kind: refusing, Number: s.Number}); err != nil {
			m.log.Debug("an offer was not answered", "peer", from, "err", err)
		}
	}
}
