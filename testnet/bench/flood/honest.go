//go:build linux

package main

import (
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"os"
	"runtime/pprof"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/evoswarm/evoswarm/internal/mesh"
	node "github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

func keyOf(n int) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	seed[0], seed[1] = byte(n), byte(n>>8)
	return ed25519.NewKeyFromSeed(seed)
}

func idOf(n int) peer.ID {
	id, err := mesh.IDOf(seedlog.PeerOf(keyOf(n)))
	if err != nil {
		panic(err) // a key made here
	}
	return id
}

// rules are those of the run, whose origin is the hub.
func rules() *seedlog.Rules {
	options := runspec.Options{Env: "CartPole-v1", Origin: seedlog.PeerOf(keyOf(1))}
	options.Nonce[0] = 1
	spec, err := runspec.NewSpec(options)
	if err != nil {
		panic(err)
	}
	// A generation takes the honest peers about a second, so that it is the work that closes it, not the clock.
	g := &spec.Generation
	g.Evaluations = uint64(time.Second/pace) * uint64(len(honestAddrs)) * g.Chunk
	g.Quota = g.Evaluations/g.Chunk + 1
	r, err := seedlog.NewRules(spec)
	if err != nil {
		panic(err)
	}
	return r
}

// pace is how long an honest peer takes for a chunk.
const pace = 40 * time.Millisecond

// paced is an evaluator that takes its time for own work, one piece after the other, and counts it.
type paced struct {
	*node.PoolEvaluator
	queue    chan func()
	computed atomic.Uint64
}

func (p *paced) Evaluate(id uint64, task rollout.Task, urgent bool, done func([]rollout.CandidateResult, error)) {
	p.PoolEvaluator.Evaluate(id, task, urgent, func(results []rollout.CandidateResult, err error) {
		if urgent {
			done(results, err)
			return
		}
		p.queue <- func() {
			time.Sleep(pace)
			p.computed.Add(uint64(len(results)))
			done(results, err)
		}
	})
}

func (p *paced) Slots(uint64) int { return 1 }

func (p *paced) work() {
	for f := range p.queue {
		f()
	}
}

// start makes a peer of the run.
func start(cfg mesh.Config, paused bool) (*node.Peer, *paced, error) {
	r := rules()
	if os.Getenv("FLOOD_LOG") != "" {
		cfg.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("number", *number)
	}
	cfg.Key = keyOf(*number)
	m, err := mesh.New(forever(), cfg)
	if err != nil {
		return nil, nil, err
	}
	e := &paced{PoolEvaluator: node.NewPoolEvaluator(r, 1), queue: make(chan func(), 1024)}
	go e.work()
	p, err := node.Start(forever(), node.Config{Rules: r, Key: cfg.Key, Hub: cfg.Hub, Mesh: m, Store: store.NewMemory(r.Spec), Evaluator: e, Paused: paused, Logger: cfg.Logger,
		Mandate: 1 << 40}) // the hub leads throughout: leaves that led would re-run claims instead of computing their own
	return p, e, err
}

// hub leads and evaluates nothing of its own.
func hub() error {
	p, _, err := start(mesh.Config{Hub: true, Listen: []string{fmt.Sprintf("/ip4/%s/tcp/4001", *at)}}, true)
	if err != nil {
		return err
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		time.AfterFunc(time.Duration(*seconds)*time.Second, pprof.StopCPUProfile)
	}
	report(func() sample { return sample{Height: p.Status().Height} })
	return nil
}

// honest works.
func honest() error {
	p, e, err := start(mesh.Config{Peers: []string{*to}}, false)
	if err != nil {
		return err
	}
	report(func() sample {
		return sample{Height: p.Status().Height, Mine: p.Status().Mine, Computed: e.computed.Load()}
	})
	return nil
}
