package coordinator

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// The end of a run. A peer whose held-out evaluation went well runs the test on that state. The leader names a state
// that passed in its next entry, which is the last. Everybody runs the test before it believes that: an entry that is
// wrong about it is void, and its leader faulty.

// maxTests bounds the tests that are remembered.
const maxTests = 64

// test is what this peer knows of a state that may have passed the test.
type test struct {
	on     seedlog.Link // the entry that gave the state
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

// promising takes a state that did well in held-out episodes: it is tested, as long as an entry may name it.
func (c *Coordinator) promising(on seedlog.Link) {
	n := c.chain.nodes[on]
	if n != nil && n.height > 0 && c.endsSolved() && c.ended() == seedlog.Open && c.nameable(n) && c.testOf(on) == nil {
		c.runTest(n, false)
	}
}

// nameable reports whether the next entry may name the state of n as one that passed.
func (c *Coordinator) nameable(n *node) bool {
	return c.chain.canonical(n) && n.height+seedlog.MaxSolvedAge >= c.chain.head.height
}

// runTest begins the test of a state.
func (c *Coordinator) runTest(n *node, urgent bool) {
	if len(c.tests) >= maxTests {
		c.tests = c.tests[1:]
	}
	c.tests = append(c.tests, &test{on: n.link})
	c.issue(&job{kind: jobTest, parent: n}, urgent)
}

// tested takes the returns of a test; none: this peer's evaluator cannot run it, so it believes others.
func (c *Coordinator) tested(on *node, returns []float64) {
	t := c.testOf(on.link)
	if t == nil {
		return
	}
	t.done, t.own = true, len(returns) > 0
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
		c.runTest(on, true)
	case t.done && !t.passed:
		c.void(n)
		c.markFaulty(n.leader, fmt.Sprintf("called the state of height %d solved, which did not pass the test", n.solved))
		c.retreat()
	}
}
