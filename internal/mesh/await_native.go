//go:build !js

package mesh

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Limits of Await: anybody may dial a peer that waits.
const (
	awaitEvery = 500 * time.Millisecond
	askAgain   = time.Minute // after which a peer that is in no such run is asked again
	maxAsking  = 8           // at a time
)

// Await waits, before Enter, until a peer of a run dials this one, and returns its hello, which has the genesis.
func (m *Mesh) Await(ctx context.Context, run string) (Hello, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tick := time.NewTicker(awaitEvery)
	defer tick.Stop()
	asked, asking := make(map[peer.ID]time.Time), 0
	answers := make(chan Hello, maxAsking)
	for {
		select {
		case <-ctx.Done():
			return Hello{}, ctx.Err()
		case <-m.ctx.Done():
			return Hello{}, ErrClosed
		case hello := <-answers:
			asking--
			if hello.Run == run && len(hello.Genesis) > 0 {
				return hello, nil
			}
		case <-tick.C:
		}
		for id, at := range asked {
			if time.Since(at) > askAgain || !m.neighbors.has(id) {
				delete(asked, id)
			}
		}
		for _, id := range m.host.Network().Peers() {
			if _, known := asked[id]; known || asking >= maxAsking {
				continue
			}
			asked[id] = time.Now()
			asking++
			m.spawn(func() {
				ctx, cancel := context.WithTimeout(ctx, helloTimeout)
				defer cancel()
				hello, err := m.sayHello(ctx, id)
				if err != nil {
					m.log.Debug("hello failed", "peer", id, "err", err)
				}
				answers <- hello
			})
		}
	}
}
