//go:build !js

package dht

import (
	"fmt"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// reach is from where an address can be dialed. In a DHT of the internet an address of a private network would make
// those who believe it dial computers of their own network, and tell strangers about that of who gave it.
type reach int

const (
	inMachine reach = iota
	inNetwork
	everywhere
)

func reachOf(a ma.Multiaddr) reach {
	switch {
	case manet.IsIPLoopback(a):
		return inMachine
	case manet.IsPublicAddr(a):
		return everywhere
	}
	return inNetwork
}

// leastReach is the least of those of some servers: who is with them in a network, or on a computer, dials others
// there.
func leastReach(servers []peer.AddrInfo) reach {
	least := everywhere
	for _, s := range servers {
		for _, a := range s.Addrs {
			least = min(least, reachOf(a))
		}
	}
	return least
}

// fit leaves out addresses that those who are in the DHT cannot dial, or must not.
func (c *Client) fit(addrs []ma.Multiaddr) []ma.Multiaddr {
	return ma.FilterAddrs(addrs, func(a ma.Multiaddr) bool { return !manet.IsIPUnspecified(a) && reachOf(a) >= c.least })
}

// ownAddrs are those of this node that fit, without its key.
func (c *Client) ownAddrs(full []string) []ma.Multiaddr {
	var own []ma.Multiaddr
	for _, text := range full {
		info, err := peer.AddrInfoFromString(text)
		if err == nil && info.ID == c.host.ID() {
			own = append(own, info.Addrs...)
		}
	}
	own = c.fit(own)
	return own[:min(len(own), maxOwn)]
}

// maxOwn is how many addresses of this node are told: it may have several for each transport.
const maxOwn = 16

// CheckBootstrap says what is wrong with the address of a server.
func CheckBootstrap(addr string) error {
	_, err := parseBootstrap([]string{addr})
	return err
}

func parseBootstrap(addrs []string) ([]peer.AddrInfo, error) {
	var servers []peer.AddrInfo
	for _, text := range addrs {
		a, err := ma.NewMultiaddr(text)
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %v", ErrBootstrap, text, err)
		}
		info, err := peer.AddrInfoFromP2pAddr(a)
		if err != nil || len(info.Addrs) == 0 {
			return nil, fmt.Errorf("%w: %q: it must say where the server is and end in /p2p/ and its peer id", ErrBootstrap, text)
		}
		servers = append(servers, *info)
	}
	return servers, nil
}
