// Package peer joins coordinator, mesh, store and evaluator into one running peer, the same on a computer and in a
// browser tab. One goroutine owns the coordinator; what must be durable is, before anything leaves.
package peer

import (
	"context"
	"errors"
	"io"
)

// ErrClosed is returned by calls to a peer that has stopped.
var ErrClosed = errors.New("peer: closed")

// Peer is one member of a swarm, or a swarm of one. Its methods are safe for concurrent use.
type Peer struct{}

// Start restores what the store holds, enters the mesh and begins to work. It owns cfg.Mesh, cfg.Store and
// cfg.Evaluator from then on, even if it fails. When ctx ends the peer stops at once, as if it had crashed; see [Peer.Close] for
// an orderly end.
func Start(ctx context.Context, cfg Config) (*Peer, error) { return nil, ErrClosed }

// Status describes the peer as it is now.
func (p *Peer) Status() Status { return Status{} }

// Watch returns a channel that always holds the newest status: sent on every change and every second, at most ten
// times a second; a slow reader misses some. It is closed when the peer stops. cancel ends it early.
func (p *Peer) Watch() (updates <-chan Status, cancel func()) { return nil, nil }

// Theta returns the parameters of the mean policy at the head, read-only, and the head's height: for drawing.
func (p *Peer) Theta() (theta []float32, height uint64) { return nil, 0 }

// Curve returns the looks at the mean policy so far, in order of height. It is a copy.
func (p *Peer) Curve() []Point { return nil }

// Pause stops or restarts own work. Re-runs that the protocol owes go on. It is not remembered over a restart.
func (p *Peer) Pause(paused bool) {}

// SetWorkers changes how many cores are lent.
func (p *Peer) SetWorkers(n int) {}

// Log writes the canonical seed log, as a file that `evonode replay` reads, up to the head of this moment.
func (p *Peer) Log(w io.Writer) error { return ErrClosed }

// Done is closed when the peer has stopped.
func (p *Peer) Done() <-chan struct{} { return nil }

// Err says why the peer stopped by itself; nil while it runs and after Close.
func (p *Peer) Err() error { return nil }

// Close hands over, says goodbye, writes everything out and stops; ctx bounds the goodbye. Close again is harmless.
func (p *Peer) Close(ctx context.Context) error { return nil }
