// Package peer joins coordinator, mesh, store and evaluator into one running peer, the same on a computer and in a
// browser tab. One goroutine owns the coordinator; what must be durable is, before anything leaves.
//
// Floor 5, drivers: floors 5 and 6 import it.
package peer

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// ErrClosed is returned by calls to a peer that has stopped.
var ErrClosed = errors.New("peer: closed")

const (
	defaultTick     = 50 * time.Millisecond
	defaultRetry    = 5 * time.Second
	defaultDecisive = 2
	defaultAudit    = 32
	flushTime       = 2 * time.Second        // for the goodbye, at most
	lingerTime      = 200 * time.Millisecond // for the goodbye's gossip to leave
)

// Peer is one member of a swarm, or a swarm of one. Its methods are safe for concurrent use.
type Peer struct {
	cfg     Config
	rules   *seedlog.Rules
	log     *slog.Logger
	archive archive
	started time.Time

	ctx     context.Context
	cancel  context.CancelFunc
	done    chan struct{}
	closing sync.Once

	inbox  inbox
	checks checks
	driver driver // owned by the loop

	summing atomic.Bool // whether a summary is being kept

	mu       sync.Mutex // guards what follows
	status   Status
	model    *evolve.State // newest that is folded
	modelAt  uint64        // height of model
	newest   *evolve.State // of the head; nil: it is not folded yet
	newestOn seedlog.Link  // the head then
	curve    []Point
	watchers map[chan Status]bool
	err      error
}

// Start restores what the store holds, enters the mesh and begins to work. It owns cfg.Mesh, cfg.Store and
// cfg.Evaluator from then on, even if it fails. When ctx ends the peer stops at once, as if it had crashed; see
// [Peer.Close] for an orderly end.
func Start(ctx context.Context, cfg Config) (*Peer, error) {
	if cfg.Rules == nil || cfg.Store == nil || cfg.Evaluator == nil || cfg.Key == nil {
		return nil, errors.New("peer: rules, key, store and evaluator are required")
	}
	p := &Peer{cfg: withDefaults(cfg), rules: cfg.Rules, log: cfg.Logger, started: time.Now(), done: make(chan struct{}),
		inbox: inbox{wake: make(chan struct{}, 1)}, watchers: make(map[chan Status]bool)}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	p.checks = newChecks(cfg.Rules)
	p.archive.set(cfg.Store)
	p.ctx, p.cancel = context.WithCancel(ctx)
	if err := p.begin(); err != nil {
		p.cancel()
		return nil, errors.Join(err, p.release())
	}
	go p.loop()
	return p, nil
}

func withDefaults(cfg Config) Config {
	if cfg.Timing == (coordinator.Timing{}) {
		cfg.Timing = coordinator.LAN()
	}
	if cfg.Tick <= 0 {
		cfg.Tick = defaultTick
	}
	if cfg.Retry <= 0 {
		cfg.Retry = defaultRetry
	}
	if cfg.Kind == coordinator.Native {
		if cfg.Decisive == 0 {
			cfg.Decisive = defaultDecisive
		}
		if cfg.Audit == 0 {
			cfg.Audit = defaultAudit
		}
	}
	cfg.Audit = max(cfg.Audit, 0)
	if cfg.Seed == 0 {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails
		cfg.Seed = binary.LittleEndian.Uint64(b[:])
	}
	return cfg
}

// begin makes the coordinator and enters the mesh.
func (p *Peer) begin() error {
	cfg := &p.cfg
	length := cfg.Store.Length()
	summary, notes := coordinator.Summaries{Rules: p.rules, Archive: &p.archive}.Newest(length)
	for _, text := range notes {
		p.log.Warn(text)
	}
	base, err := coordinator.Summaries{Rules: p.rules, Archive: &p.archive}.Base(cfg.Store.State())
	if err != nil {
		return err
	}
	c, err := coordinator.New(coordinator.Config{
		Rules: p.rules, Key: cfg.Key, Kind: cfg.Kind, Hub: cfg.Hub, Timing: cfg.Timing, Archive: &p.archive,
		Seed: cfg.Seed, Slots: p.slots(), Decisive: cfg.Decisive, Audit: cfg.Audit, Mandate: cfg.Mandate, Paused: cfg.Paused,
		State: cfg.Store.State(), Height: length, Summary: summary, Base: base,
	})
	if err != nil {
		return fmt.Errorf("peer: restoring run %s: %w", p.rules.Run, err)
	}
	p.driver = driver{coord: c, work: make(map[uint64]int), slots: p.slots()}
	p.driver.snapshot = c.Snapshot()
	p.restoreCurve(cfg.Curve, cfg.Store)
	p.publish(true)
	if cfg.Mesh != nil {
		if err := cfg.Mesh.Enter(seedlog.Encode(p.rules.Spec)); err != nil {
			return fmt.Errorf("peer: entering run %s: %w", p.rules.Run, err)
		}
	}
	return nil
}

func (p *Peer) slots() int { return max(p.cfg.Evaluator.Slots(p.rules.Spec.Generation.Chunk), 1) }

// release closes what the peer owns.
func (p *Peer) release() error {
	p.cfg.Evaluator.Close()
	var err error
	if p.cfg.Mesh != nil {
		err = p.cfg.Mesh.Close()
	}
	return errors.Join(err, p.archive.get().Close())
}

// Model returns a state, read-only, and its height: the one that passed the test, else the best one by held-out
// episodes, else the newest that is known. It is for drawing the mean policy, which is more than its parameters where
// observations are normalized.
func (p *Peer) Model() (state *evolve.State, height uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.model, p.modelAt
}

// Newest returns the state after the head, which new candidates are made from, and the head's link. It is
// read-only, and nil while the head is not folded yet.
func (p *Peer) Newest() (state *evolve.State, on seedlog.Link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.newest, p.newestOn
}

// Pause stops or restarts own work. Re-runs that the protocol requires continue. It is not remembered over a restart.
func (p *Peer) Pause(paused bool) {
	p.inbox.post(func() { p.step(coordinator.SetPaused{Paused: paused}) })
}

// SetWorkers changes how many cores are lent, at least 1: to lend none, Pause.
func (p *Peer) SetWorkers(n int) {
	p.inbox.post(func() {
		p.cfg.Evaluator.SetWorkers(max(n, 1))
		p.offer()
	})
}

// Log writes the canonical seed log, as a file that `evonode replay` reads, up to the head of this moment.
func (p *Peer) Log(w io.Writer) error {
	select {
	case <-p.done:
		return ErrClosed
	default:
		return store.WriteLog(w, p.rules, p.archive.get())
	}
}

// Mesh returns the mesh that the peer was started with; nil: alone.
func (p *Peer) Mesh() *mesh.Mesh { return p.cfg.Mesh }

// Done is closed when the peer has stopped.
func (p *Peer) Done() <-chan struct{} { return p.done }

// Err says what went wrong while the peer stopped; nil while it runs.
func (p *Peer) Err() error {
	select {
	case <-p.done:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.err
	default:
		return nil
	}
}

// Close hands over, says goodbye, writes everything out and stops; ctx bounds the goodbye. Close again is harmless.
func (p *Peer) Close(ctx context.Context) error {
	p.closing.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, flushTime)
		defer cancel()
		retired := make(chan struct{})
		p.inbox.post(func() {
			p.step(coordinator.Retire{})
			close(retired)
		})
		select {
		case <-retired:
			p.sayGoodbye(ctx)
		case <-ctx.Done():
		case <-p.done:
		}
		p.cancel()
	})
	<-p.done
	return p.Err()
}

// sayGoodbye waits until what is queued has left.
func (p *Peer) sayGoodbye(ctx context.Context) {
	if p.cfg.Mesh == nil || len(p.cfg.Mesh.Links()) == 0 {
		return
	}
	if err := p.cfg.Mesh.Flush(ctx); err != nil {
		p.log.Debug("goodbye", "err", err)
	}
	select {
	case <-time.After(lingerTime):
	case <-ctx.Done():
	case <-p.done:
	}
}
