//go:build !js

package mesh

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/evoswarm/evoswarm/internal/fair"
)

// ErrAnnounce is returned for an address that a user has this peer announce and that cannot be its own.
var ErrAnnounce = errors.New("address to announce")

// MaxAnnounced is how many addresses a user may have a peer announce: no more are told of a hub.
const MaxAnnounced = maxAddrsPerHub

// Announced are addresses at which a user says that others can dial this peer, such as a port that a router forwards.
// One that is a host alone means each listener's port there.
type Announced []ma.Multiaddr

// ParseAnnounced reads addresses, each with the key of this peer at its end or without.
func ParseAnnounced(texts []string, self peer.ID) (Announced, error) {
	if len(texts) > MaxAnnounced {
		return nil, fmt.Errorf("%w: %d of them, at most %d", ErrAnnounce, len(texts), MaxAnnounced)
	}
	var list Announced
	for _, text := range texts {
		a, err := parseAnnounced(text)
		if err != nil {
			return nil, err
		}
		if rest, id := peer.SplitAddr(a); id != "" {
			if self != "" && id != self {
				return nil, fmt.Errorf("%w: %s is of another node, this one is %s", ErrAnnounce, text, self)
			}
			a = rest
		}
		list = append(list, a)
	}
	return list, nil
}

// CheckAnnounced says what is wrong with an address to announce.
func CheckAnnounced(text string) error {
	_, err := ParseAnnounced([]string{text}, "")
	return err
}

func parseAnnounced(text string) (ma.Multiaddr, error) {
	a, err := ma.NewMultiaddr(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %v", ErrAnnounce, text, err)
	}
	place, _ := peer.SplitAddr(a)
	has := func(code int) bool {
		return slices.ContainsFunc(place, func(c ma.Component) bool { return c.Protocol().Code == code })
	}
	switch {
	case has(ma.P_CIRCUIT):
		return nil, fmt.Errorf("%w: %s leads through a relay; name the relay with --relay", ErrAnnounce, text)
	case has(ma.P_CERTHASH):
		return nil, fmt.Errorf("%w: %s: leave out /certhash/...; the node adds those of its certificates", ErrAnnounce, text)
	case len(place) == 0 || !isHost(place[0]):
		return nil, fmt.Errorf("%w: %s does not begin with an IP or a name", ErrAnnounce, text)
	case manet.IsIPUnspecified(place):
		return nil, fmt.Errorf("%w: %s is one to listen on; others need the IP or the name at which they reach this node", ErrAnnounce, text)
	case len(place) > 1 && bareWay(place) == "":
		return nil, fmt.Errorf("%w: %s names no transport that nodes have", ErrAnnounce, text)
	case len(text) > maxAddrBytes/2: // certificates and the key are added
		return nil, fmt.Errorf("%w: %.40s... has %d bytes, at most %d", ErrAnnounce, text, len(text), maxAddrBytes/2)
	}
	return a, nil
}

func isHost(c ma.Component) bool {
	return slices.Contains([]int{ma.P_IP4, ma.P_IP6, ma.P_DNS, ma.P_DNS4, ma.P_DNS6}, c.Protocol().Code)
}

// someHash takes the place of the hash of a certificate that is not known yet.
var someHash = ma.StringCast("/certhash/uEiAkH5a4DPGKUuOBjYw0CgwjvcJCJMD2K_1aluKR_tpevQ")

// bareWay is the way of an address whose certificates, if it needs any, are not named yet.
func bareWay(a ma.Multiaddr) Way {
	if w := wayOf(a); w != "" {
		return w
	}
	return wayOf(a.Encapsulate(someHash))
}

// check refuses what none of the listeners can answer to. One with TLS may be at a proxy in front of one without.
func (list Announced) check(listen []string) error {
	ways := make(map[Way]bool)
	for _, text := range listen {
		if a, err := ma.NewMultiaddr(text); err == nil {
			ways[bareWay(a)] = true
		}
	}
	for _, a := range list {
		if w := bareWay(a); len(a) > 1 && !ways[w] && !(w == SecureSocket && ways[WebSocket]) {
			return fmt.Errorf("%w: %s is over %s, on which this node does not listen", ErrAnnounce, a, w)
		}
	}
	return nil
}

// ports are those of listeners; where one of them is 0, any.
type ports map[string]bool

func portsOf(listen []string) ports {
	p := make(ports)
	for _, text := range listen {
		if a, err := ma.NewMultiaddr(text); err == nil {
			p[port(a)] = true
		}
	}
	return p
}

func port(a ma.Multiaddr) string {
	for _, code := range []int{ma.P_TCP, ma.P_UDP} {
		if value, err := a.ValueForProtocol(code); err == nil {
			return value
		}
	}
	return ""
}

// have reports whether an address is of a listener, and not one at which a NAT shows this peer to somebody.
func (p ports) have(a ma.Multiaddr) bool { return p["0"] || p[port(a)] }

// at lists the addresses of listeners at the hosts that are announced without a port.
func (list Announced) at(listeners []ma.Multiaddr, ports ports) []ma.Multiaddr {
	var there []ma.Multiaddr
	for _, host := range list {
		if len(host) > 1 {
			continue
		}
		for _, a := range listeners {
			if !isHost(a[0]) || isCircuit(a) || !fits(host[0], a[0]) || host[0].Equal(&a[0]) || !ports.have(a) {
				continue
			}
			moved := append(ma.Multiaddr{host[0]}, a[1:]...)
			if !slices.ContainsFunc(there, moved.Equal) {
				there = append(there, moved)
			}
		}
	}
	return there
}

// fits reports whether a listener of one kind of IP may be at an announced host: a name may be of either.
func fits(host, listener ma.Component) bool {
	at, of := host.Protocol().Code, listener.Protocol().Code
	return at != ma.P_IP4 && at != ma.P_IP6 || at == of
}

// add adds what is announced to the addresses of the listeners.
func (list Announced) add(listeners []ma.Multiaddr, ports ports, secure Secure) []ma.Multiaddr {
	addrs := secure.named(append(slices.Clone(listeners), list.at(listeners, ports)...))
	for _, a := range list {
		if len(a) > 1 && !slices.ContainsFunc(addrs, a.Equal) {
			addrs = append(addrs, a)
		}
	}
	return addrs
}

// has reports whether an address is one of those that are announced.
func (list Announced) has(a ma.Multiaddr) bool {
	return slices.ContainsFunc(list, func(own ma.Multiaddr) bool {
		return len(own) == 1 && len(a) > 0 && own[0].Equal(&a[0]) || withoutCerthashes(a).Equal(own)
	})
}

// maxSightings is how many peers are remembered by the IP at which they see this one.
const maxSightings = 1 << 10

// announcer knows what the user has this peer announce, and at which IP others see it.
type announcer struct {
	list Announced
	mu   sync.Mutex
	seen *fair.Table[peer.ID, block, netip.Addr] // nil: nothing is announced
}

// announce begins to note at which IP others see this peer, if the user announced where it is.
func (m *Mesh) announce() (err error) {
	if len(m.cfg.Announce) == 0 {
		return nil
	}
	if m.announcer.list, err = ParseAnnounced(m.cfg.Announce, m.host.ID()); err != nil {
		return err
	}
	identified, err := m.host.EventBus().Subscribe(new(event.EvtPeerIdentificationCompleted), eventbus.BufSize(256))
	if err != nil {
		return err
	}
	m.announcer.seen = fair.NewTable[peer.ID, block, netip.Addr](maxSightings)
	m.spawn(func() {
		defer identified.Close()
		for {
			select {
			case <-m.ctx.Done():
				return
			case e := <-identified.Out():
				if by, ok := e.(event.EvtPeerIdentificationCompleted); ok {
					m.announcer.sighted(by.Peer, m.neighbors.block(by.Peer), by.ObservedAddr)
				}
			}
		}
	})
	return nil
}

// sighted notes where a peer says that it sees this one.
func (a *announcer) sighted(by peer.ID, from block, at ma.Multiaddr) {
	ip, ok := ipOf(at)
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen.Put(by, from, 1, ip)
}

func ipOf(a ma.Multiaddr) (netip.Addr, bool) {
	ip, err := manet.ToIP(a)
	if err != nil {
		return netip.Addr{}, false
	}
	addr, ok := netip.AddrFromSlice(ip)
	return addr.Unmap(), ok
}

// couldTest reports whether a peer in a network could find out that others there cannot dial this one: it tries no
// addresses but those with the IP at which it sees this peer, so it knows nothing of what is announced at others.
func (a *announcer) couldTest(by peer.ID, in scope) bool {
	announces := false
	for _, at := range a.list {
		if scopeOf(at) != in {
			continue
		}
		announces = true
		if ip, ok := ipOf(at); ok {
			a.mu.Lock()
			seen, known := a.seen.Get(by)
			a.mu.Unlock()
			if known && seen == ip {
				return true
			}
		}
	}
	return !announces
}

// first reports whether an address is told first in a network: what the user announced there.
func (a *announcer) first(at ma.Multiaddr, in scope) bool {
	return a.list.has(at) && scopeOf(at) == in
}
