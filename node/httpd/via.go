package httpd

import (
	"net"
	"slices"
	"strings"

	ma "github.com/multiformats/go-multiaddr"
)

// Via returns addresses with those put first that lead through host, the name or IP address (with or without a port)
// under which the reader reached this node: behind a NAT or a proxy the node itself does not know it. Loopback
// addresses are left out for readers who came from elsewhere.
func Via(host string, addresses []string) []string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	head := hostAddr(strings.Trim(host, "[]"))
	var via, rest []string
	local := isLoopback(head)
	for _, a := range addresses {
		addr, err := ma.NewMultiaddr(a)
		if err != nil || len(addr) < 2 {
			continue
		}
		if local || !isLoopback(addr) {
			rest = append(rest, a)
		}
		if head != nil && isIP(addr) && !relayed(addr) && !isTLS(addr) && (isIP(head) || !isWebRTC(addr)) {
			via = append(via, head.Encapsulate(addr[1:]).String())
		}
	}
	return unique(append(via, rest...))
}

// hostAddr is the first component of a multiaddress for host; nil if host is no host.
func hostAddr(host string) ma.Multiaddr {
	form := "/dns/"
	if ip := net.ParseIP(host); ip != nil && ip.To4() != nil {
		form = "/ip4/"
	} else if ip != nil {
		form = "/ip6/"
	} else if host == "" || strings.ContainsAny(host, "/ ") {
		return nil
	}
	a, err := ma.NewMultiaddr(form + host)
	if err != nil {
		return nil
	}
	return a
}

func isIP(a ma.Multiaddr) bool {
	code := a[0].Protocol().Code
	return code == ma.P_IP4 || code == ma.P_IP6
}

func isLoopback(a ma.Multiaddr) bool {
	if a == nil {
		return false
	}
	value := a[0].Value()
	ip := net.ParseIP(value)
	return value == "localhost" || ip != nil && ip.IsLoopback()
}

// isWebRTC tells an address that has to be an IP: browsers look up no names for it.
func isWebRTC(a ma.Multiaddr) bool {
	_, err := a.ValueForProtocol(ma.P_WEBRTC_DIRECT)
	return err == nil
}

// isTLS tells an address that has to be a name of the node's certificate, which host may not be.
func isTLS(a ma.Multiaddr) bool {
	_, err := a.ValueForProtocol(ma.P_TLS)
	return err == nil
}

func relayed(a ma.Multiaddr) bool {
	_, err := a.ValueForProtocol(ma.P_CIRCUIT)
	return err == nil
}

func unique(in []string) []string {
	out := make([]string, 0, len(in))
	for _, s := range in {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
