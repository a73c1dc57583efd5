package coordinator

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// The end of a run. A leader runs the test once held-out episodes went well, its own or those in the log, and names a
// state that passed in its next entry, which is the last. Everybody runs the test before it believes that: an entry
// that is wrong about it is void, and its leader faulty.

const (
	// maxTests bounds the tests that are remembered.
	maxTests = 64
	// testShare is which part of a leader's time its tests take at most, where they do not pass: one in so many.
	testShare = 5
	// testAge is how many entries old a state may be when its test begins: an entry names those of the last
	// seedlog.MaxSolvedAge, and a test of many long episodes takes some of them.
	testAge = seedlog.MaxSolvedAge / 4
	// From testSlows entries above the state under test, each entry takes twice as long as the one before, up to
	// testEntry: 3.2 s at 20 ticks a second. So a test has 20 s where entries take 250 ms, and each wait stays well
	// below the time for which followers let a leader sit on a full generation (liveness.limit).
	testSlows      = seedlog.MaxSolvedAge / 2
	testEntry Tick = 64
)

// test is what this peer knows of a state that may have passed the test.
type test struct {
	on     seedlog.Link // the entry that gave the state
	begun  Tick
	done   bool
	passed bool
	own    bool // this peer ran it
}

// ended says what ended the run on this peer's chain.
func (c *Coordinator) ended() seedlog.End {
	if c.rules.Spec.Until == nil {
		return seedlog.Open
	}
	return c.rules.Ended(c.chain.head.parentInfo())
}

// endsSolved reports whether the run ends once a state passes the test.
func (c *Coordinator) endsSolved() bool {
	return c.rules.Spec.Until != nil && c.rules.Spec.Until.Solved
}

// testOf is what is known of the state of an entry; nil: nothing.
func (c *Coordinator) testOf(on seedlog.Link) *test {
	if i := slices.IndexFunc(c.tests, func(t *test) bool { return t.on == on }); i >= 0 {
		return c.tests[i]
	}
	return nil
}

// promising takes a state that did well in held-out episodes of this peer. Those may have taken long, so where it is
// old by now the newest is tested in its place.
func (c *Coordinator) promising(on seedlog.Link) {
	n := c.chain.nodes[on]
	if n == nil || n.height+testAge < c.chain.head.height {
		n = c.chain.head
	}
	c.tryTest(n)
}

// seeksEnd tests the head if the log says of a state not far below that it did well in held-out episodes.
func (c *Coordinator) seeksEnd() {
	head := c.chain.head
	if best := head.marks.Best; best.Height > 0 && rollout.FromFitness(best.Score) >= c.rules.Env.SolvedReturn && best.Height+2*c.rules.Spec.Best.Every >= head.height {
		c.tryTest(head)
	}
}

// tryTest begins the test of a state if this peer may name it, unless the last one was not long ago.
func (c *Coordinator) tryTest(n *node) {
	if c.election.role == Leader && c.now >= c.nextTest && c.underTest() == nil && n.state != nil && n.height > 0 && c.endsSolved() &&
		c.ended() == seedlog.Open && c.nameable(n) && c.testOf(n.link) == nil {
		c.runTest(n)
	}
}

// underTest is the entry whose state this peer tests; nil: none.
func (c *Coordinator) underTest() *node {
	for _, j := range c.work.jobs { //lint:sorted only looked for one
		if j.kind == jobTest {
			return j.parent
		}
	}
	return nil
}

// testWait is how long after the last entry this leader waits for its test. Once the state under test is too old to
// be named, the test is in vain, so a run whose leaders were all that slow would never end. Results that come
// meanwhile are still logged.
func (c *Coordinator) testWait() Tick {
	n := c.underTest()
	if n == nil || !c.nameable(n) || c.chain.head.height < n.height+testSlows {
		return 0
	}
	return min(c.lasts()<<(c.chain.head.height-n.height-testSlows+1), testEntry)
}

// nameable reports whether the next entry may name the state of n as one that passed.
func (c *Coordinator) nameable(n *node) bool {
	return c.chain.canonical(n) && n.height+seedlog.MaxSolvedAge >= c.chain.head.height
}

// runTest begins the test of a state. It goes before own work: an entry may soon be too high to name that state.
func (c *Coordinator) runTest(n *node) {
	if len(c.tests) >= maxTests {
		c.tests = c.tests[1:]
	}
	c.tests = append(c.tests, &test{on: n.link, begun: c.now})
	c.issue(&job{kind: jobTest, parent: n}, true)
}

// tested takes the returns of a test; none: this peer's evaluator cannot run it, so it believes others.
func (c *Coordinator) tested(on *node, returns []float64) {
	t := c.testOf(on.link)
	if t == nil {
		return
	}
	t.done, t.own = true, len(returns) > 0
	c.nextTest = c.now + (testShare-1)*(c.now-t.begun)
	if t.own && on.state != nil && c.chain.canonical(on) {
		c.out.Tested = &Tested{on.link, on.height, on.evaluations, on.steps, on.state, seedlog.Mean(returns)}
	}
	if t.passed = !t.own || c.rules.Passes(returns); t.own && t.passed {
		c.out.note(NoteSolved, c.self, fmt.Sprintf("the policy of generation %d passed the test: a mean return of %.4g in %d episodes", on.height, seedlog.Mean(returns), len(returns)))
	}
	c.checkEnd()
}

// solvedHeight is the height of the newest state that passed the test and that the next entry may name; 0: none.
func (c *Coordinator) solvedHeight() uint64 {
	for n := c.chain.head; n != nil && n.height > 0 && c.endsSolved() && c.nameable(n); n = n.parent {
		if t := c.testOf(n.link); t != nil && t.own && t.passed {
			return n.height
		}
	}
	return 0
}

// testing reports whether this peer runs the test that the head says was passed.
func (c *Coordinator) testing() bool {
	on := c.chain.canonAt(c.chain.head.solved)
	if c.chain.head.solved == 0 || on == nil {
		return false
	}
	t := c.testOf(on.link)
	return t != nil && !t.done
}

// checkEnd has the test run that the head says was passed. If it was not, the entry is void.
func (c *Coordinator) checkEnd() {
	n := c.chain.head
	if n.solved == 0 || n.leader == c.self {
		return
	}
	on := c.chain.canonAt(n.solved)
	if on == nil {
		return // its entries are not here, after a restart at the run's end
	}
	switch t := c.testOf(on.link); {
	case t == nil:
		c.runTest(on)
	case t.done && !t.passed:
		c.void(n)
		c.markFaulty(n.leader, fmt.Sprintf("called the state of height %d solved, which did not pass the test", n.solved))
		c.retreat()
	}
}
