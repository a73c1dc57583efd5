//go:build !js

package mesh

import (
	"crypto/tls"
	"net/netip"
	"slices"

	ma "github.com/multiformats/go-multiaddr"
)

// Secure is what a node shows to browsers over TLS. A tab's has no such field, which would make its program larger.
type Secure struct {
	TLS   *tls.Config
	Names []string // the hosts that the certificate is for: at these the listeners are announced
	// Name is the host that the certificate has for an IP, "" for none or none yet; nil: Names has all.
	Name func(netip.Addr) string
}

// named gives the addresses of WebSocket over TLS the names of a certificate: browsers trust it for these alone. An IP
// stays where the certificate names it, too.
func (s Secure) named(addrs []ma.Multiaddr) []ma.Multiaddr {
	var list []ma.Multiaddr
	for _, a := range addrs {
		secure := wayOf(a) == SecureSocket
		if !secure || slices.Contains(s.Names, a[0].Value()) {
			list = append(list, a)
		}
		if !secure {
			continue
		}
		names := s.Names
		if ip, ok := ipOf(a); ok && s.Name != nil && s.Name(ip) != "" {
			names = append(slices.Clone(names), s.Name(ip))
		}
		for _, name := range names {
			if _, err := netip.ParseAddr(name); err == nil {
				continue // of another interface
			}
			host, err := ma.NewComponent("dns", name)
			if err != nil {
				continue
			}
			if at := append(ma.Multiaddr{*host}, a[1:]...); !slices.ContainsFunc(list, at.Equal) {
				list = append(list, at)
			}
		}
	}
	return list
}
