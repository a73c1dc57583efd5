package seedlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"testing"
)

// fromBase is the log of a run without its first generations, from the state after another one on.
func fromBase(t testing.TB, r *staleRun, below, at int, change func(*Base)) []byte {
	t.Helper()
	state, err := r.states[at].MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	b := &Base{Link: r.links[below], Height: uint64(below), Term: 1, Duration: r.all[below-1].entry.Duration, At: uint64(at), Start: 3, Len: uint64(len(state))}
	for _, m := range r.all[:below] {
		b.Evaluations, b.Steps = b.Evaluations+m.entry.Evaluations, b.Steps+m.entry.Steps
	}
	data := slices.Concat([]byte("own"), state, bytes.Repeat([]byte{9}, baseBlock))
	if change != nil {
		change(b)
	}
	log := AppendBase(r.rules.AppendBeginning(nil), b, data)
	for _, m := range r.all[below:] {
		log = AppendGeneration(log, m.entry, m.seal, m.claims)
	}
	return log
}

// TestLogFromABase: a log that lacks its older part gives the same bits from the state on that it begins with.
// What lies on states below is not run again, and heights below have no model.
func TestLogFromABase(t *testing.T) {
	r, _, _ := grownStaleRun(t)
	log := fromBase(t, r, 5, 7, nil)
	whole, err := Replay(bytes.NewReader(file(r.rules, r.all...)), ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var above uint64
	for _, m := range r.all[7:] {
		above += m.entry.Evaluations
	}
	for _, check := range []Check{CheckLinks, CheckDigests, CheckClaims} {
		lowest := uint64(0)
		got, err := Replay(bytes.NewReader(log), ReplayOptions{Check: check, Progress: func(height uint64, _ int64) error {
			if lowest == 0 {
				lowest = height
			}
			return nil
		}})
		if err != nil {
			t.Fatalf("%s: %v", check, err)
		}
		if got.Base != 7 || lowest != 7 || got.Height != 12 || got.Evaluations != whole.Evaluations || got.Steps != whole.Steps || check != CheckLinks && got.State.Digest() != whole.State.Digest() {
			t.Errorf("%s: base %d, heard of %d first, height %d, %d evaluations, %d steps; want %d, %d", check, got.Base, lowest, got.Height, got.Evaluations, got.Steps, whole.Evaluations, whole.Steps)
		}
		if check == CheckClaims && (got.Checked == 0 || got.Checked >= above) {
			t.Errorf("%d of %d evaluations above were run again; some lie on states below", got.Checked, above)
		}
	}
	for at := range uint64(13) {
		got, err := Replay(bytes.NewReader(log), ReplayOptions{At: at, HasAt: true})
		switch {
		case at > 0 && at < 7:
			if !errors.Is(err, ErrBelow) {
				t.Errorf("height %d: %v", at, err)
			}
		case err != nil:
			t.Errorf("height %d: %v", at, err)
		case got.Height != at || got.State.Digest() != r.states[at].Digest():
			t.Errorf("height %d: another state, of height %d", at, got.Height)
		}
	}
	scanner, err := NewScanner(bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	for height := uint64(6); ; height++ {
		g, err := scanner.Next()
		if err == io.EOF && height == 13 {
			break
		}
		if err != nil || g.Entry.Height != height || scanner.Base() == nil {
			t.Fatalf("height %d: %v", height, err)
		}
	}
}

// TestBadBases: a base that is not that of the log is refused, whatever of it is wrong, and so is one where nobody
// begins.
func TestBadBases(t *testing.T) {
	r, _, _ := grownStaleRun(t)
	for name, bad := range map[string]struct {
		change func(*Base)
		want   error
	}{
		"another parent":      {func(b *Base) { b.Link = r.links[4] }, ErrLink},
		"another height":      {func(b *Base) { b.Height = 4 }, ErrOrder},
		"a later term":        {func(b *Base) { b.Term = 2 }, ErrOrder},
		"another state":       {func(b *Base) { b.At = 8 }, ErrDigest},
		"a state close above": {func(b *Base) { b.At = 6 }, ErrMalformed},
		"a state far above":   {func(b *Base) { b.At = 6 + MaxBaseDepth }, ErrMalformed},
		"a state above all":   {func(b *Base) { b.At = 20 }, ErrTorn},
		"the genesis":         {func(b *Base) { b.Height = 0 }, ErrMalformed},
		"a state elsewhere":   {func(b *Base) { b.Start = 4 }, nil},
		"a small state":       {func(b *Base) { b.Len-- }, ErrMalformed},
		"a large state":       {func(b *Base) { b.Len += 1 << 40 }, ErrMalformed},
		"a state outside":     {func(b *Base) { b.Start = 1 << 40 }, ErrMalformed},
	} {
		_, err := Replay(bytes.NewReader(fromBase(t, r, 5, 7, bad.change)), ReplayOptions{})
		if err == nil || bad.want != nil && !errors.Is(err, bad.want) {
			t.Errorf("%s: %v, want %v", name, err, bad.want)
		}
	}
	another := fromBase(t, r, 5, 7, func(b *Base) { b.At = 8 })
	if _, err := Replay(bytes.NewReader(another), ReplayOptions{At: 8, HasAt: true}); !errors.Is(err, ErrDigest) {
		t.Errorf("another state, with nothing folded on it: %v", err)
	}
	spec := newSpec(t, "dises")
	spec.Nonce = bytes.Repeat([]byte{7}, 16)
	first := &staleRun{t: t, rules: newRules(t, spec), all: r.all, states: r.states, links: r.links}
	if _, err := Replay(bytes.NewReader(fromBase(t, first, 5, 7, nil)), ReplayOptions{}); !errors.Is(err, ErrMalformed) {
		t.Errorf("in a run of format 1: %v", err)
	}
	log := fromBase(t, r, 5, 7, nil)
	for end := len(r.rules.AppendBeginning(nil)) + 1; end < len(log); end += 97 {
		if got, err := Replay(bytes.NewReader(log[:end]), ReplayOptions{}); err != nil && !Torn(err) || err == nil && got.Height < 7 && got.Base > 0 {
			t.Fatalf("cut at %d of %d: %+v, %v", end, len(log), got, err)
		}
	}
}

// TestSharesAboveABase: who begins at a base knows all the work that shares follow from only once so many entries are
// above it.
func TestSharesAboveABase(t *testing.T) {
	const base = 5
	rules, peer := newRules(t, heldOutSpec(t, "snes")), Peer{1}
	link := func(height uint64) Link { return LinkOf(binary.LittleEndian.AppendUint64(nil, height)) }
	w := rules.windowAbove(&Base{Height: base, Link: link(base)})
	for height := uint64(base + 1); height < base+2*ShareEntries; height++ {
		w.Add(link(height), height, []*Claim{{Parent: link(height - 1), Peer: peer, Steps: []uint64{10}, Fitness: []int64{1}}})
		want := uint64(0)
		if rules.Evaluated(height) && height >= base+ShareEntries {
			want = 10 * ShareEntries
		}
		if _, steps, all := w.HeldOut(link(height), peer); steps != want || all != want {
			t.Errorf("height %d: %d of %d env-steps, want %d", height, steps, all, want)
		}
	}
}

// TestHeldOutAboveABase: who reads a log that begins with a state does not know all the work that says whose held-out
// results have a place on the first states, and calls none the best that is not in the log.
func TestHeldOutAboveABase(t *testing.T) {
	const entries, below, at = 64, 5, 8
	r := heldOutRun(t, "snes", entries)
	whole, err := Replay(bytes.NewReader(file(r.rules, r.all...)), ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Replay(bytes.NewReader(fromBase(t, r, below, at, nil)), ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Height != entries || got.State.Digest() != whole.State.Digest() {
		t.Errorf("height %d, another state: %t", got.Height, got.State.Digest() != whole.State.Digest())
	}
	for last := at + 1; last <= 20; last++ {
		got, err := Replay(bytes.NewReader(fromBase(t, r, below, at, nil)), ReplayOptions{At: uint64(last), HasAt: true})
		if best := got.Marks.Best.Height; err != nil || best > 0 && best < at {
			t.Errorf("height %d: %v; the best state is that of height %d", last, err, best)
		}
	}
	if best := whole.Marks.Best.Height; best == 0 {
		t.Error("no state was scored: no test")
	}
}
