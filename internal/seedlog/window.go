package seedlog

// ShareEntries is over how many entries, up to a state, the work counts that says how many of its held-out results are
// a peer's.
const ShareEntries = 50

// Window is a [Below] for who reads a chain from the genesis on: it remembers what the newest entries hold. The zero
// Window is that of a run without stale claims.
type Window struct {
	rules   *Rules // nil: no claims lie back
	from    uint64 // height of the entry that it began with; 0: the genesis
	entries []windowed
	work    []map[Peer]uint64 // env-steps of the last ShareEntries entries, if states are evaluated
}

// windowed is an entry, or the genesis, on which claims may lie.
type windowed struct {
	link   Link
	height uint64
	chunks map[Peer]uint64 // of claims on it that the entries above hold
	held   map[Peer]uint64 // of held-out ones
	steps  map[Peer]uint64 // in the entries up to it, if its state is evaluated
	all    uint64          // sum of steps
}

// NewWindow returns the window of the genesis.
func (r *Rules) NewWindow() *Window {
	return &Window{rules: r, entries: []windowed{newWindowed(r.Run, 0)}}
}

// windowAbove returns the window of a log that begins with a base.
func (r *Rules) windowAbove(b *Base) *Window {
	return &Window{rules: r, from: b.Height, entries: []windowed{newWindowed(b.Link, b.Height)}}
}

func newWindowed(link Link, height uint64) windowed {
	return windowed{link: link, height: height, chunks: make(map[Peer]uint64), held: make(map[Peer]uint64)}
}

// Add moves the window up to the next entry, which passed [Rules.CheckPlace].
func (w *Window) Add(link Link, height uint64, claims []*Claim) {
	if w.rules == nil || w.rules.Spec.Generation.MaxStale == 0 && w.rules.Spec.Best == nil {
		return
	}
	for _, c := range claims {
		switch e := w.find(c.Parent); {
		case e == nil:
		case c.HeldOut():
			e.held[c.Peer] += w.rules.Chunks(c)
		default:
			e.chunks[c.Peer] += w.rules.Chunks(c)
		}
	}
	if uint64(len(w.entries)) > w.rules.Spec.Generation.MaxStale {
		w.entries = append(w.entries[:0:0], w.entries[1:]...)
	}
	w.entries = append(w.entries, newWindowed(link, height))
	w.count(claims)
}

// count adds the work of the newest entry, and sums it up if its state is evaluated.
func (w *Window) count(claims []*Claim) {
	if w.rules.Spec.Best == nil {
		return
	}
	work := make(map[Peer]uint64)
	for _, c := range claims {
		work[c.Peer] += c.TotalSteps()
	}
	if len(w.work) == ShareEntries {
		w.work = append(w.work[:0:0], w.work[1:]...)
	}
	w.work = append(w.work, work)
	e := &w.entries[len(w.entries)-1]
	if !w.rules.Evaluated(e.height) || w.from > 0 && e.height < w.from+ShareEntries {
		return // whose shares nobody needs, or can tell
	}
	e.steps = make(map[Peer]uint64)
	for _, work := range w.work {
		for p, steps := range work { //lint:sorted sums
			e.steps[p] += steps
			e.all += steps
		}
	}
}

// Logged implements Below.
func (w *Window) Logged(on Link, peer Peer) (height, chunks uint64, ok bool) {
	e := w.find(on)
	if e == nil {
		return 0, 0, false
	}
	return e.height, e.chunks[peer], true
}

// HeldOut implements Below.
func (w *Window) HeldOut(on Link, peer Peer) (chunks, steps, all uint64) {
	e := w.find(on)
	if e == nil {
		return 0, 0, 0
	}
	return e.held[peer], e.steps[peer], e.all
}

func (w *Window) find(link Link) *windowed {
	for i := range w.entries {
		if w.entries[i].link == link {
			return &w.entries[i]
		}
	}
	return nil
}
