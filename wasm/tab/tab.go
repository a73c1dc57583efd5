//go:build js && wasm

package main

import (
	"context"
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
	dialTimeout = 10 * time.Second       // for a round
	dialStagger = 700 * time.Millisecond // between two addresses, if the first does not answer
	// backoffMin and backoffMax bound the wait between two rounds of dialing; it doubles from round to round.
	backoffMin = 500 * time.Millisecond
	backoffMax = 20 * time.Second
	// keepPeriod is how often a tab in a run looks whether it has a connection.
	keepPeriod = time.Second
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

// problem is something that the volunteer should know.
type problem struct {
	err, hint string
	fatal     bool // the tab has ended
}

// config is what the page asks for, and its callbacks, which are called from any goroutine.
type config struct {
	addresses []string
	run       string // "" for any
	workers   int
	paused    bool
	open      openPort
	onPhase   func(phase)
	onStatus  func(status any)
	onError   func(problem)
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
	peer    *peer.Peer  // nil until there is a run
	store   store.Store // of that run; the peer's
	strayed bool        // whether the person was told that the nodes train another run
}

func newTab(cfg config) *tab {
	ctx, cancel := context.WithCancel(context.Background())
	return &tab{cfg: cfg, ctx: ctx, cancel: cancel, again: make(chan struct{}, 1),
		known: slices.Clone(cfg.addresses), paused: cfg.paused, workers: cfg.workers}
}

// run finds the swarm, joins its run, and reports until the tab ends.
func (t *tab) run() {
	t.cfg.onPhase(connecting)
	saved, err := openSaved(t.ctx)
	if err != nil {
		t.cfg.onError(problem{err: "Nothing can be saved in this browser: " + err.Error(),
			hint: "The tab works, but every visit starts from scratch. Leave the private window, or free some space."})
	}
	t.remember(saved.Addresses())
	m, err := mesh.New(t.ctx, mesh.Config{Key: saved.Key(), Kind: coordinator.Tab, Agent: agent, Peers: t.targets()})
	if err != nil {
		t.fatal(fmt.Errorf("starting the network: %w", err))
		return
	}
	hello, ok := t.find(m)
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

// find dials until a node answers that is in the wanted run.
func (t *tab) find(m *mesh.Mesh) (mesh.Hello, bool) {
	for wait := backoffMin; ; wait = min(2*wait, backoffMax) {
		hello, err := t.dial(m, t.cfg.run)
		switch {
		case err == nil:
			return hello, true
		case errors.Is(err, errOtherRun):
			t.cfg.onPhase(noRun)
			t.stray("The link names a run that this node does not have. Ask for a new link, or open the page without the part after #.")
		case errors.Is(err, errNoRun):
			t.cfg.onPhase(noRun)
			wait = min(wait, 2*time.Second)
		default:
			t.cfg.onPhase(connecting)
		}
		if !t.sleep(&wait) {
			return mesh.Hello{}, false
		}
	}
}

var (
	errNobody   = errors.New("no node can be reached")
	errNoRun    = errors.New("no reachable node has a run")
	errOtherRun = errors.New("the reachable nodes are in another run")
)

// dial tries all known addresses and returns the first hello from the run, "" for any. An address that does not answer
// soon does not keep the next ones waiting.
func (t *tab) dial(m *mesh.Mesh, run string) (mesh.Hello, error) {
	type answer struct {
		hello mesh.Hello
		err   error
	}
	ctx, cancel := context.WithTimeout(t.ctx, dialTimeout)
	defer cancel()
	targets := t.targets()
	answers := make(chan answer, len(targets))
	result, begun, open := errNobody, 0, 0
	for begun < len(targets) || open > 0 {
		var patience <-chan time.Time
		if begun < len(targets) {
			addr := targets[begun]
			begun++
			open++
			go func() {
				hello, err := m.Dial(ctx, addr)
				answers <- answer{hello, err}
			}()
			patience = time.After(dialStagger)
		}
		select {
		case <-patience:
		case a := <-answers:
			open--
			if a.err != nil {
				continue
			}
			t.remember(a.hello.Hubs)
			switch {
			case a.hello.Run == "":
				result = errNoRun
			case run == "" || a.hello.Run == run:
				return a.hello, nil
			default:
				result = errOtherRun
			}
		}
	}
	return mesh.Hello{}, result
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
	runStore, damaged, err := saved.Run(t.ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("opening what is saved of run %s: %w", hello.Run, err)
	}
	if damaged {
		t.cfg.onError(problem{err: "The run as saved in this browser was damaged.", hint: "It is fetched from the swarm again; you need not do anything."})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p, err := peer.Start(t.ctx, peer.Config{
		Rules: rules, Key: saved.Key(), Kind: coordinator.Tab, Mesh: m, Store: runStore,
		Evaluator: newEvaluator(setup, t.workers, t.cfg.open, t.trouble), Paused: t.paused,
		Reopen: func() (store.Store, error) { return t.reopen(saved, spec) },
	})
	if err != nil {
		return nil, fmt.Errorf("taking part in run %s: %w", hello.Run, err)
	}
	t.peer, t.store, t.setup = p, runStore, setup
	return p, nil
}

// reopen opens a store again that failed, such as when the browser's quota was used up.
func (t *tab) reopen(saved *saved, spec *seedlog.Spec) (store.Store, error) {
	s, _, err := saved.Run(t.ctx, spec)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.store = s
	return s, nil
}

// report hands on every status until the peer stops.
func (t *tab) report(p *peer.Peer) {
	t.cfg.onPhase(running)
	updates, cancel := p.Watch()
	defer cancel()
	for status := range updates {
		t.cfg.onStatus(status)
	}
	if err := p.Err(); err != nil && t.ctx.Err() == nil {
		t.fatal(err)
	}
}

// keep dials again while nobody is connected, and when the page asks.
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
		status := p.Status()
		if status.Connected > 0 && reach.found(time.Now()) {
			t.cfg.onPhase(running)
		}
		if status.Connected > 0 && !asked {
			wait = backoffMin
			saved.Remember(t.ctx, m.Hubs())
			continue
		}
		_, err := t.dial(m, status.Run)
		if err == nil {
			continue
		}
		if errors.Is(err, errOtherRun) {
			t.stray("Reload the page to take part in it. Your work so far stays in the log.")
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

// stray tells the volunteer, once, that the reachable nodes train another run.
func (t *tab) stray(hint string) {
	t.mu.Lock()
	told := t.strayed
	t.strayed = true
	t.mu.Unlock()
	if !told {
		t.cfg.onError(problem{err: "The node now trains another run.", hint: hint})
	}
}

// sleep waits, but if the page asks for a round it returns at once and the backoff starts over. It reports
// false at the end.
func (t *tab) sleep(wait *time.Duration) bool {
	select {
	case <-t.ctx.Done():
		return false
	case <-t.again:
		*wait = backoffMin
	case <-time.After(*wait):
	}
	return true
}

// targets lists the known addresses that a browser can dial.
func (t *tab) targets() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for _, addr := range t.known {
		if mesh.Dialable(addr) {
			out = append(out, addr)
		}
	}
	return out
}

// maxKnown bounds the addresses to try.
const maxKnown = 32

// remember adds addresses, the newest in front.
func (t *tab) remember(addresses []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, addr := range slices.Backward(addresses) {
		t.known = slices.DeleteFunc(t.known, func(a string) bool { return a == addr })
		t.known = slices.Insert(t.known, 0, addr)
	}
	t.known = t.known[:min(len(t.known), maxKnown)]
}

// trouble is told when workers die again and again.
func (t *tab) trouble(err error) {
	t.cfg.onError(problem{err: "The workers of this tab keep stopping: " + err.Error(),
		hint: "They restart by themselves. If this does not stop, choose fewer workers, or close other tabs to free memory."})
}

// fatal ends the tab and says why.
func (t *tab) fatal(err error) {
	t.cancel()
	hint := "Reload the page; what is in the log is safe."
	if errors.Is(err, seedlog.ErrVersion) {
		hint = "The run needs another build of this page. Reload it; if that does not help, the node has to be updated."
	}
	t.cfg.onError(problem{err: err.Error(), hint: hint, fatal: true})
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

// redial starts a round of dialing, with new addresses in front.
func (t *tab) redial(addresses []string) {
	t.remember(addresses)
	select {
	case t.again <- struct{}{}:
	default:
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
