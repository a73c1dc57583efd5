package mesh

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"golang.org/x/time/rate"
)

// block is a block of addresses: what strangers pay for, since keys cost nothing. Shares are counted by it. It is an
// IPv4 /24 or an IPv6 /48; in private networks, where whole classrooms are in one /24, a single address. The zero
// block is that of peers whose address is no IP.
type block = netip.Prefix

// Lengths of the prefixes of blocks.
const (
	blockBits4 = 24
	blockBits6 = 48
)

// blockOf returns the block that an address is in.
func blockOf(a ma.Multiaddr) block {
	ip, err := manet.ToIP(a)
	if err != nil {
		return block{}
	}
	addr, ok := netip.AddrFromSlice(ip)
	if !ok {
		return block{}
	}
	return blockAt(addr)
}

// blockAt returns the block that an IP address is in.
func blockAt(addr netip.Addr) block {
	addr = addr.Unmap()
	bits := addr.BitLen()
	if !addr.IsPrivate() && !addr.IsLoopback() && !addr.IsLinkLocalUnicast() {
		bits = blockBits6
		if addr.Is4() {
			bits = blockBits4
		}
	}
	prefix, err := addr.WithZone("").Prefix(bits)
	if err != nil {
		return block{}
	}
	return prefix
}

// limit is so much per second, and so much at once after a pause.
type limit struct{ rate, burst float64 }

func (l limit) limiter() *rate.Limiter { return rate.NewLimiter(rate.Limit(l.rate), int(l.burst)) }

// resource is something that neighbors make this peer spend. All are charged before the work.
type resource int

const (
	wireBytes      resource = iota // read from a connection, whatever they are; on nodes, over TCP
	gossipBytes                    // read from gossip streams
	gossipMessages                 // new in gossip: a signature to check each
	directBytes                    // read from streams of direct messages
	directMessages                 // by what they cost: see price
	relayBytes                     // carried for others
	relayMessages                  // carried for others, by what they cost
	circuitBytes                   // read from circuits that this peer relays
	hellos
	resources // their number
)

// quota is what a neighbor may have of a resource: its own share, whatever others do, and beyond that a share of what
// all neighbors of its block have together.
type quota struct{ own, block limit }

// quotas are for neighbors that dialed this peer, and may be anybody. A hub that this peer dialed has what proven says.
//
// They are reckoned from what honest peers need (in a swarm of 200 hubs some 1,000 small messages a second in gossip,
// one entry of 10 KB four times a second) and from what one block of 256 neighbors can cost: 180 signatures (1 % of a
// core), 1.3 MiB/s of gossip to parse (10 %), 2,800 small direct messages a second or 5 questions for what
// follows on a chain.
//
// What is read from connections costs a core some 1 % for each MiB/s. It has to have room for all the others together.
var quotas = [resources]quota{
	wireBytes:      {limit{32 << 10, 2 << 20}, limit{2 << 20, 16 << 20}},
	gossipBytes:    {limit{4 << 10, 256 << 10}, limit{256 << 10, 2 << 20}},
	gossipMessages: {limit{0.5, 20}, limit{50, 200}},
	directBytes:    {limit{16 << 10, 1 << 20}, limit{1 << 20, 8 << 20}},
	directMessages: {limit{10, 40}, limit{250, 1000}},
	relayBytes:     {limit{4 << 10, 256 << 10}, limit{64 << 10, 1 << 20}},
	relayMessages:  {limit{1, 20}, limit{20, 300}},
	circuitBytes:   {limit{64 << 10, 4 << 20}, limit{512 << 10, 8 << 20}},
	hellos:         {limit{0.2, 10}, limit{10, 300}},
}

// proven are the quotas of hubs that this peer dialed: it keeps few of them, in many blocks.
var proven = [resources]quota{
	wireBytes:      {limit{8 << 20, 64 << 20}, limit{16 << 20, 64 << 20}},
	gossipBytes:    {limit{2 << 20, 8 << 20}, limit{4 << 20, 16 << 20}},
	gossipMessages: {limit{200, 1000}, limit{800, 4000}},
	directBytes:    {limit{2 << 20, 16 << 20}, limit{8 << 20, 32 << 20}},
	directMessages: {limit{100, 1000}, limit{1000, 4000}},
	relayBytes:     {limit{64 << 10, 2 << 20}, limit{512 << 10, 4 << 20}},
	relayMessages:  {limit{20, 200}, limit{100, 1000}},
	circuitBytes:   {limit{256 << 10, 4 << 20}, limit{1 << 20, 16 << 20}},
	hellos:         {limit{1, 10}, limit{10, 300}},
}

// price is how many messages a direct message counts as. Questions cost most: a few bytes are answered with up to half
// a megabyte that is read from disk.
func price(data []byte) int {
	if len(data) == 0 {
		return 1
	}
	switch data[0] {
	case 6: // Pull: more than a neighbor's own burst, so that its block's share pays
		return 50
	case 3, 8: // Want, FraudProof
		return 10
	}
	return 1
}

// Limits of neighbors.
const (
	maxBlocks   = 4096            // remembered
	blockMemory = time.Minute     // for which a block without neighbors owes what it spent
	maxOwed     = 5 * time.Second // for which a neighbor that spent too much is not read; then it is worth no memory
)

// neighbors are the connected peers, and what they and their blocks may still spend.
type neighbors struct {
	mu     sync.Mutex
	peers  map[peer.ID]*neighbor
	blocks map[block]*premises
}

type neighbor struct {
	conns   int
	circuit bool // a relay led here: it counts as of the relay's block
	greeted bool // it said hello, so it is an evoswarm peer
	proven  bool // this peer dialed it, or it answered at the address that it gave
	at      *premises
	own     [2][resources]*rate.Limiter // by proven
}

// premises are what the neighbors of one block share.
type premises struct {
	block    block
	peers    int
	left     time.Time // of the last peer
	limiters [2][resources]*rate.Limiter
}

func newNeighbors() *neighbors {
	return &neighbors{peers: make(map[peer.ID]*neighbor), blocks: make(map[block]*premises)}
}

// connected notes a connection.
func (n *neighbors) connected(id peer.ID, at ma.Multiaddr, dialed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peers[id]
	if p == nil {
		p = &neighbor{at: n.premises(blockOf(at)), circuit: isCircuit(at)}
		p.at.peers++
		n.peers[id] = p
	}
	if p.circuit && !isCircuit(at) {
		p.circuit = false
		n.leave(p.at)
		p.at = n.premises(blockOf(at))
		p.at.peers++
	}
	p.conns++
	p.proven = p.proven || dialed
}

// disconnected notes the end of a connection.
func (n *neighbors) disconnected(id peer.ID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peers[id]
	if p == nil {
		return
	}
	if p.conns--; p.conns <= 0 {
		delete(n.peers, id)
		n.leave(p.at)
	}
}

// leave notes that a neighbor is in a block no more. The caller holds mu.
func (n *neighbors) leave(at *premises) {
	if at.peers--; at.peers <= 0 {
		at.left = time.Now()
	}
}

// premises returns what is known of a block. The caller holds mu.
func (n *neighbors) premises(b block) *premises {
	at := n.blocks[b]
	if at == nil {
		if len(n.blocks) >= maxBlocks {
			n.tidy()
		}
		at = &premises{block: b}
		n.blocks[b] = at
	}
	return at
}

// tidy forgets blocks that nobody is connected from: those that left long ago, or else the one that left first.
// Connections are bounded, and so are the blocks that stay.
func (n *neighbors) tidy() {
	var first *premises
	for b, at := range n.blocks {
		switch {
		case at.peers > 0:
		case time.Since(at.left) > blockMemory:
			delete(n.blocks, b)
		case first == nil || at.left.Before(first.left):
			first = at
		}
	}
	if first != nil && len(n.blocks) >= maxBlocks {
		delete(n.blocks, first.block)
	}
}

func (n *neighbors) has(id peer.ID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.peers[id] != nil
}

// block is where a neighbor is; the zero block if it is none.
func (n *neighbors) block(id peer.ID) block {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.peers[id]; p != nil {
		return p.at.block
	}
	return block{}
}

// prove notes that a neighbor was dialed at the address that it gave.
func (n *neighbors) prove(id peer.ID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.peers[id]; p != nil {
		p.proven = true
	}
}

// greet notes that a neighbor said hello.
func (n *neighbors) greet(id peer.ID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.peers[id]; p != nil {
		p.greeted = true
	}
}

func (n *neighbors) greeted(id peer.ID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peers[id]
	return p != nil && p.greeted
}

func (n *neighbors) proven(id peer.ID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peers[id]
	return p != nil && p.proven
}

// limiters returns what bounds a neighbor's use of a resource; nil: it is no neighbor.
func (n *neighbors) limiters(id peer.ID, r resource) (own, shared *rate.Limiter) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peers[id]
	if p == nil {
		return nil, nil
	}
	class, q := 0, quotas[r]
	if p.proven {
		class, q = 1, proven[r]
	}
	if p.own[class][r] == nil {
		p.own[class][r] = q.own.limiter()
	}
	if p.at.limiters[class][r] == nil {
		p.at.limiters[class][r] = q.block.limiter()
	}
	return p.own[class][r], p.at.limiters[class][r]
}

// take charges a neighbor, or reports that it has spent its share.
func (n *neighbors) take(id peer.ID, r resource, cost int) bool {
	own, shared := n.limiters(id, r)
	if own == nil {
		return false
	}
	now := time.Now()
	return own.AllowN(now, cost) || shared.AllowN(now, cost)
}

// pay charges a neighbor once it has enough, and waits until then: what is not read waits at the sender. false: it
// owes too much, or ctx ended.
func (n *neighbors) pay(ctx context.Context, id peer.ID, r resource, cost int) bool {
	own, shared := n.limiters(id, r)
	if own == nil {
		return false
	}
	now := time.Now()
	if own.AllowN(now, cost) || shared.AllowN(now, cost) {
		return true
	}
	mine, ours := own.ReserveN(now, cost), shared.ReserveN(now, cost)
	wait := min(mine.DelayFrom(now), ours.DelayFrom(now))
	if mine.DelayFrom(now) <= ours.DelayFrom(now) {
		ours.CancelAt(now)
	} else {
		mine.CancelAt(now)
	}
	if wait > maxOwed {
		mine.CancelAt(now)
		ours.CancelAt(now)
		return false
	}
	return sleep(ctx, wait)
}

// sleep waits; false: ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
