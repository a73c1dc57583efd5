package seedlog

// Window is a [Below] for who reads a chain from the genesis on: it remembers what the newest entries hold. The zero
// Window is that of a run without stale claims.
type Window struct {
	rules   *Rules // nil: no claims lie back
	entries []windowed
}

// windowed is an entry, or the genesis, on which claims may lie.
type windowed struct {
	link   Link
	height uint64
	chunks map[Peer]uint64 // of claims on it that the entries above hold
}

// NewWindow returns the window of the genesis.
func (r *Rules) NewWindow() *Window {
	return &Window{r, []windowed{{r.Run, 0, make(map[Peer]uint64)}}}
}

// Add moves the window up to the next entry, which passed [Rules.CheckPlace].
func (w *Window) Add(link Link, height uint64, claims []*Claim) {
	if w.rules == nil || w.rules.Spec.Generation.MaxStale == 0 {
		return
	}
	for _, c := range claims {
		if e := w.find(c.Parent); e != nil {
			e.chunks[c.Peer] += w.rules.Chunks(c)
		}
	}
	if uint64(len(w.entries)) > w.rules.Spec.Generation.MaxStale {
		w.entries = append(w.entries[:0:0], w.entries[1:]...)
	}
	w.entries = append(w.entries, windowed{link, height, make(map[Peer]uint64)})
}

// Logged implements Below.
func (w *Window) Logged(on Link, peer Peer) (height, chunks uint64, ok bool) {
	e := w.find(on)
	if e == nil {
		return 0, 0, false
	}
	return e.height, e.chunks[peer], true
}

func (w *Window) find(link Link) *windowed {
	for i := range w.entries {
		if w.entries[i].link == link {
			return &w.entries[i]
		}
	}
	return nil
}
