package mesh

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/crypto/pb"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/multiformats/go-multistream"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	dialTimeout  = 20 * time.Second
	maxAddrBytes = 320 // over a relay that is reached by WebTransport: two certificates and two keys
	example      = "/ip4/203.0.113.7/tcp/4001/p2p/12D3KooW..."
)

// IDOf returns the libp2p peer id of a key: the key itself is embedded in it.
func IDOf(p seedlog.Peer) (peer.ID, error) {
	key, err := crypto.UnmarshalEd25519PublicKey(p[:])
	if err != nil {
		return "", fmt.Errorf("key of %s: %w", p.Short(), err)
	}
	return peer.IDFromPublicKey(key)
}

// PeerOf returns the Ed25519 key embedded in a libp2p peer id; ids of other keys are refused.
func PeerOf(id peer.ID) (seedlog.Peer, error) {
	key, err := id.ExtractPublicKey()
	if err != nil {
		return seedlog.Peer{}, fmt.Errorf("peer id %s: %w", id, err)
	}
	if key.Type() != pb.KeyType_Ed25519 {
		return seedlog.Peer{}, fmt.Errorf("peer id %s: its key is %s, expected Ed25519", id, key.Type())
	}
	raw, err := key.Raw()
	if err != nil {
		return seedlog.Peer{}, fmt.Errorf("peer id %s: %w", id, err)
	}
	return seedlog.Peer(raw), nil
}

// parseAddr reads a full address.
func parseAddr(addr string) (*peer.AddrInfo, error) {
	addr = strings.TrimSpace(addr)
	if len(addr) > maxAddrBytes {
		return nil, fmt.Errorf("%w: %d bytes long, at most %d", ErrAddress, len(addr), maxAddrBytes)
	}
	a, err := ma.NewMultiaddr(addr)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %v; an address looks like %s, or give the URL of the node's page", ErrAddress, addr, err, example)
	}
	info, err := peer.AddrInfoFromP2pAddr(a)
	if err != nil {
		return nil, fmt.Errorf("%w: %q names no peer; its end must be /p2p/ and the peer id, as the node prints it when it starts", ErrAddress, addr)
	}
	if _, err := PeerOf(info.ID); err != nil {
		return nil, fmt.Errorf("%w: %q: %v", ErrAddress, addr, err)
	}
	if len(info.Addrs) == 0 {
		return nil, fmt.Errorf("%w: %q names a peer but not where it is; it must look like %s", ErrAddress, addr, example)
	}
	if err := checkCerthashes(info.Addrs[0]); err != nil {
		return nil, fmt.Errorf("%w: %q: %v", ErrAddress, addr, err)
	}
	return info, nil
}

// explain turns what libp2p says about a failed dial into what a person can act on.
func explain(err error, info peer.AddrInfo) error {
	at := ""
	if len(info.Addrs) > 0 {
		at = " at " + info.Addrs[0].String()
	}
	var mismatch sec.ErrPeerIDMismatch
	var foreign multistream.ErrNotSupported[protocol.ID]
	switch {
	case errors.As(err, &mismatch):
		return fmt.Errorf("%w: the node%s is %s, not %s; ask its owner for the current address", ErrWrongPeer, at, mismatch.Actual, mismatch.Expected)
	case errors.Is(err, errOlder):
		return fmt.Errorf("%w: %s%s runs an earlier version of evoswarm (this program speaks protocol %d, it does not); ask its owner to update it", ErrForeign, info.ID, at, version)
	case errors.As(err, &foreign):
		return fmt.Errorf("%w: %s%s does not speak %s; update the older of the two programs", ErrForeign, info.ID, at, helloProtocol)
	case errors.Is(err, context.Canceled):
		return err
	}
	return fmt.Errorf("%w: %s%s: %s; check that the node runs and that no firewall blocks its port", ErrUnreachable, info.ID, at, shorten(err))
}

// shorten joins a multi-line error and cuts it.
func shorten(err error) string {
	s := strings.Join(strings.Fields(err.Error()), " ")
	if len(s) > 300 {
		s = s[:300] + "..."
	}
	return s
}

// full lists full addresses of id for a reader, of the ways that it may go, to the peer itself or to a relay; some of
// each rather than all of one. Loopback addresses are left out unless the reader is on this machine.
func full(id peer.ID, addrs []ma.Multiaddr, reader ma.Multiaddr, ways []Way) []string {
	local := reader == nil || manet.IsIPLoopback(reader)
	var fit []ma.Multiaddr
	over := make(map[peer.ID][]ma.Multiaddr)
	for _, a := range addrs {
		if !manet.IsIPUnspecified(a) && (local || !manet.IsIPLoopback(a)) && len(fullText(id, a)) <= maxAddrBytes {
			if relay, _, ok := relayOf(a); ok {
				over[relay] = append(over[relay], a)
			} else {
				fit = append(fit, a)
			}
		}
	}
	for relay, list := range over {
		over[relay] = choose(list, ways, maxCircuitsTold)
	}
	circuits := takeTurns(over, maxCircuitsTold) // of each relay some: one may go
	var list []string
	for _, a := range append(circuits, choose(fit, ways, maxAddrsPerHub-len(circuits))...) {
		list = append(list, fullText(id, a))
	}
	return list
}

func fullText(id peer.ID, a ma.Multiaddr) string { return a.String() + "/p2p/" + id.String() }
