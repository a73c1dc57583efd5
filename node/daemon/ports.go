package daemon

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

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

// peerPorts returns the multiaddrs to listen on for peers: those given, whose ports must be free, or the default ones
// on the first port that is free.
func peerPorts(given []string) (listen []string, note string, err error) {
	if len(given) > 0 {
		return given, "", checkFree(given)
	}
	for p := DefaultPort; p <= DefaultPort+portsTried; p++ {
		listen := mesh.DefaultListen(p)
		if checkFree(listen) != nil {
			continue
		}
		if p != DefaultPort {
			note = fmt.Sprintf("port %d is busy; peers are served on port %d", DefaultPort, p)
		}
		return listen, note, nil
	}
	return nil, "", fmt.Errorf("%w: %d to %d, for peers", ErrBusy, DefaultPort, DefaultPort+portsTried)
}

// checkFree reports the first of the addresses whose port is taken.
func checkFree(listen []string) error {
	for _, text := range listen {
		addr, err := ma.NewMultiaddr(text)
		if err != nil {
			return fmt.Errorf("%w %q: %v", errListen, text, err)
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
