//go:build !js

package autotls

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/multiformats/go-multibase"
)

// names are those of a peer in a forge's domain.
type names struct {
	own  string // PEER.DOMAIN
	all  string // *.PEER.DOMAIN, which the certificate is for
	wide bool   // whether private IPs have names, too: in a domain of one's own
}

func namesOf(id peer.ID, domain string) (names, error) {
	base36, err := multibase.NewEncoder(multibase.Base36)
	if err != nil {
		return names{}, err
	}
	own := peer.ToCid(id).Encode(base36) + "." + domain
	return names{own: own, all: "*." + own, wide: domain != DefaultDomain}, nil
}

// at is the name of an IP: 203-0-113-7.PEER.DOMAIN.
func (n names) at(ip netip.Addr) string {
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return strings.ReplaceAll(ip.String(), ".", "-") + "." + n.own
	}
	label := strings.ReplaceAll(ip.String(), ":", "-")
	if strings.HasPrefix(label, "-") {
		label = "0" + label
	}
	if strings.HasSuffix(label, "-") {
		label += "0"
	}
	return label + "." + n.own
}

// covers reports whether an address has a name that others can use.
func (n names) covers(a ma.Multiaddr) bool {
	if _, err := manet.ToIP(a); err != nil || manet.IsIPUnspecified(a) || manet.IsNAT64IPv4ConvertedIPv6Addr(a) {
		return false
	}
	return n.wide || manet.IsPublicAddr(a)
}

// Name is the name under which browsers trust this node at an IP; "" while there is no certificate, and for IPs that
// have no use elsewhere.
func (k *Keeper) Name(ip netip.Addr) string {
	a, err := manet.FromIP(ip.Unmap().WithZone("").AsSlice())
	if err != nil || !k.names.covers(a) || !k.valid() {
		return ""
	}
	return k.names.at(ip)
}

// addrs are those of the node at which a forge may dial it: over TCP, as pages will, and without the certificate.
func (k *Keeper) addrs() []string {
	var list []string
	for _, text := range k.cfg.Addrs() {
		info, err := peer.AddrInfoFromString(text)
		if err != nil || len(info.Addrs) == 0 {
			continue
		}
		a := info.Addrs[0]
		plain := len(a) == 2 || len(a) == 3 && a[2].Protocol().Code == ma.P_WS
		if plain && a[1].Protocol().Code == ma.P_TCP && k.names.covers(a[:1]) {
			list = append(list, a.String())
		}
	}
	return list[:min(len(list), maxAddrs)]
}

// maxAddrs is how many addresses a forge is told.
const maxAddrs = 8

// CheckDomain refuses what is no domain.
func CheckDomain(domain string) error {
	if !strings.Contains(domain, ".") || strings.ContainsAny(domain, "/:@*? ") {
		return fmt.Errorf("%q is no domain, such as %s", domain, DefaultDomain)
	}
	return nil
}
