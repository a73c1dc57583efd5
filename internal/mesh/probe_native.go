//go:build !js

package mesh

import (
	"context"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	manet "github.com/multiformats/go-multiaddr/net"
)

const (
	maxProbes        = 8
	maxProbesOfBlock = 2
	probeTimeout     = 3 * time.Second
)

// probe reports whether the other side of a connection can be dialed at one of addrs, where it has to show its key.
// Only addresses with the IP that it itself has are tried, so that it cannot aim this peer at others.
func (m *Mesh) probe(c network.Conn, addrs []string) bool {
	asker, err := manet.ToIP(c.RemoteMultiaddr())
	if err != nil || isCircuit(c.RemoteMultiaddr()) {
		return false
	}
	ctx, cancel := context.WithTimeout(m.ctx, probeTimeout)
	defer cancel()
	end, ok := m.probes.begin(ctx, blockOf(c.RemoteMultiaddr()))
	if !ok {
		return false
	}
	defer end()
	tried, answers := make(map[Way]bool), make(chan bool, len(byWay))
	for _, addr := range addrs {
		info, err := parseAddr(addr)
		if err != nil || info.ID != c.RemotePeer() {
			continue
		}
		ip, err := manet.ToIP(info.Addrs[0])
		if w := wayOf(info.Addrs[0]); err == nil && ip.Equal(asker) && w != Relayed && !tried[w] {
			tried[w] = true
			m.spawn(func() { answers <- m.answersAt(ctx, *info) == nil })
		}
	}
	for range tried {
		if <-answers {
			return true
		}
	}
	return false
}

// probes counts the peers that this one dials back.
type probes struct {
	slots chan struct{}
	mu    sync.Mutex
	of    map[block]int
}

func newProbes() *probes {
	return &probes{slots: make(chan struct{}, maxProbes), of: make(map[block]int)}
}

// begin waits until another one may be dialed back; false: the block's peers have their part, or ctx ended.
func (p *probes) begin(ctx context.Context, at block) (end func(), ok bool) {
	p.mu.Lock()
	fits := p.of[at] < maxProbesOfBlock
	if fits {
		p.of[at]++
	}
	p.mu.Unlock()
	if !fits {
		return nil, false
	}
	leave := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.of[at]--; p.of[at] == 0 {
			delete(p.of, at)
		}
	}
	select {
	case p.slots <- struct{}{}:
		return func() { <-p.slots; leave() }, true
	case <-ctx.Done():
		leave()
		return nil, false
	}
}
