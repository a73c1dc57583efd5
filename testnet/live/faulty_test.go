package live

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// faulty is a hub in the test's process that is honest except about its own work.
type faulty struct {
	*peer.Peer
	mesh *mesh.Mesh
	self string
	lies *atomic.Bool
}

// exaggerator is an evaluator that adds to the fitness of the peer's own work once lies is set. It re-runs the work of
// others honestly, or it would ban them: re-runs are urgent, or of one result that is none of its own. A state may come
// before its entry, so its own seeds on it are not known for a moment.
type exaggerator struct {
	*peer.PoolEvaluator
	own  *ownSeeds
	lies *atomic.Bool
}

// ownSeeds knows the candidates that a peer may claim on the newest entries of a log.
type ownSeeds struct {
	rules *seedlog.Rules
	self  seedlog.Peer
	log   *store.Memory

	mu    sync.Mutex
	known map[seedlog.Link]bool // entries whose seeds are in seeds
	seeds map[uint64]bool
}

func newOwnSeeds(rules *seedlog.Rules, self seedlog.Peer, log *store.Memory) *ownSeeds {
	return &ownSeeds{rules: rules, self: self, log: log, known: make(map[seedlog.Link]bool), seeds: make(map[uint64]bool)}
}

func (o *ownSeeds) has(seed uint64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	top := o.log.Length()
	for height := top; height > 0 && height+seedlog.MaxStale > top; height-- {
		if link, _, ok := o.log.At(height); ok && !o.known[link] {
			o.known[link] = true
			for counter := range o.rules.Spec.Generation.Quota * o.rules.Spec.Generation.Chunk {
				o.seeds[o.rules.Seed(link, o.self, counter)] = true
			}
		}
	}
	return o.seeds[seed]
}

// surplus is what it adds, in the log's fixed point: more steps than an episode has, so that the false claim is always
// the best of its generation and decides it. False claims that decide nothing are found only by the lottery, in time.
const surplus = 1000 << 20

func (f exaggerator) Evaluate(id uint64, task rollout.Task, urgent bool, done func([]rollout.CandidateResult, error)) {
	f.PoolEvaluator.Evaluate(id, task, urgent, func(results []rollout.CandidateResult, err error) {
		for i := range results {
			if f.lies.Load() && !urgent && (len(results) > 1 || f.own.has(task.Seeds[i])) {
				results[i].Fitness[0] += surplus
			}
		}
		done(results, err)
	})
}

// newFaulty starts a faulty peer in the run of spec, which is honest so far; it dials the given addresses. One that is
// paused computes nothing of its own.
func newFaulty(t *testing.T, spec *seedlog.Spec, key ed25519.PrivateKey, paused bool, addresses ...string) *faulty {
	t.Helper()
	rules, err := seedlog.NewRules(spec)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mesh.New(t.Context(), mesh.Config{Key: key, Hub: true, Agent: "faulty", Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Peers: addresses})
	if err != nil {
		t.Fatal(err)
	}
	l := &faulty{mesh: m, self: seedlog.PeerOf(key).String(), lies: new(atomic.Bool)}
	log := store.NewMemory(spec)
	l.Peer, err = peer.Start(context.Background(), peer.Config{
		Rules: rules, Key: key, Hub: true, Mesh: m, Store: log, Mandate: 1 << 40, Audit: -1, Paused: paused,
		Evaluator: exaggerator{peer.NewPoolEvaluator(rules, 1), newOwnSeeds(rules, seedlog.PeerOf(key), log), l.lies},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		l.Close(ctx)
	})
	return l
}

func newKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestFaultyPeer: a hub whose claims are false from the first one on is found before any of them is logged.
func TestFaultyPeer(t *testing.T) {
	var s swarm
	first := s.serve(t, "bootstrap", "--bootstrap", "--train", "CartPole-v1")
	second := s.newNode(t, "second", "join", first.page).start(t)
	s.await(t, "both train", func() string {
		return s.each(func(_ *node, st peer.Status) string {
			if st.Mine == 0 || st.Connected != 1 {
				return fmt.Sprintf("%d own evaluations, connected to %d", st.Mine, st.Connected)
			}
			return ""
		})
	})
	var addresses []string
	for _, n := range []*node{first, second} {
		found, err := mesh.Resolve(t.Context(), n.page)
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, found.Addresses...)
	}
	l := newFaulty(t, specOf(t, first), newKey(t), true, addresses...)
	s.await(t, "it has the run", func() string {
		if st := l.Status(); st.Height == 0 || st.Behind > 0 || st.Connected != 2 || st.Leader == "" {
			return fmt.Sprintf("height %d, %d behind, connected to %d, led by %s", st.Height, st.Behind, st.Connected, st.Leader)
		}
		return ""
	})
	l.lies.Store(true)
	l.Pause(false)
	s.cutOff(t, l)
	s.grown(t, 5)
	s.cleanFrom(t, l, 1)
}

// TestFaultyLeader: the peer that began the run leads it honestly, then logs false claims of its own. In format 1
// what it logged is undone; in format 2, where a false result moves the model by little, what was found late stays.
func TestFaultyLeader(t *testing.T) {
	for _, format := range []uint64{seedlog.Format1, seedlog.Format2} {
		t.Run(fmt.Sprint("format ", format), func(t *testing.T) { ousted(t, format) })
	}
}

func ousted(t *testing.T, format uint64) {
	var s swarm
	key := newKey(t)
	options := runspec.Options{Env: "CartPole-v1", Format: format, Origin: seedlog.PeerOf(key)}
	rand.Read(options.Nonce[:])
	spec, err := runspec.NewSpec(options)
	if err != nil {
		t.Fatal(err)
	}
	l := newFaulty(t, spec, key, false)
	first := s.newNode(t, "first", "join", l.mesh.Addrs()[0]).start(t)
	s.await(t, "the first answers", func() string {
		if _, err := first.status(); err != nil {
			return err.Error()
		}
		return ""
	})
	s.newNode(t, "second", "join", first.page).start(t)
	s.await(t, "all train, led by the peer that will cheat", func() string {
		return s.each(func(_ *node, st peer.Status) string {
			if st.Mine == 0 || st.Connected != 2 || st.Leader != l.self {
				return fmt.Sprintf("%d own evaluations, connected to %d, led by %s", st.Mine, st.Connected, st.Leader)
			}
			return ""
		})
	})
	l.lies.Store(true)
	s.await(t, "another leads", func() string {
		return s.each(func(_ *node, st peer.Status) string {
			if st.Leader == "" || st.Leader == l.self {
				return "follows " + st.Leader
			}
			return ""
		})
	})
	s.cutOff(t, l)
	if format == seedlog.Format2 {
		st, err := s.nodes[0].status()
		if err != nil {
			t.Fatal(err)
		}
		s.grown(t, 5)
		s.without(t, l, st.Height+1)
		return
	}
	// A node that gets the fraud proof before the entry no longer checks the entry, so one of them is enough.
	if !s.nodes[0].said("logged a false claim at height") && !s.nodes[1].said("logged a false claim at height") {
		t.Errorf("no node found the false claim in an entry\n%s", s.describe())
	}
	s.grown(t, 5)

	var log bytes.Buffer
	if err := l.Log(&log); err != nil {
		t.Fatal(err)
	}
	_, err = seedlog.Replay(&log, seedlog.ReplayOptions{Check: seedlog.CheckClaims})
	var at *seedlog.FileError
	if !errors.As(err, &at) || !errors.Is(err, seedlog.ErrFalseClaim) {
		t.Fatalf("the faulty peer's own log: got %v, want a false claim", err)
	}
	t.Logf("the faulty peer's own log is false from height %d on", at.Height)
	s.cleanFrom(t, l, at.Height)
}

// cutOff waits until all nodes have proof that the peer is faulty, and none is connected to it.
func (s *swarm) cutOff(t *testing.T, l *faulty) {
	t.Helper()
	s.await(t, "all know of the false claim", func() string {
		for _, n := range s.nodes {
			if !n.said("made a false claim") {
				st := l.Status()
				return fmt.Sprintf("%s does not; the faulty peer is at height %d, connected to %d, and says %q", n.name, st.Height, st.Connected, st.Why)
			}
		}
		return ""
	})
	s.await(t, "the faulty peer is cut off", func() string {
		if links := l.mesh.Links(); len(links) > 0 {
			return fmt.Sprintf("it is connected to %d", len(links))
		}
		return s.each(func(_ *node, st peer.Status) string {
			if others := len(s.nodes) - 1; st.Connected != others {
				return fmt.Sprintf("connected to %d, want %d", st.Connected, others)
			}
			return ""
		})
	})
}

// cleanFrom checks that the nodes' logs have nothing of the faulty peer from a height on, and that every
// claim in them is true.
func (s *swarm) cleanFrom(t *testing.T, l *faulty, height uint64) {
	t.Helper()
	for n, log := range s.without(t, l, height) {
		r := parseReplay(t, command(t, evonode(t), "replay", log, "--check", "claims", "--json"))
		t.Logf("%s: all %d evaluations up to height %d are true", n.name, r.Checked, r.Height)
	}
}

// without checks that the nodes' logs have nothing of the faulty peer from a height on, and returns their files.
func (s *swarm) without(t *testing.T, l *faulty, height uint64) map[*node]string {
	t.Helper()
	logs := map[*node]string{}
	for _, n := range s.nodes {
		log := n.seedlog(t)
		logs[n] = log
		list := entries(t, log)
		if uint64(len(list)) < height {
			t.Fatalf("%s: got a log of height %d, want at least %d", n.name, len(list), height)
		}
		for _, e := range list[height-1:] {
			if e.Peers[l.self] != 0 || e.Leader == l.self {
				t.Errorf("%s: the faulty peer is in entry %+v", n.name, e)
			}
		}
	}
	return logs
}

// specOf reads the spec of the node's run from its log.
func specOf(t *testing.T, n *node) *seedlog.Spec {
	t.Helper()
	data, err := n.fetch(client, "/api/log")
	if err != nil {
		t.Fatal(err)
	}
	scanner, err := seedlog.NewScanner(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return scanner.Rules().Spec
}
