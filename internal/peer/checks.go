package peer

import (
	"reflect"
	"runtime"
	"sync"
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// maxChecks bounds the messages that wait to be checked, maxChecksOf those of one sender. More are dropped,
// as a network would: what matters is repeated.
const (
	maxChecks   = 256
	maxChecksOf = 16
)

// checks are the messages whose signatures are verified outside the loop, one after the other in the order of
// their coming.
type checks struct {
	mu      sync.Mutex
	waiting []mesh.Received
	running bool
	checker *seedlog.Checker // of the goroutine that checks
}

// receive hands a message to the coordinator, by way of checks if it holds many signatures.
func (p *Peer) receive(e mesh.Received) {
	if !coordinator.Slow(e.Message) {
		p.step(p.checked(e))
		return
	}
	if !p.driver.coord.Expects(e.From, e.Message) {
		return
	}
	c := &p.checks
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full(e) {
		return
	}
	c.waiting = append(c.waiting, e)
	if !c.running {
		c.running = true
		go p.checkAll()
	}
}

// full reports whether a message is one too many. Of segments one per sender is enough: the rest is asked for again.
func (c *checks) full(e mesh.Received) bool {
	most := maxChecksOf
	if _, ok := e.Message.(*coordinator.Segment); ok {
		most = 1
	}
	same := 0
	for _, w := range c.waiting {
		if w.From == e.From && reflect.TypeOf(w.Message) == reflect.TypeOf(e.Message) {
			same++
		}
	}
	return same >= most || len(c.waiting) >= maxChecks
}

// checkAll checks messages until none waits. The one under way counts as waiting.
func (p *Peer) checkAll() {
	c := &p.checks
	for {
		c.mu.Lock()
		if len(c.waiting) == 0 || p.ctx.Err() != nil {
			c.running = false
			c.mu.Unlock()
			return
		}
		e := c.waiting[0]
		c.mu.Unlock()
		event := p.checked(e)
		p.inbox.post(func() { p.step(event) })
		c.mu.Lock()
		c.waiting = c.waiting[1:]
		c.mu.Unlock()
	}
}

func (p *Peer) checked(e mesh.Received) coordinator.Event {
	m, err := coordinator.Check(p.checks.checker, e.Message, turns())
	if err != nil {
		return coordinator.Invalid{From: e.From, Err: err}
	}
	return coordinator.Received{From: e.From, Via: e.Via, Message: m}
}

// turn is how long a goroutine computes at a time where there is one thread for all.
const turn = 20 * time.Millisecond

// turns returns what long work calls between its pieces. In a browser goroutines share a thread with its events, and
// nothing else runs until one waits.
func turns() (pause func()) {
	if runtime.GOARCH != "wasm" {
		return nil
	}
	begun := time.Now()
	return func() {
		if time.Since(begun) > turn {
			time.Sleep(time.Millisecond)
			begun = time.Now()
		}
	}
}
