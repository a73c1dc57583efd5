//go:build !js

package mesh

import (
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// An IP address has as many connections as the node's owner says, whatever their ports; others have theirs.
func TestConnectionsOfAnAddress(t *testing.T) {
	for _, most := range []int{3, ConnsPerAddress, MaxConnsPerAddress} {
		r, err := newResources(1, most)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		open := func(ip string, port int) error {
			at, err := ma.NewMultiaddr(fmt.Sprintf("/ip4/%s/tcp/%d", ip, port))
			if err != nil {
				t.Fatal(err)
			}
			c, err := r.OpenConnection(network.DirInbound, false, at)
			if err == nil { // it is a peer's now, and not one of the few that have not said whose they are
				err = c.SetPeer(peer.ID(fmt.Sprint("peer ", ip, port)))
			}
			return err
		}
		for n := range most {
			if err := open("203.0.113.7", 1000+n); err != nil {
				t.Fatalf("connection %d of %d: %v", n+1, most, err)
			}
		}
		time.Sleep(time.Second) // a few new ones would be allowed
		if open("203.0.113.7", 9999) == nil {
			t.Errorf("an address has more than %d connections", most)
		}
		if err := open("203.0.113.8", 1); err != nil {
			t.Errorf("another address has none: %v", err)
		}
	}
}
