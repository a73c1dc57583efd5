//go:build !js

package peer_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Started by an init function of a library, for the whole process.
		goleak.IgnoreTopFunction("github.com/libp2p/go-libp2p/p2p/transport/quicreuse.init.0.func1"),
	)
}

const patience = 60 * time.Second

func key(n byte) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = n
	return ed25519.NewKeyFromSeed(seed)
}

// cartPole is a small run whose origin is key 1.
func cartPole(t testing.TB) *seedlog.Rules {
	t.Helper()
	return cartPoleWith(t, func(*seedlog.Spec) {})
}

// cartPoleWith returns the rules of a run that edit may change.
func cartPoleWith(t testing.TB, edit func(*seedlog.Spec)) *seedlog.Rules {
	t.Helper()
	method, err := evolve.FindRevision("dises", 1)
	if err != nil {
		t.Fatal(err)
	}
	params, err := method.Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	origin := seedlog.PeerOf(key(1))
	nonce := make([]byte, 16)
	nonce[0] = 1
	spec := &seedlog.Spec{
		Format: seedlog.Format1, Numerics: seedlog.Numerics,
		Env:        seedlog.EnvRef{ID: "CartPole-v1", Revision: 1},
		Policy:     policy.Spec{Kind: "linear", Hidden: []uint64{}, Head: "argmax"},
		Strategy:   seedlog.StrategyRef{Name: "dises", Revision: method.Revision, Params: params},
		Episodes:   seedlog.Episodes{Count: 1, Shared: true},
		Generation: seedlog.Generation{Evaluations: 16, Open: true, Chunk: 4, Quota: 4, WeightSteps: 1 << 20},
		Checks:     seedlog.Checks{Every: 2, Validate: 4, Test: 4},
		Seed:       1, Origin: origin[:], Nonce: nonce,
	}
	edit(spec)
	rules, err := seedlog.NewRules(spec)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

type member struct {
	*peer.Peer
	mesh *mesh.Mesh
	kill context.CancelFunc
}

// join starts a peer that others can dial, linked to the first of others. edit may change its configuration.
func join(t *testing.T, rules *seedlog.Rules, n byte, edit func(*peer.Config), others ...*member) *member {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	if os.Getenv("PEER_LOG") != "" {
		logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})).With("n", n)
	}
	cfg := mesh.Config{Key: key(n), Hub: true, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Logger: logger}
	for _, o := range others {
		cfg.Peers = append(cfg.Peers, o.mesh.Addrs()...)
	}
	m, err := mesh.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	pc := peer.Config{Rules: rules, Key: key(n), Hub: true, Mesh: m, Store: store.NewMemory(rules.Spec),
		Evaluator: peer.NewPoolEvaluator(rules, 1), Logger: logger}
	if edit != nil {
		edit(&pc)
	}
	ctx, kill := context.WithCancel(context.Background())
	p, err := peer.Start(ctx, pc)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		kill()
		<-p.Done()
	})
	return &member{p, m, kill}
}

// until waits for a status.
func until(t *testing.T, what string, m *member, want func(peer.Status) bool) peer.Status {
	t.Helper()
	updates, cancel := m.Watch()
	defer cancel()
	timeout := time.After(patience)
	var last peer.Status
	for {
		select {
		case s, open := <-updates:
			if !open {
				t.Fatalf("stopped while waiting until %s: %v", what, m.Err())
			}
			if last = s; want(s) {
				return s
			}
		case <-timeout:
			t.Fatalf("waited in vain until %s; last: %+v", what, last)
		}
	}
}

func height(n uint64) func(peer.Status) bool {
	return func(s peer.Status) bool { return s.Height >= n }
}

// headAt replays the log of m up to height h, with all checks.
func headAt(t *testing.T, m *member, h uint64, check seedlog.Check) seedlog.Link {
	t.Helper()
	var log bytes.Buffer
	if err := m.Log(&log); err != nil {
		t.Fatal(err)
	}
	r, err := seedlog.Replay(&log, seedlog.ReplayOptions{At: h, HasAt: true, Check: check})
	if err != nil {
		t.Fatal(err)
	}
	return r.Link
}

func TestThreeTrainTogether(t *testing.T) {
	rules := cartPole(t)
	a := join(t, rules, 1, nil)
	b := join(t, rules, 2, nil, a)
	c := join(t, rules, 3, nil, a)
	all := []*member{a, b, c}
	for _, m := range all {
		s := until(t, "all work", m, func(s peer.Status) bool { return s.Mine > 0 && s.Peers == 2 && s.Connected == 2 })
		if s.Run != rules.Run.String() || s.Env != "CartPole-v1" || s.State == peer.Paused || s.Why == "" || s.Leader == "" {
			t.Errorf("got status %+v", s)
		}
	}
	h := a.Status().Height + 5
	for _, m := range all {
		until(t, "5 more generations", m, height(h))
	}
	for _, m := range all {
		m.Pause(true)
	}
	for _, m := range all {
		until(t, "it is paused", m, func(s peer.Status) bool { return s.State == peer.Paused })
	}
	// Heads of the moment may differ; what lies below them does not.
	want := headAt(t, a, h, seedlog.CheckClaims)
	for _, m := range all[1:] {
		if got := headAt(t, m, h, seedlog.CheckDigests); got != want {
			t.Errorf("got %s at height %d, want %s", got, h, want)
		}
	}
	until(t, "there is a curve", a, func(s peer.Status) bool { return s.Return != nil })
	state, _ := a.Model()
	if len(a.Curve()) == 0 || len(state.Theta) != rules.Policy.Dim() {
		t.Errorf("got curve %v and state %v", a.Curve(), state)
	}
}

// Two peers agree on statistics that neither states, and count what they took as training.
func TestTrainTogetherWithStatistics(t *testing.T) {
	rules := cartPoleWith(t, func(s *seedlog.Spec) {
		s.Policy = policy.Spec{Kind: "mlp", Hidden: []uint64{4}, Activation: "tanh", Bias: true, Head: "argmax", VBN: true}
		s.Episodes.Conditions = rollout.Conditions{Bonus: 0.5, Skip: 2, Cap: 3}
		s.Observations = &rollout.Observations{Kind: rollout.Running, Episodes: 2, Clip: 5}
	})
	a := join(t, rules, 1, nil)
	b := join(t, rules, 2, nil, a)
	for _, m := range []*member{a, b} {
		until(t, "both work", m, func(s peer.Status) bool { return s.Mine > 0 && s.Connected == 1 })
	}
	h := a.Status().Height + 4
	for _, m := range []*member{a, b} {
		until(t, "4 more generations", m, height(h))
		until(t, "there is a curve", m, func(s peer.Status) bool { return s.Return != nil })
		m.Pause(true)
	}
	if got, want := headAt(t, b, h, seedlog.CheckDigests), headAt(t, a, h, seedlog.CheckClaims); got != want {
		t.Errorf("got %s at height %d, want %s", got, h, want)
	}
	s := until(t, "it is paused", a, func(s peer.Status) bool { return s.State == peer.Paused })
	state, _ := a.Model()
	if n := rules.ObserveSteps(state); n <= rules.ObserveSteps(rules.Initial()) || s.Steps <= n {
		t.Errorf("%d steps, of which statistics took %d", s.Steps, n)
	}
}

func TestAnotherLeadsWhenTheLeaderDies(t *testing.T) {
	rules := cartPole(t)
	a := join(t, rules, 1, nil)
	b := join(t, rules, 2, nil, a)
	c := join(t, rules, 3, nil, a)
	all := map[string]*member{}
	for _, m := range []*member{a, b, c} {
		s := until(t, "all work", m, func(s peer.Status) bool { return s.Mine > 0 && s.Connected == 2 && s.Leader != "" })
		all[s.Self] = m
	}
	dead := a.Status().Leader
	all[dead].kill()
	begun := time.Now()
	<-all[dead].Done()
	delete(all, dead)
	for _, m := range all {
		until(t, "another leads", m, func(s peer.Status) bool { return s.Leader != "" && s.Leader != dead })
		t.Logf("heard of another leader after %v", time.Since(begun)) // under 2 s by the LAN profile
	}
	for _, m := range all {
		until(t, "it continues", m, height(m.Status().Height+3))
	}
}

func TestAnOrderlyEndHandsOver(t *testing.T) {
	rules := cartPole(t)
	a := join(t, rules, 1, nil)
	b := join(t, rules, 2, nil, a)
	for _, m := range []*member{a, b} {
		until(t, "both work", m, func(s peer.Status) bool { return s.Mine > 0 && s.Connected == 1 })
	}
	gone, left := a, b
	if b.Status().Leads {
		gone, left = b, a
	}
	self := gone.Status().Self
	if err := gone.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := gone.Close(t.Context()); err != nil {
		t.Errorf("closing again: %v", err)
	}
	if err := gone.Log(io.Discard); !errors.Is(err, peer.ErrClosed) {
		t.Errorf("log after Close: got %v", err)
	}
	s := until(t, "the other leads", left, func(s peer.Status) bool { return s.Leads && s.Leader != self })
	until(t, "it continues", left, height(s.Height+3))
}

func TestAloneAndRestarted(t *testing.T) {
	rules := cartPole(t)
	kept := &keeper{Memory: store.NewMemory(rules.Spec)}
	alone := func(c *peer.Config) { c.Store = kept }
	a := join(t, rules, 1, alone)
	until(t, "it trains", a, height(3))
	a.SetWorkers(2)
	until(t, "there are two workers", a, func(s peer.Status) bool { return s.Workers == 2 })
	a.Pause(true)
	until(t, "it is paused", a, func(s peer.Status) bool { return s.State == peer.Paused })
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := a.Status()
	a = join(t, rules, 1, alone)
	if s := a.Status(); s.Height < before.Height || s.Run != before.Run {
		t.Errorf("got height %d after the restart, %d before", s.Height, before.Height)
	}
	s := until(t, "it trains again", a, height(before.Height+3))
	if s.Term <= before.Term {
		t.Errorf("got term %d after the restart, %d before", s.Term, before.Term)
	}
}

func TestARestartedPeerCatchesUp(t *testing.T) {
	rules := cartPole(t)
	kept := &keeper{Memory: store.NewMemory(rules.Spec)}
	keep := func(c *peer.Config) { c.Store = kept }
	a := join(t, rules, 1, nil)
	b := join(t, rules, 2, keep, a)
	s := until(t, "it works", b, func(s peer.Status) bool { return s.Mine > 0 })
	b.kill()
	<-b.Done()
	s = until(t, "the other continues", a, height(s.Height+5))
	b = join(t, rules, 2, keep, a)
	until(t, "it has caught up", b, height(s.Height))
	mine := b.Status().Mine
	until(t, "it works again", b, func(s peer.Status) bool { return s.Mine > mine })
	if got, want := headAt(t, b, s.Height, seedlog.CheckDigests), headAt(t, a, s.Height, seedlog.CheckDigests); got != want {
		t.Errorf("got %s at height %d, want %s", got, s.Height, want)
	}
}

// keeper is a store in memory that outlives Close, and that fails on demand.
type keeper struct {
	*store.Memory
	full atomic.Bool
}

func (k *keeper) Close() error { return nil }

func (k *keeper) Save(b store.Batch) error {
	if k.full.Load() {
		return store.ErrFull
	}
	return k.Memory.Save(b)
}

func TestAFullDisk(t *testing.T) {
	rules := cartPole(t)
	kept := &keeper{Memory: store.NewMemory(rules.Spec)}
	a := join(t, rules, 1, func(c *peer.Config) {
		c.Store, c.Retry = kept, 50*time.Millisecond
		c.Reopen = func() (store.Store, error) { return kept, nil }
	})
	b := join(t, rules, 2, nil, a)
	until(t, "both work", b, func(s peer.Status) bool { return s.Mine > 0 })
	until(t, "it leads", a, func(s peer.Status) bool { return s.Leads })
	kept.full.Store(true)
	s := until(t, "it says so", a, func(s peer.Status) bool { return s.Error != "" })
	if s.Leads || s.Leader == s.Self {
		t.Error("a peer that cannot save says that it leads")
	}
	if s.State != peer.Idle || !strings.Contains(s.Why, "full") {
		t.Errorf("got %s, %q", s.State, s.Why)
	}
	if headAt(t, a, 1, seedlog.CheckLinks) == rules.Run {
		t.Error("what is there is not served")
	}
	s = until(t, "the other leads", b, func(s peer.Status) bool { return s.Leads })
	s = until(t, "the other continues", b, height(s.Height+3))
	kept.full.Store(false)
	until(t, "it recovers and catches up", a, func(now peer.Status) bool { return now.Error == "" && now.Height >= s.Height })
}

func TestAFaultyPeerIsBanned(t *testing.T) {
	rules := cartPole(t)
	a := join(t, rules, 1, nil)
	faulty, err := mesh.New(t.Context(), mesh.Config{Key: key(66)})
	if err != nil {
		t.Fatal(err)
	}
	defer faulty.Close()
	if _, err := faulty.Dial(t.Context(), a.mesh.Addrs()[0]); err != nil {
		t.Fatal(err)
	}
	if err := faulty.Enter(seedlog.Encode(rules.Spec)); err != nil {
		t.Fatal(err)
	}
	until(t, "the faulty peer is connected", a, func(s peer.Status) bool { return s.Connected == 1 })
	for len(faulty.Links()) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	claims := coordinator.EncodeMessage(&coordinator.Claims{Blocks: [][]byte{[]byte("no claim at all")}})
	if err := faulty.Send(seedlog.PeerOf(key(1)), claims); err != nil {
		t.Fatal(err)
	}
	before := a.Status().Height
	s := until(t, "the faulty peer is gone, or many entries later", a, func(s peer.Status) bool { return s.Connected == 0 || s.Height > before+60 })
	if s.Connected != 0 {
		t.Fatalf("a faulty peer is still connected %d entries later", s.Height-before)
	}
	until(t, "the run continues", a, height(s.Height+3))
}
