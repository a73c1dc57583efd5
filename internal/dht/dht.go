//go:build !js

// Package dht tells nodes of a run of each other over a Kademlia DHT that others keep, such as the public one of IPFS.
//
// Floor 4, adapters: floors 5 and 6 import it.
//
// A node is a client of the DHT: it serves no lookups of strangers. It has a host of its own for that, without
// listeners and with small limits, so nobody that it meets there is a neighbor in a run. What a DHT answers is the
// word of strangers: addresses to try, a bounded number, and nothing is decided by it.
package dht

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/ipfs/go-cid"
	kad "github.com/libp2p/go-libp2p-kad-dht"
	"github.com/libp2p/go-libp2p-kad-dht/amino"
	pb "github.com/libp2p/go-libp2p-kad-dht/pb"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	"github.com/multiformats/go-multihash"
)

var (
	// ErrBootstrap is returned for an address that is none of a server.
	ErrBootstrap = errors.New("address of a DHT server")
	// ErrDown is returned where no server of the DHT answers.
	ErrDown = errors.New("no server of the DHT answers")
)

const (
	enterTimeout = 10 * time.Second // until the first server is known
	enterEvery   = 100 * time.Millisecond
	askTimeout   = 10 * time.Second // of one server
	patience     = time.Minute      // of one exchange
)

// Bounds of what is believed of the answers to one exchange. Some 20 servers answer.
const (
	maxOfServer = 16 // nodes that one server names, any of them if it names more
	maxFound    = 32 // nodes
	maxAddrs    = 8  // of one node
)

// Config is what a client is made of.
type Config struct {
	Key       ed25519.PrivateKey // required: the node's, since servers take the word of nodes for themselves only
	Bootstrap []string           // full addresses of servers of a private DHT; none: the public one
	Agent     string
}

// Client is in a DHT. Its methods are safe for concurrent use.
type Client struct {
	host      host.Host
	dht       *kad.IpfsDHT
	messenger *pb.ProtocolMessenger
	bootstrap []peer.AddrInfo
	least     reach // of addresses that are told and believed
}

// New joins a DHT, in the background.
func New(cfg Config) (*Client, error) {
	c := &Client{bootstrap: kad.GetDefaultBootstrapPeerAddrInfos(), least: everywhere}
	if len(cfg.Bootstrap) > 0 {
		var err error
		if c.bootstrap, err = parseBootstrap(cfg.Bootstrap); err != nil {
			return nil, err
		}
		c.least = leastReach(c.bootstrap)
	}
	var err error
	if c.host, err = newHost(cfg); err != nil {
		return nil, err
	}
	options := []kad.Option{kad.Mode(kad.ModeClient), kad.BootstrapPeers(c.bootstrap...)}
	if c.least == everywhere {
		options = append(options, kad.QueryFilter(kad.PublicQueryFilter), kad.RoutingTableFilter(kad.PublicRoutingTableFilter),
			kad.RoutingTablePeerDiversityFilter(kad.NewRTPeerDiversityFilter(c.host, amino.DefaultMaxPeersPerIPGroupPerCpl, amino.DefaultMaxPeersPerIPGroup)),
			kad.AddressFilter(func(addrs []ma.Multiaddr) []ma.Multiaddr { return c.fit(addrs) }))
	}
	if c.dht, err = kad.New(c.host, options...); err != nil {
		return nil, errors.Join(err, c.host.Close())
	}
	if c.messenger, err = pb.NewProtocolMessenger(c.dht.MessageSender()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close leaves the DHT.
func (c *Client) Close() error { return errors.Join(c.dht.Close(), c.host.Close()) }

// Key is where nodes of a run are named in a DHT: the key that libp2p's routing discovery derives from the run id as
// its namespace, so that other programs find it, too.
func Key(run string) (cid.Cid, error) {
	hash, err := multihash.Sum([]byte(run), multihash.SHA2_256, -1)
	if err != nil {
		return cid.Undef, err
	}
	return cid.NewCidV1(cid.Raw, hash), nil
}

// Exchange has the DHT name this node at own, full addresses of which those that others there cannot dial are left
// out, and returns full addresses of other nodes that it names for the run, at most 32 nodes and 8 addresses of each.
// Servers take turns, so one that names thousands gets no more places than another. The error wraps ErrDown if none
// answers.
func (c *Client) Exchange(ctx context.Context, run string, own []string) ([]string, error) {
	key, err := Key(run)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := c.enter(ctx); err != nil {
		return nil, err
	}
	closest, err := c.dht.GetClosestPeers(ctx, string(key.Hash()))
	if err != nil && len(closest) == 0 {
		return nil, fmt.Errorf("%w: %v", ErrDown, err)
	}
	self := peer.AddrInfo{ID: c.host.ID(), Addrs: c.ownAddrs(own)}
	answers := make([][]peer.AddrInfo, len(closest))
	errs := make([]error, len(closest))
	var asking sync.WaitGroup
	for i, id := range closest {
		asking.Go(func() { answers[i], errs[i] = c.ask(ctx, id, key.Hash(), self) })
	}
	asking.Wait()
	if !slices.Contains(errs, nil) {
		return nil, fmt.Errorf("%w: %v", ErrDown, errors.Join(errs...))
	}
	return texts(inTurn(answers)), nil
}

// enter waits until a server is known.
func (c *Client) enter(ctx context.Context) error {
	if c.dht.RoutingTable().Size() > 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, enterTimeout)
	defer cancel()
	for _, info := range c.bootstrap {
		go func() { _ = c.host.Connect(ctx, info) }() // the DHT takes in whom it is connected to
	}
	tick := time.NewTicker(enterEvery)
	defer tick.Stop()
	for c.dht.RoutingTable().Size() == 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %d were tried", ErrDown, len(c.bootstrap))
		case <-tick.C:
		}
	}
	return nil
}

// ask tells a server where this node is, and takes some of the nodes that it names.
func (c *Client) ask(ctx context.Context, server peer.ID, key multihash.Multihash, self peer.AddrInfo) ([]peer.AddrInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if len(self.Addrs) > 0 {
		if err := c.messenger.PutProviderAddrs(ctx, server, key, self); err != nil {
			return nil, err
		}
	}
	named, _, err := c.messenger.GetProviders(ctx, server, key)
	if err != nil {
		return nil, err
	}
	rand.Shuffle(len(named), func(i, j int) { named[i], named[j] = named[j], named[i] })
	var some []peer.AddrInfo
	for _, info := range named {
		if info.ID == self.ID || len(some) == maxOfServer {
			continue
		}
		if fit := c.fit(info.Addrs); len(fit) > 0 {
			some = append(some, peer.AddrInfo{ID: info.ID, Addrs: fit[:min(len(fit), maxAddrs)]})
		}
	}
	return some, nil
}

// inTurn joins what servers named: they take turns in naming nodes, and in saying where each is, so that one of them
// that lies displaces little of what the others say.
func inTurn(answers [][]peer.AddrInfo) []peer.AddrInfo {
	var order []peer.ID
	said := make(map[peer.ID][][]ma.Multiaddr)
	for turn, more := 0, true; more; turn++ {
		more = false
		for _, named := range answers {
			if turn >= len(named) {
				continue
			}
			more = true
			id := named[turn].ID
			if _, known := said[id]; !known {
				if len(order) == maxFound {
					continue
				}
				order = append(order, id)
			}
			said[id] = append(said[id], named[turn].Addrs)
		}
	}
	found := make([]peer.AddrInfo, len(order))
	for i, id := range order {
		found[i].ID = id
		for turn := range maxAddrs {
			for _, addrs := range said[id] {
				if turn < len(addrs) && len(found[i].Addrs) < maxAddrs && !slices.ContainsFunc(found[i].Addrs, addrs[turn].Equal) {
					found[i].Addrs = append(found[i].Addrs, addrs[turn])
				}
			}
		}
	}
	return found
}

// texts writes full addresses.
func texts(found []peer.AddrInfo) []string {
	var list []string
	for _, info := range found {
		for _, a := range info.Addrs {
			list = append(list, a.String()+"/p2p/"+info.ID.String())
		}
	}
	return list
}
