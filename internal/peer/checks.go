package peer

import (
	"net/netip"
	"reflect"
	"runtime"
	"sync"
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/fair"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Limits of messages that wait to be checked. More are dropped, as a network would: what matters is repeated.
const (
	maxChecks   = 32 << 20 // bytes; of more, the block of addresses that has most waiting loses its oldest
	maxChecksOf = 16       // of one type and author
	checkTurn   = 64 << 10 // bytes of one block before it is the next one's turn
	leastCheck  = 1 << 10  // bytes that a message counts for at least
)

// What the neighbors of one block of addresses may have checked that was not asked for, in microseconds of one core per
// millisecond, and at once. In private networks, and for all that comes from this computer, it is more.
const (
	checkRate    = 150
	checkBurst   = 1_000_000
	checkNearby  = 400
	checkSources = 4096 // remembered
	checkSpeed   = 2    // bytes that are checked in a microsecond: what is charged before
)

// checks are the messages whose signatures are verified outside the loop, one at a time, in turns of the blocks of
// addresses that they come from.
type checks struct {
	mu      sync.Mutex
	waiting *fair.Queue[netip.Prefix, mesh.Received]
	same    map[sameCheck]int
	far     *fair.Budget[netip.Prefix]
	nearby  *fair.Budget[netip.Prefix]
	running bool
	checker *seedlog.Checker // of the goroutine that checks
}

type sameCheck struct {
	from seedlog.Peer
	kind reflect.Type
}

func newChecks(rules *seedlog.Rules) checks {
	return checks{
		waiting: fair.NewQueue[netip.Prefix, mesh.Received](maxChecks, checkTurn),
		same:    make(map[sameCheck]int),
		far:     fair.NewBudget[netip.Prefix](checkRate, checkBurst, checkSources),
		nearby:  fair.NewBudget[netip.Prefix](checkNearby, checkBurst, checkSources),
		checker: seedlog.NewChecker(rules),
	}
}

// budget is what a block of addresses may have checked. Single addresses are those of private networks.
func (c *checks) budget(at netip.Prefix) *fair.Budget[netip.Prefix] {
	if at.IsSingleIP() || !at.IsValid() {
		return c.nearby
	}
	return c.far
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
	switch e.Message.(type) {
	case *coordinator.Part, *coordinator.Base: // two signatures: they do not wait behind segments of hundreds
		p.step(p.checkedBy(seedlog.NewChecker(p.rules), e))
		return
	}
	waits, dropped, start := p.checks.add(e, p.driver.coord.Answers(e.From), p.elapsed())
	if waits {
		p.driver.coord.Arrived(e.From, e.Message)
	}
	for _, e := range dropped {
		p.driver.coord.Done(e.From, e.Message)
	}
	if start {
		go p.checkAll()
	}
}

// elapsed is the time since the start, in milliseconds.
func (p *Peer) elapsed() uint64 { return uint64(time.Since(p.started) / time.Millisecond) }

// add lets a message wait, unless it is one too many. It returns those that were dropped for it, and whether to start
// checking. Of segments as many wait as their sender was asked for.
func (c *checks) add(e mesh.Received, answers int, now uint64) (waits bool, dropped []mesh.Received, start bool) {
	most := maxChecksOf
	_, asked := e.Message.(*coordinator.Segment)
	if asked {
		most = answers
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := sameCheck{e.From, reflect.TypeOf(e.Message)}
	bytes := max(size(e.Message), leastCheck)
	if c.same[key] >= most || !asked && !c.budget(e.Source).Take(now, e.Source, bytes/checkSpeed) {
		return false, nil, false
	}
	c.same[key]++
	for _, lost := range c.waiting.Push(e.Source, bytes, e) {
		c.done(lost.Value)
		dropped = append(dropped, lost.Value)
	}
	start = !c.running
	c.running = true
	return true, dropped, start
}

// done notes that a message waits no more.
func (c *checks) done(e mesh.Received) {
	key := sameCheck{e.From, reflect.TypeOf(e.Message)}
	if c.same[key]--; c.same[key] <= 0 {
		delete(c.same, key)
	}
}

// size is how many bytes of blocks a message has, as a measure of the time that checking it takes.
func size(m coordinator.Message) (n uint64) {
	switch m := m.(type) {
	case *coordinator.Claims:
		for _, b := range m.Blocks {
			n += uint64(len(b))
		}
	case *coordinator.Segment:
		for i := range m.Generations {
			g := &m.Generations[i]
			n += uint64(len(g.Entry) + len(g.Seal))
			for _, b := range g.Claims {
				n += uint64(len(b))
			}
		}
	}
	return n
}

// checkAll checks messages until none waits. The one under way counts as waiting.
func (p *Peer) checkAll() {
	c := &p.checks
	for {
		c.mu.Lock()
		at, e, ok := c.waiting.Pop()
		if !ok || p.ctx.Err() != nil {
			c.running = false
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		begun := time.Now()
		event := p.checked(e)
		took := time.Since(begun)
		p.inbox.post(func() { p.step(event) })
		c.mu.Lock()
		if _, asked := e.Message.(*coordinator.Segment); !asked {
			b, now := c.budget(at), p.elapsed()
			more := uint64(took/time.Microsecond) - min(uint64(took/time.Microsecond), max(size(e.Message), leastCheck)/checkSpeed)
			b.Take(now, at, min(more, b.Left(now, at)))
		}
		c.done(e)
		c.mu.Unlock()
	}
}

func (p *Peer) checked(e mesh.Received) coordinator.Event { return p.checkedBy(p.checks.checker, e) }

func (p *Peer) checkedBy(checker *seedlog.Checker, e mesh.Received) coordinator.Event {
	m, err := coordinator.Check(checker, e.Message, turns())
	if err != nil {
		return coordinator.Invalid{From: e.From, Err: err}
	}
	r := coordinator.Received{From: e.From, Via: e.Via, Message: m}
	if e.Source.IsValid() {
		r.Source = e.Source.String()
	}
	return r
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
