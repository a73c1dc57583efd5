package daemon

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/evoswarm/evoswarm/internal/mesh"
)

// Defaults of a public node.
const (
	DefaultHTTP = ":8080"
	DefaultPort = 4710 // for peers
	portsTried  = 20   // after the default one
)

// errListen is returned for what is not a multiaddress to listen on.
var errListen = errors.New("--listen")

// ErrBusy is returned if another program has a port that was asked for.
var ErrBusy = errors.New("daemon: port is busy")

// listenHTTP opens the port of the page. If address is the default and busy, it takes the next free port, and
// says so in note.
func listenHTTP(address string, given bool) (l net.Listener, note string, err error) {
	l, err = net.Listen("tcp", address)
	if err == nil {
		return l, "", nil
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return nil, "", fmt.Errorf("serving the page on %s: %w", address, err)
	}
	if given {
		return nil, "", fmt.Errorf("%w: %s, for the page", ErrBusy, address)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, "", err
	}
	first, err := strconv.Atoi(port)
	if err != nil {
		return nil, "", err
	}
	for p := first + 1; p <= first+portsTried; p++ {
		if l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(p))); err == nil {
			return l, fmt.Sprintf("port %d is busy; the page is on port %d", first, p), nil
		}
	}
	return nil, "", fmt.Errorf("%w: %d to %d, for the page", ErrBusy, first, first+portsTried)
}

// peerPorts returns the multiaddrs to listen on for peers of a lane: those given, whose ports must be free, or the
// default ones on the first port that is free; a lane after the first has the ports that follow. secure tells
// whether there is a certificate for WebSocket over TLS.
func peerPorts(given []string, secure bool, lane int) (listen []string, note string, err error) {
	if len(given) > 0 {
		if err := checkSecure(given, secure); err != nil {
			return nil, "", err
		}
		if listen, err = shift(given, lane); err != nil {
			return nil, "", err
		}
		return listen, "", checkFree(listen)
	}
	first := DefaultPort + lane
	for p := first; p <= first+portsTried; p++ {
		listen := mesh.DefaultListen(p)
		if secure {
			listen = append(listen, mesh.SecureListen(p)...)
		}
		if checkFree(listen) != nil {
			continue
		}
		if p != first {
			note = fmt.Sprintf("port %d is busy; peers are served on port %d", first, p)
		}
		return listen, note, nil
	}
	return nil, "", fmt.Errorf("%w: %d to %d, for peers", ErrBusy, first, first+portsTried)
}

// shift moves the ports of a list so that the lists of several lanes do not meet: each begins after the highest port
// of the one before. Port 0, for any, stays.
func shift(listen []string, lane int) ([]string, error) {
	var ports []int
	moved := make([]string, len(listen))
	for _, move := range []bool{false, true} {
		for i, text := range listen {
			parts := strings.Split(text, "/")
			for k := 1; k < len(parts); k++ {
				port, err := strconv.Atoi(parts[k])
				if parts[k-1] != "tcp" && parts[k-1] != "udp" || err != nil || port == 0 {
					continue
				}
				if !move {
					ports = append(ports, port)
					continue
				}
				port += lane * (slices.Max(ports) - slices.Min(ports) + 1)
				if port > 65535 {
					return nil, fmt.Errorf("%w %s: run %d would be at port %d, and there are 65535: each run has the ports after those of the one before", errListen, text, lane+1, port)
				}
				parts[k] = strconv.Itoa(port)
			}
			moved[i] = strings.Join(parts, "/")
		}
	}
	return moved, nil
}

// checkAnnounced refuses an address with a port where each of several runs has ports of its own.
func checkAnnounced(announced []string, runs int) error {
	for _, text := range announced {
		if a, err := ma.NewMultiaddr(text); err == nil && runs > 1 {
			if place, _ := peer.SplitAddr(a); len(place) > 1 {
				return fmt.Errorf("%w: %s is for one run, and the node has %d, each on ports of its own: announce the host alone, such as %s", mesh.ErrAnnounce, text, runs, place[:1])
			}
		}
	}
	return nil
}

// checkSecure refuses a listener with TLS without a certificate, and a certificate without one.
func checkSecure(listen []string, secure bool) error {
	wanted := slices.ContainsFunc(listen, func(a string) bool { return strings.HasSuffix(a, "/tls/ws") || strings.HasSuffix(a, "/wss") })
	switch {
	case wanted && !secure:
		return fmt.Errorf("%w /tls/ws: needs a certificate that browsers trust, by --tls-cert and --tls-key, or by --auto-tls", errListen)
	case secure && !wanted:
		return fmt.Errorf("%w: --tls-cert or --auto-tls is for an address that ends in /tls/ws, and none is given; for example /ip4/0.0.0.0/tcp/%d/tls/ws", errListen, DefaultPort)
	}
	return nil
}

// checkFree reports the first of the addresses whose port is taken.
func checkFree(listen []string) error {
	for _, text := range listen {
		addr, err := ma.NewMultiaddr(text)
		if err != nil {
			return fmt.Errorf("%w %q: %v", errListen, text, err)
		}
		if _, err := addr.ValueForProtocol(ma.P_CERTHASH); err == nil {
			return fmt.Errorf("%w %q: leave out /certhash/...; the node makes its certificates itself", errListen, text)
		}
		if err := probe(addr); err != nil {
			return fmt.Errorf("%w: %s, for peers", ErrBusy, text)
		}
	}
	return nil
}

// probe opens the port of addr for a moment. Only a port that is taken is an error: whether addr can be listened on
// otherwise, such as on a machine without IPv6, is for the mesh to say.
func probe(addr ma.Multiaddr) error {
	ip, err := addr.ValueForProtocol(ma.P_IP4)
	if err != nil {
		if ip, err = addr.ValueForProtocol(ma.P_IP6); err != nil {
			return nil
		}
	}
	if port, err := addr.ValueForProtocol(ma.P_TCP); err == nil && port != "0" {
		l, err := net.Listen("tcp", net.JoinHostPort(ip, port))
		if err != nil {
			return onlyBusy(err)
		}
		return l.Close()
	}
	if port, err := addr.ValueForProtocol(ma.P_UDP); err == nil && port != "0" {
		c, err := net.ListenPacket("udp", net.JoinHostPort(ip, port))
		if err != nil {
			return onlyBusy(err)
		}
		return c.Close()
	}
	return nil
}

func onlyBusy(err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return err
	}
	return nil
}

// pageURLs returns where the page is found from this computer and from others; elsewhere is "" where it is not.
// Browsers allow more to pages from localhost than to those from other hosts without TLS.
func pageURLs(l net.Listener) (here, elsewhere string) {
	addr := l.Addr().(*net.TCPAddr)
	url := func(host string) string {
		return "http://" + net.JoinHostPort(host, strconv.Itoa(addr.Port)) + "/"
	}
	switch {
	case addr.IP.IsLoopback():
		return url(addr.IP.String()), ""
	case !addr.IP.IsUnspecified():
		return url(addr.IP.String()), url(addr.IP.String())
	}
	if ip := ownIP(); ip != "" {
		elsewhere = url(ip)
	}
	return url("localhost"), elsewhere
}

// ownIP returns the address that this computer has in its network, IPv4 first; "" if it has none.
func ownIP() string {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	found := ""
	for _, a := range addrs {
		n, ok := a.(*net.IPNet)
		if !ok || !n.IP.IsGlobalUnicast() {
			continue
		}
		if n.IP.To4() != nil {
			return n.IP.String()
		}
		if found == "" {
			found = n.IP.String()
		}
	}
	return found
}
