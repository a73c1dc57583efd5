package model

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Bounds say what may happen in a search. The order of messages and their loss are not bounded.
type Bounds struct {
	Name      string
	Height    int    // of the common chain at the start
	Faulty    int    // peers, the last ones
	Inflate   bool   // faulty peers inflate their own results, and check nothing
	Generous  bool   // faulty peers vote for every candidate
	Careless  int    // a peer that checks nothing but is honest; 0: none, since the first checks always
	Mandate   uint64 // entries of one leader; 0: 20
	Late      int    // how often time may pass until a message comes or is lost
	Advances  int    // how often time passes until something is done: a campaign begins, an entry is signed
	Alone     bool   // time passes at one peer at a time
	Crashes   int    // of honest peers; they come back at once
	Forgeries int    // messages that a faulty peer makes up
	Forge     string // only forgeries whose name has this; empty: all
	Calm      int    // of so many states one is healed, to see whether the swarm continues
}

// Stats count what a search saw, so that one that saw nothing is noticed.
type Stats struct {
	States, Actions, Healed                     int
	Votes, Entries, Moves, Reorgs, False, Depth int
}

// Failure is a broken invariant, and the shortest list of actions found that breaks it.
type Failure struct {
	Bounds  Bounds
	Actions []string
	Err     error
}

func (f *Failure) Error() string {
	return fmt.Sprintf("%s: %v after\n  %s", f.Bounds.Name, f.Err, strings.Join(f.Actions, "\n  "))
}

func (f *Failure) Unwrap() error { return f.Err }

// begin makes the first state: all hear each other until they have the height that a search starts at.
func begin(b Bounds, stats *Stats) (*world, error) {
	rules, err := newRules()
	if err != nil {
		return nil, err
	}
	w := &world{scene: &scene{bounds: b, rules: rules, checker: seedlog.NewChecker(rules), parsed: map[string]parcel{}, stats: stats},
		advances: b.Advances, crashes: b.Crashes, forgeries: b.Forgeries}
	blocks := map[seedlog.Link][]byte{} // of all disks: who has a link has the block
	for i := range peers {
		w.ids[i] = seedlog.PeerOf(keys[i])
	}
	for i := range peers {
		if err := w.start(i, peer{now: 1, disk: &disk{blocks: blocks}}); err != nil {
			return nil, err
		}
	}
	w.near = [peers]bool{true, true, true}
	for range 1000 {
		w.steps = 0
		if heights := w.heights(); w.err != nil || slices.Min(heights[:]) >= uint64(b.Height) {
			w.near, w.begun = [peers]bool{}, true
			return w, w.turn()
		}
		for i := range peers {
			w.change(i).now++
			w.do(i, coordinator.Passed{})
		}
		queue := w.queue
		w.queue = nil
		for _, p := range queue {
			w.deliver(p)
		}
	}
	return nil, fmt.Errorf("%s: the swarm does not begin: heights %v", b.Name, w.heights())
}

// turn has faulty peers begin with their faults: what they computed before was true.
func (w *world) turn() error {
	for i, p := range w.peers {
		if w.faulty(i) && w.bounds.Inflate {
			if err := w.start(i, *p); err != nil {
				return err
			}
		}
	}
	return w.err
}

// groups are the sets of peers at which time may pass.
var groups = func() (list [][peers]bool) {
	for bits := range 1 << peers {
		var g [peers]bool
		for i := range g {
			g[i] = bits>>i&1 == 1
		}
		list = append(list, g)
	}
	return list[1:]
}()

// alone is the first of a group.
func alone(g [peers]bool) (one [peers]bool) {
	one[slices.Index(g[:], true)] = true
	return one
}

// step is an action: its name, and what it does to a state of its own.
type step struct {
	name string
	do   func(w *world)
}

// possible lists the actions that a state allows.
func (w *world) possible() []step {
	var list []step
	for i, p := range w.queue {
		list = append(list, step{"deliver " + p.String(), func(w *world) {
			w.queue = slices.Delete(w.queue, i, i+1)
			w.near[p.from], w.near[p.to] = true, true
			w.deliver(p)
			w.near = [peers]bool{}
		}})
	}
	if w.advances > 0 {
		for _, g := range groups {
			if w.bounds.Alone && g != alone(g) {
				continue
			}
			list = append(list, step{fmt.Sprintf("advance %v", g), func(w *world) {
				w.advances--
				w.advance(g)
			}})
		}
	}
	if w.crashes > 0 {
		for i := range peers - w.bounds.Faulty {
			list = append(list, step{fmt.Sprintf("crash n%d", i+1), func(w *world) { w.crash(i) }})
		}
	}
	if w.forgeries > 0 {
		for _, f := range forgeries {
			if !strings.Contains(f.name, w.bounds.Forge) {
				continue
			}
			for by := peers - w.bounds.Faulty; by < peers; by++ {
				list = append(list, step{fmt.Sprintf("n%d %s", by+1, f.name), func(w *world) {
					w.forgeries--
					f.do(w, by)
				}})
			}
		}
	}
	return list
}

// crash takes the power from a peer and gives it back.
func (w *world) crash(i int) {
	w.crashes--
	was := *w.change(i)
	was.now++
	if err := w.start(i, was); err != nil {
		w.fail("n%d does not start again: %w", i+1, err)
	}
}

// take makes the state after an action. A panic of a coordinator is a failure.
func (w *world) take(s step) (n *world) {
	n = w.next(s.name)
	defer func() {
		if r := recover(); r != nil {
			n.fail("panic: %v\n%s", r, debug.Stack())
		}
	}()
	s.do(n)
	return n
}

// Search visits every state that can be reached within the bounds.
func Search(b Bounds) (Stats, error) {
	var stats Stats
	first, err := begin(b, &stats)
	if err != nil {
		return stats, err
	}
	type visit struct {
		*world
		depth int
	}
	seen := map[[32]byte]bool{first.digest(): true}
	stack := []visit{{first, 0}}
	for len(stack) > 0 {
		w := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		stats.States++
		stats.Depth = max(stats.Depth, w.depth)
		if sum := w.digest(); (int(sum[0])|int(sum[1])<<8)%max(b.Calm, 1) == 0 {
			stats.Healed++
			if err := w.calm(); err != nil {
				return stats, w.failure(err, true)
			}
		}
		for _, s := range w.possible() {
			stats.Actions++
			n := w.take(s)
			if n.err != nil {
				return stats, n.failure(n.err, false)
			}
			if sum := n.digest(); !seen[sum] {
				seen[sum] = true
				n.mine = [peers]bool{}
				stack = append(stack, visit{n, w.depth + 1})
			}
		}
	}
	return stats, nil
}

// failure cuts the actions that led here down to those that matter.
func (w *world) failure(err error, healed bool) error {
	var names []string
	for t := w.trace; t != nil; t = t.past {
		names = append(names, t.action)
	}
	slices.Reverse(names)
	for i := 0; i < len(names); {
		fewer := slices.Delete(slices.Clone(names), i, i+1)
		if again := replay(w.bounds, fewer, healed); again != nil {
			names, err, i = fewer, again, 0
		} else {
			i++
		}
	}
	return &Failure{w.bounds, names, err}
}

// replay takes those of the named actions that are possible, and returns what they break.
func replay(b Bounds, names []string, healed bool) error {
	w, err := begin(b, new(Stats))
	if err != nil {
		return err
	}
	for _, name := range names {
		steps := w.possible()
		if i := slices.IndexFunc(steps, func(s step) bool { return s.name == name }); i >= 0 {
			if w = w.take(steps[i]); w.err != nil {
				return w.err
			}
		}
	}
	if healed {
		return w.calm()
	}
	return nil
}
