//go:build js && wasm

package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/cost"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// agent is what others see of this program.
const agent = "evoswarm-tab/0.1.0"

const (
	// keepPeriod is how often a tab in a run looks whether it has a connection.
	keepPeriod = time.Second
	// statusPeriod is how often the page hears of news: nobody reads figures faster.
	statusPeriod = 500 * time.Millisecond
	// goodbye bounds the end: the page is going away.
	goodbye = 2 * time.Second
)

// phase is the way to the swarm so far.
type phase string

const (
	connecting phase = "connecting" // no node has answered
	noRun      phase = "no run"     // one has, but trains nothing
	running    phase = "running"    // takes part in a run
	alone      phase = "alone"      // takes part, but nobody could be reached for a while
)

// trouble is something that the volunteer should know. The page says it in the volunteer's language.
type trouble struct {
	kind  string // names the page's texts (Trouble in web/src/types/tab.d.ts)
	why   string // what there is to say besides, "" for nothing
	fatal bool   // the tab has ended
}

// config is what the page asks for, and its callbacks, which are called from any goroutine.
type config struct {
	addresses []string // of the node that served the page
	peers     []string // that the page's link names
	run       string   // "" for any
	workers   int
	paused    bool
	open      openPort
	onPhase   func(phase)
	onWays    func([]mesh.WayState)
	onStatus  func(status any)
	onError   func(trouble)
}

// tab connects the parts: it finds the swarm, takes part, and finds it again after a loss.
type tab struct {
	cfg    config
	ctx    context.Context
	cancel context.CancelFunc
	again  chan struct{} // asks for a round of dialing at once

	mu      sync.Mutex
	known   []string // addresses to dial, newest first
	paused  bool
	workers int
	setup   []byte
	rules   *seedlog.Rules
	key     ed25519.PrivateKey
	kept    kept            // what the tab saw of the newest states
	album   album           // what it told the page of its own candidates
	peer    *peer.Peer      // nil until there is a run
	store   store.Store     // of that run; the peer's
	ways    []mesh.WayState // last reported
	strayed bool            // whether the person was told that the nodes train another run
	lost    bool            // whether the person was told that the oldest entries are gone
}

func newTab(cfg config) *tab {
	ctx, cancel := context.WithCancel(context.Background())
	return &tab{cfg: cfg, ctx: ctx, cancel: cancel, again: make(chan struct{}, 1),
		paused: cfg.paused, workers: cfg.workers}
}

// run finds the swarm, joins its run, and reports until the tab ends.
func (t *tab) run() {
	t.cfg.onPhase(connecting)
	t.checkLink()
	saved, err := openSaved(t.ctx)
	if err != nil {
		t.cfg.onError(trouble{kind: "unsaved", why: err.Error()})
	}
	// The node's word goes before what was good last time: one of several runs has an address of its own.
	for _, addresses := range [][]string{saved.Addresses(), t.cfg.addresses, t.cfg.peers} {
		t.remember(addresses)
	}
	m, err := mesh.New(t.ctx, mesh.Config{Key: saved.Key(), Kind: coordinator.Tab, Agent: agent, Peers: t.targets()})
	if err != nil {
		t.fatal(fmt.Errorf("starting the network: %w", err))
		return
	}
	hello, ok := t.find(m, saved)
	if !ok {
		m.Close()
		return
	}
	p, err := t.join(m, saved, hello)
	if err != nil {
		t.fatal(err)
		return
	}
	go t.keep(m, saved, p)
	t.report(p)
}

// join starts the peer of the run that hello names.
func (t *tab) join(m *mesh.Mesh, saved *saved, hello mesh.Hello) (*peer.Peer, error) {
	spec, err := seedlog.DecodeSpec(hello.Genesis)
	if err != nil {
		return nil, fmt.Errorf("reading the rules of run %s: %w", hello.Run, err)
	}
	rules, err := seedlog.NewRules(spec)
	if err != nil {
		return nil, fmt.Errorf("reading the rules of run %s: %w", hello.Run, err)
	}
	if err := cost.Of(rules, 1).Check(cost.TabLimits()); err != nil {
		return nil, fmt.Errorf("run %s: %w", hello.Run, err)
	}
	setup, err := rollout.MarshalSetup(spec.Setup())
	if err != nil {
		return nil, err
	}
	t.makeRoom(saved, rules)
	runStore, damaged, err := saved.Run(t.ctx, rules)
	if err != nil {
		return nil, fmt.Errorf("opening what is saved of run %s: %w", hello.Run, err)
	}
	if damaged {
		t.cfg.onError(trouble{kind: "damaged"})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p, err := peer.Start(t.ctx, peer.Config{
		Rules: rules, Key: saved.Key(), Kind: coordinator.Tab, Mesh: m, Store: runStore,
		Evaluator: newEvaluator(spec.Env.ID, setup, t.workers, t.cfg.open, t.trouble), Paused: t.paused,
		Reopen:  func() (store.Store, error) { return t.reopen(saved, rules) },
		Dropped: t.dropped,
	})
	if errors.Is(err, coordinator.ErrRestore) { // a reload alone would find the same
		err = errors.Join(fmt.Errorf("what this browser had saved of the run was damaged, and was removed: %w", err), saved.Forget(t.ctx, rules))
	}
	if err != nil {
		return nil, fmt.Errorf("taking part in run %s: %w", hello.Run, err)
	}
	t.peer, t.store, t.setup, t.rules, t.key = p, runStore, setup, rules, saved.Key()
	return p, nil
}

// makeRoom removes an old run where this browser has little room left, and tells the volunteer.
func (t *tab) makeRoom(saved *saved, rules *seedlog.Rules) {
	if saved.Use(t.ctx, rules) {
		t.cfg.onError(trouble{kind: "removed"})
	}
}

// reopen opens a store again that failed, such as when the browser's quota was used up.
func (t *tab) reopen(saved *saved, rules *seedlog.Rules) (store.Store, error) {
	t.makeRoom(saved, rules)
	s, _, err := saved.Run(t.ctx, rules)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.store = s
	return s, nil
}

// dropped tells the volunteer, once, that the oldest entries left this browser and no node has them.
func (t *tab) dropped(_ uint64, elsewhere bool) {
	t.mu.Lock()
	told := t.lost || elsewhere
	t.lost = t.lost || !elsewhere
	t.mu.Unlock()
	if !told {
		t.cfg.onError(trouble{kind: "dropped"})
	}
}

// report hands on the newest status until the peer stops: at most one in a statusPeriod once results of this tab are in
// the log, since each has the page written and laid out again, for hours.
func (t *tab) report(p *peer.Peer) {
	t.cfg.onPhase(running)
	updates, cancel := p.Watch()
	defer cancel()
	for status := range updates {
		t.keepState(p)
		t.cfg.onStatus(status)
		if status.Own.Logged == 0 {
			continue
		}
		select {
		case <-p.Done():
		case <-time.After(statusPeriod):
		}
	}
	if err := p.Err(); err != nil && t.ctx.Err() == nil {
		t.fatal(err)
	}
}

// keep dials again while no node is connected, and when the page asks. Other tabs may be all that is left, and a node
// that comes back learns of the run from them.
func (t *tab) keep(m *mesh.Mesh, saved *saved, p *peer.Peer) {
	wait, reach := backoffMin, reach{since: time.Now()}
	for {
		asked := false
		select {
		case <-t.ctx.Done():
			return
		case <-p.Done():
			return
		case <-t.again:
			wait, asked = backoffMin, true
		case <-time.After(keepPeriod):
		}
		t.tellWays(m)
		status := p.Status()
		if status.Connected > 0 && reach.found(time.Now()) {
			t.cfg.onPhase(running)
		}
		if m.HasHub() && !asked {
			wait = backoffMin
			saved.Remember(t.ctx, m.Hubs())
			continue
		}
		_, err := t.dial(m, status.Run)
		if err == nil {
			continue
		}
		if errors.Is(err, errOtherRun) {
			t.stray("strayed")
		}
		if p.Status().Connected == 0 && reach.missed(time.Now()) {
			t.cfg.onPhase(alone)
		}
		if !t.sleep(&wait) {
			return
		}
		wait = min(2*wait, backoffMax)
	}
}

// tellWays tells the page which ways to the swarm are used, and why others are not, if that has changed.
func (t *tab) tellWays(m *mesh.Mesh) {
	t.mu.Lock()
	ways := m.Ways(t.known)
	changed := !slices.Equal(ways, t.ways)
	t.ways = ways
	t.mu.Unlock()
	if changed {
		t.cfg.onWays(ways)
	}
}

// stray tells the volunteer, once, that the reachable nodes train another run: than the link names, or than before.
func (t *tab) stray(kind string) {
	t.mu.Lock()
	told := t.strayed
	t.strayed = true
	t.mu.Unlock()
	if !told {
		t.cfg.onError(trouble{kind: kind})
	}
}

// trouble is told when workers die again and again.
func (t *tab) trouble(err error) {
	t.cfg.onError(trouble{kind: "workers", why: err.Error()})
}

// fatal ends the tab and says why.
func (t *tab) fatal(err error) {
	t.cancel()
	kind := "ended"
	if errors.Is(err, seedlog.ErrVersion) {
		kind = "version"
	}
	t.cfg.onError(trouble{kind: kind, why: err.Error(), fatal: true})
}

func (t *tab) current() *peer.Peer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.peer
}

func (t *tab) pause(paused bool) {
	t.mu.Lock()
	t.paused = paused
	p := t.peer
	t.mu.Unlock()
	if p != nil {
		go p.Pause(paused)
	}
}

func (t *tab) setWorkers(n int) {
	t.mu.Lock()
	t.workers = n
	p := t.peer
	t.mu.Unlock()
	if p != nil {
		go p.SetWorkers(n)
	}
}

// history returns generations above a height, from the log.
func (t *tab) history(after uint64) []generation {
	t.mu.Lock()
	log := t.store
	t.mu.Unlock()
	if log == nil {
		return []generation{}
	}
	return history(log, after)
}

func (t *tab) curve() []peer.Point {
	if p := t.current(); p != nil {
		return p.Curve()
	}
	return []peer.Point{}
}

// policy returns what plays the newest policy; state is nil until there is a run.
func (t *tab) policy() (setup, state []byte, height uint64) {
	p := t.current()
	if p == nil {
		return nil, nil, 0
	}
	model, height := p.Model()
	state, err := model.MarshalBinary()
	if err != nil {
		return nil, nil, 0 // no state of a run is refused
	}
	return t.setup, state, height
}

func (t *tab) log(w io.Writer) error {
	p := t.current()
	if p == nil {
		return errNoRun
	}
	return p.Log(w)
}

func (t *tab) stop() error {
	defer t.cancel()
	p := t.current()
	if p == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	return p.Close(ctx)
}
