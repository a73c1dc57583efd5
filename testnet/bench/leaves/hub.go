//go:build linux

package main

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/evoswarm/evoswarm/internal/mesh"
	node "github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// What the hub does for the run: entries of some 50 claims, four a second.
const (
	claimsOfEntry = 50
	pace          = 5 * time.Millisecond // for a claim
)

// keyOf is a key that others do not have.
func keyOf(n int) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	binary.LittleEndian.PutUint32(seed, uint32(n))
	return ed25519.NewKeyFromSeed(seed)
}

// rules are those of the run, whose origin is the hub.
func rules() (*seedlog.Rules, error) {
	options := runspec.Options{Env: "CartPole-v1", Origin: seedlog.PeerOf(keyOf(0))}
	options.Nonce[0] = 1
	spec, err := runspec.NewSpec(options)
	if err != nil {
		return nil, err
	}
	g := &spec.Generation
	g.Evaluations, g.Quota = claimsOfEntry*g.Chunk, 2*claimsOfEntry
	return seedlog.NewRules(spec)
}

// paced is an evaluator that takes its time, so that the hub's processor is there for its leaves.
type paced struct{ *node.PoolEvaluator }

func (p paced) Evaluate(id uint64, task rollout.Task, urgent bool, done func([]rollout.CandidateResult, error)) {
	p.PoolEvaluator.Evaluate(id, task, urgent, func(results []rollout.CandidateResult, err error) {
		time.AfterFunc(pace, func() { done(results, err) })
	})
}

func (paced) Slots(uint64) int { return 1 }

// hubState is what the hub says of itself.
type hubState struct {
	Addrs      []string
	Run        string
	Height     uint64
	Links      int
	RSS        int // bytes
	Heap       uint64
	Goroutines int
	CPU        float64 // seconds so far
}

// hub leads a run and is the only one who works for it.
func hub() error {
	r, err := rules()
	if err != nil {
		return err
	}
	cfg := mesh.Config{Key: keyOf(0), Hub: true, Agent: "leaves/1", PerAddress: *most}
	for _, a := range []string{"/tcp/4001", "/tcp/4001/ws", "/udp/4001/quic-v1", "/udp/4001/quic-v1/webtransport", "/udp/4001/webrtc-direct"} {
		cfg.Listen = append(cfg.Listen, "/ip4/"+hubAddr+a)
	}
	m, err := mesh.New(context.Background(), cfg)
	if err != nil {
		return err
	}
	p, err := node.Start(context.Background(), node.Config{Rules: r, Key: cfg.Key, Hub: true, Mesh: m, Store: store.NewMemory(r.Spec),
		Evaluator: paced{node.NewPoolEvaluator(r, 1)}, Mandate: 1 << 40})
	if err != nil {
		return err
	}
	return say(func() hubState {
		var heap runtime.MemStats
		runtime.ReadMemStats(&heap)
		return hubState{Addrs: m.Addrs(), Run: r.Run.String(), Height: p.Status().Height, Links: len(m.Links()), RSS: resident(), Heap: heap.HeapInuse,
			Goroutines: runtime.NumGoroutine(), CPU: cpu()}
	})
}

// resident is the memory that the system gave this process, in bytes.
func resident() int {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, text, _ := strings.Cut(string(data), "VmRSS:")
	kib, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	n, err := strconv.Atoi(kib)
	if err != nil {
		panic(fmt.Sprint("no VmRSS in /proc/self/status: ", err))
	}
	return n << 10
}
