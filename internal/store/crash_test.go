//go:build !js

package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// step is one Save, and what the store holds after it.
type step struct {
	batch Batch
	state string
	chain []*generation
	kept  []*generation // blocks that any Save so far was given
	lost  []string      // tips of the branches that were replaced and are not canonical
}

// history is a run with everything that changes files: growth, evidence, a branch that wins, one that wins
// back, a chain that is cut short, and state alone.
func history(t testing.TB, rules *seedlog.Rules) []step {
	first := grow(t, rules, nil, newKey("a"), 4)
	other := grow(t, rules, first[1], newKey("b"), 3)
	stray := grow(t, rules, first[0], newKey("c"), 1)
	var steps []step
	chain, kept, lost := []*generation(nil), []*generation(nil), []string(nil)
	add := func(b Batch, state string, given ...*generation) {
		if m := b.Head; m != nil {
			if uint64(len(chain)) > m.Fork {
				lost = append(slices.Clone(lost), chain[len(chain)-1].link.String())
			}
			chain = slices.Clone(chain[:m.Fork])
			for _, link := range m.Entries {
				i := slices.IndexFunc(given, func(g *generation) bool { return g.link == link })
				chain = append(chain, given[i])
			}
		}
		kept = append(slices.Clone(kept), given...)
		lost = slices.DeleteFunc(slices.Clone(lost), func(tip string) bool {
			return slices.ContainsFunc(chain, func(g *generation) bool { return g.link.String() == tip })
		})
		steps = append(steps, step{b, state, chain, kept, lost})
	}
	add(move(0, "one", first[0]), "one", first[0])
	add(Batch{Blocks: raw(stray[0].blocks()...)}, "one", stray[0])
	add(move(1, "two", first[1], first[2]), "two", first[1], first[2])
	add(move(2, "three", other[0], other[1]), "three", other[0], other[1])
	add(move(4, "four", other[2]), "four", other[2])
	add(move(2, "five", first[2], first[3]), "five", first[2], first[3])
	add(Batch{State: []byte("six")}, "six")
	add(Batch{Head: &HeadMove{Fork: 1}}, "six")
	add(move(1, "seven", first[1]), "seven", first[1])
	return steps
}

func openSim(rules *seedlog.Rules, disk *simDisk) (*Run, error) {
	return (&Disk{dir: "data", files: disk}).OpenRun(rules)
}

// branchesHold reports whether what was replaced, and only that, has a name and can be exported.
func branchesHold(r *Run, lost []string) error {
	var tips []string
	for _, b := range r.Branches() {
		tips = append(tips, b.Tip)
		if err := r.WriteBranch(b.Name, io.Discard); err != nil {
			return fmt.Errorf("branch %s: %w", b.Name, err)
		}
	}
	if !slices.Equal(tips, lost) {
		return fmt.Errorf("the branches are %v, want %v", tips, lost)
	}
	return nil
}

// matches is holds as an error, for one of several steps.
func (s step) matches(r *Run) error {
	entries, seals := chainOf(r)
	if !slices.Equal(entries, links(s.chain...)) || string(r.State()) != s.state {
		return fmt.Errorf("chain of %d and state %q, want %d and %q", len(entries), r.State(), len(s.chain), s.state)
	}
	for i, g := range s.chain {
		if seals[i] != g.sealLink() {
			return fmt.Errorf("height %d has another seal", i+1)
		}
	}
	for _, g := range s.kept {
		for _, want := range g.blocks() {
			if got, ok := r.Block(seedlog.LinkOf(want)); !ok || !bytes.Equal(got, want) {
				return fmt.Errorf("a block of height %d is missing or changed", g.entry.Height)
			}
		}
	}
	return nil
}

// logOf fails unless the log on a disk is the one of the chain, byte by byte.
func logOf(t testing.TB, rules *seedlog.Rules, disk *simDisk, chain []*generation) {
	t.Helper()
	want := rules.AppendBeginning(nil)
	for _, g := range chain {
		want = seedlog.AppendGeneration(want, g.entry, g.seal, g.claims)
	}
	if got := disk.names[filepath.Join("data", rules.Run.String()+logSuffix)].seen; !bytes.Equal(got, want) {
		t.Fatalf("the log has %d bytes, want the %d of a chain of %d", len(got), len(want), len(chain))
	}
}

// Whenever power goes, and whatever a disk then has of the writes that were not synced: the run opens, holds
// what the last Save that returned had kept or all of the one under way, its log is whole, and it takes the next Save.
func TestRunPowerLoss(t *testing.T) {
	t.Run("scanned", runPowerLoss)
	t.Run("indexed", func(t *testing.T) {
		withLag(t, 1)
		runPowerLoss(t)
	})
}

// withLag lets the index follow the log closely in a test.
func withLag(t *testing.T, lag int) {
	was := indexLag
	indexLag = lag
	t.Cleanup(func() { indexLag = was })
}

func runPowerLoss(t *testing.T) {
	rules := newRules(t, 2, false)
	steps := history(t, rules)
	disk := newSimDisk()
	disk.record = true
	saved := []int{} // moments after which each Save had returned
	r, err := openSim(rules, disk)
	if err != nil {
		t.Fatal(err)
	}
	opened := len(disk.moments)
	for i, s := range steps {
		if err := r.Save(s.batch); err != nil {
			t.Fatal(err)
		}
		if err := s.matches(r); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		saved = append(saved, len(disk.moments))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	logOf(t, rules, disk, steps[len(steps)-1].chain)
	rng := rand.New(rand.NewPCG(1, 2))
	empty := step{}
	for at, m := range disk.moments {
		done := 0 // Saves that had returned
		for done < len(saved) && saved[done] <= at+1 {
			done++
		}
		old, next := empty, empty
		if done > 0 {
			old = steps[done-1]
		}
		if done < len(steps) {
			next = steps[done]
		}
		for variant := range lossAny + 4 {
			left := m.after(min(variant, lossAny), rng)
			what := fmt.Sprintf("moment %d of %d (opened at %d, saved at %v), variant %d", at, len(disk.moments), opened, saved, variant)
			r, err := openSim(rules, left)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			is := old
			if err := old.matches(r); err != nil {
				is = next
				if err2 := next.matches(r); err2 != nil {
					t.Fatalf("%s: neither what was kept (%v) nor the next (%v)", what, err, err2)
				}
			}
			logOf(t, rules, left, is.chain)
			if err := branchesHold(r, is.lost); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if err := r.Save(Batch{State: []byte("on")}); err != nil {
				t.Fatalf("%s: saving after it: %v", what, err)
			}
			if err := r.Close(); err != nil {
				t.Fatalf("%s: closing after it: %v", what, err)
			}
		}
	}
	t.Logf("%d moments", len(disk.moments))
}

// Wherever a disk fails: Save says so and takes nothing more; opened again, the run holds what was kept
// before or all of what was being saved, and the same Save then works.
func TestRunFailingDisk(t *testing.T) {
	t.Run("scanned", runFailingDisk)
	t.Run("indexed", func(t *testing.T) {
		withLag(t, 1)
		runFailingDisk(t)
	})
}

func runFailingDisk(t *testing.T) {
	rules := newRules(t, 2, false)
	steps := history(t, rules)
	for fail := 1; ; fail++ {
		disk := newSimDisk()
		disk.fail = fail
		r, err := openSim(rules, disk)
		done := 0
		for err == nil && done < len(steps) {
			if err = r.Save(steps[done].batch); err == nil {
				done++
			}
		}
		if err == nil {
			if fail < 50 {
				t.Errorf("all was done in %d calls", fail)
			}
			return
		}
		if !errors.Is(err, ErrFull) {
			t.Fatalf("call %d fails: %v, want %v", fail, err, ErrFull)
		}
		if r != nil {
			if err := r.Save(Batch{State: []byte("more")}); err == nil {
				t.Fatalf("call %d fails: the next Save is taken", fail)
			}
			if err := r.Close(); err != nil {
				t.Fatalf("call %d fails: closing: %v", fail, err)
			}
		}
		disk.fail = 0
		if r, err = openSim(rules, disk); err != nil {
			t.Fatalf("call %d fails: opening again: %v", fail, err)
		}
		if done > 0 {
			if err := steps[done-1].matches(r); err != nil {
				if err2 := steps[done].matches(r); err2 != nil {
					t.Fatalf("call %d fails: after step %d neither what was kept (%v) nor the next (%v)", fail, done, err, err2)
				}
				done++
			}
		}
		for ; done < len(steps); done++ {
			if err := r.Save(steps[done].batch); err != nil {
				t.Fatalf("call %d fails: step %d again: %v", fail, done, err)
			}
		}
		if err := steps[len(steps)-1].matches(r); err != nil {
			t.Fatalf("call %d fails: %v", fail, err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		logOf(t, rules, disk, steps[len(steps)-1].chain)
	}
}

// oldFiles writes a folder as versions before 0.2 did, which kept every block in the blocks file and the
// chain in the log as well; logged generations are in the log, of which synced bytes are recorded.
func oldFiles(rules *seedlog.Rules, s step, logged int) *simDisk {
	disk := newSimDisk()
	put := func(suffix string, data []byte) {
		f := &simFile{seen: data, durable: slices.Clone(data)}
		name := filepath.Join("data", rules.Run.String()+suffix)
		disk.names[name], disk.onDisk[name] = f, f
	}
	blocks, log := rules.AppendBeginning(nil), rules.AppendBeginning(nil)
	for _, g := range s.kept {
		for _, b := range g.blocks() {
			blocks, _ = seedlog.AppendSection(blocks, b)
		}
	}
	for _, g := range s.chain[:logged] {
		log = seedlog.AppendGeneration(log, g.entry, g.seal, g.claims)
	}
	put(blocksSuffix, blocks)
	put(blocksSuffix+SyncedSuffix, []byte(formatSynced(int64(len(blocks)))))
	put(logSuffix, log)
	put(logSuffix+SyncedSuffix, []byte(formatSynced(int64(len(log)))))
	put(stateSuffix, nil)
	slots, err := openSlots(disk, filepath.Join("data", rules.Run.String()+stateSuffix))
	if err != nil {
		panic(err)
	}
	h := hardState{state: []byte(s.state)}
	if n := len(s.chain); n > 0 {
		h.head, h.seal = s.chain[n-1].link, s.chain[n-1].sealLink()
	}
	if err := slots.write(h); err != nil {
		panic(err)
	}
	return disk
}

// A folder of an earlier version opens without loss, also where power is lost on the way, and holds each block
// once afterwards.
func TestRunMigrates(t *testing.T) {
	rules := newRules(t, 2, false)
	s := step{state: "old"}
	s.chain = grow(t, rules, nil, newKey("a"), 8)
	s.kept = append(slices.Clone(s.chain), grow(t, rules, s.chain[1], newKey("b"), 1)...)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, logged := range []int{0, 5, len(s.chain)} {
		disk := oldFiles(rules, s, logged)
		disk.record = true
		r, err := openSim(rules, disk)
		if err != nil {
			t.Fatalf("%d generations in the log: %v", logged, err)
		}
		if err := s.matches(r); err != nil {
			t.Fatalf("%d generations in the log: %v", logged, err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		logOf(t, rules, disk, s.chain)
		blocks := disk.names[filepath.Join("data", rules.Run.String()+blocksSuffix)].seen
		for _, g := range s.chain {
			if bytes.Contains(blocks, seedlog.Encode(g.entry)) {
				t.Fatalf("the entry of height %d is kept twice", g.entry.Height)
			}
		}
		for at, m := range disk.moments {
			for variant := range lossAny + 4 {
				left := m.after(min(variant, lossAny), rng)
				r, err := openSim(rules, left)
				if err != nil {
					t.Fatalf("moment %d, variant %d: %v", at, variant, err)
				}
				if err := s.matches(r); err != nil {
					t.Fatalf("moment %d, variant %d: %v", at, variant, err)
				}
				logOf(t, rules, left, s.chain)
				if err := r.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
