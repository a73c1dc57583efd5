//go:build !js

package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// branched is a run of which a branch of the folder's own key was replaced: [0:2] are common, [2:5] lost, won won.
func branched(t *testing.T, dir string) (r *Run, d *Disk, own, won []*generation, told *[]Replaced) {
	t.Helper()
	rules := newRules(t, 2, false)
	d, r = openRun(t, dir, rules)
	told = new([]Replaced)
	if err := r.KeepBranches(DefaultKeep, func(x Replaced) { *told = append(*told, x) }); err != nil {
		t.Fatal(err)
	}
	own = grow(t, rules, nil, d.Key(), 5)
	won = grow(t, rules, own[1], newKey("b"), 4)
	save(t, r, move(0, "one", own...), move(2, "two", won...))
	return r, d, own, won, told
}

func save(t *testing.T, r *Run, batches ...Batch) {
	t.Helper()
	for _, b := range batches {
		if err := r.Save(b); err != nil {
			t.Fatal(err)
		}
	}
}

// exports reports whether a branch is a whole log of a chain.
func exports(t *testing.T, r *Run, name string, chain ...*generation) {
	t.Helper()
	var log bytes.Buffer
	if err := r.WriteBranch(name, &log); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "branch.seedlog")
	if err := os.WriteFile(path, log.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	replays(t, path, chain)
}

func names(r *Run) (all []string) {
	for _, b := range r.Branches() {
		all = append(all, b.Name)
	}
	return all
}

// What was canonical and was replaced has a name, also after a restart, until it is canonical again.
func TestBranches(t *testing.T) {
	dir := t.TempDir()
	r, d, own, won, told := branched(t, dir)
	all := r.Branches()
	if len(all) != 1 {
		t.Fatalf("branches %+v", all)
	}
	tip := own[4].link.Bytes()
	want := Branch{Name: fmt.Sprintf("h5-%x", tip[4:8]), Fork: 2, Height: 5, Tip: own[4].link.String(), Entries: 3, Evaluations: 12, Own: 12, Bytes: all[0].Bytes, When: all[0].When}
	if all[0] != want || !all[0].Alone() || all[0].Bytes < 1000 || all[0].When.IsZero() {
		t.Fatalf("branch %+v, want %+v", all[0], want)
	}
	if len(*told) != 1 || (*told)[0] != (Replaced{Branch: want, Come: 4, Kept: true}) {
		t.Fatalf("told %+v", *told)
	}
	exports(t, r, want.Name, own...)

	// A third branch from below: the first leaves the chain lower now, and so does the second.
	third := grow(t, r.rules, own[0], newKey("c"), 6)
	save(t, r, move(1, "three", third...))
	second := (*told)[1].Name
	if got := r.Branches(); len(got) != 2 || got[0].Fork != 1 || got[0].Entries != 4 || got[0].Evaluations != 16 || got[0].Own != 16 || got[1].Fork != 1 || got[1].Own != 4 {
		t.Fatalf("branches %+v", got)
	}
	restart := func() {
		t.Helper()
		before := r.Branches()
		if err := errors.Join(r.Close(), d.Close()); err != nil {
			t.Fatal(err)
		}
		d, r = openRun(t, dir, r.rules)
		if got := r.Branches(); !slices.Equal(got, before) {
			t.Fatalf("after a restart %+v, before %+v", got, before)
		}
	}
	restart()
	exports(t, r, want.Name, own...)
	exports(t, r, second, append(slices.Clone(own[:2]), won...)...)
	if read, err := ReadBranches(r.LogPath()); err != nil || !slices.Equal(read, r.Branches()) {
		t.Fatalf("read %+v, %v", read, err)
	}

	// The first wins back what it had up to height 3: its rest is a branch still. Then all of it.
	save(t, r, move(1, "four", own[1], own[2]))
	if got := r.Branches(); len(got) != 3 || got[0].Fork != 3 || got[0].Entries != 2 || got[0].Own != 8 || got[1].Fork != 2 {
		t.Fatalf("branches %+v", got)
	}
	save(t, r, move(3, "five", own[3]))
	save(t, r, move(4, "six", own[4]))
	if got := names(r); slices.Contains(got, want.Name) || len(got) != 2 {
		t.Fatalf("branches %v", got)
	}
	restart()

	// Names are the owner's.
	if err := r.RenameBranch(second, "before-the-storm"); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "-x", "../x", "a b", "a\x1b[2J", strings.Repeat("x", 65), names(r)[1]} {
		if err := r.RenameBranch("before-the-storm", bad); !errors.Is(err, ErrBranchName) {
			t.Errorf("renamed to %q: %v", bad, err)
		}
	}
	restart()
	exports(t, r, "before-the-storm", append(slices.Clone(own[:2]), won...)...)
	if err := r.RemoveBranch("before-the-storm"); err != nil {
		t.Fatal(err)
	}
	if err := r.RemoveBranch("before-the-storm"); !errors.Is(err, ErrNoBranch) {
		t.Error(err)
	}
	if err := r.RenameBranch(second, "x"); !errors.Is(err, ErrNoBranch) {
		t.Error(err)
	}
	if err := r.WriteBranch(second, io.Discard); !errors.Is(err, ErrNoBranch) {
		t.Error(err)
	}
	restart()
}

// Branches are bounded in number and bytes. Those with the least own work go first, renamed ones last: what strangers
// make pushes out what strangers made.
func TestBranchesBounded(t *testing.T) {
	r, d, own, _, told := branched(t, t.TempDir())
	defer d.Close()
	defer r.Close()
	mine := r.Branches()[0]
	at, height := own[0], uint64(6)
	save(t, r, move(1, "", grow(t, r.rules, at, newKey("big"), 5)...))
	for i := range maxBranches + 5 {
		save(t, r, move(height-1, "", grow(t, r.rules, own[0], newKey(fmt.Sprint(i)), 1)...), Batch{Head: &HeadMove{Fork: 1}})
		height = 2
	}
	all := r.Branches()
	if len(all) != maxBranches || all[0].Tip != mine.Tip {
		t.Fatalf("%d branches, the first is %+v", len(all), all[0])
	}
	if last := (*told)[len(*told)-1]; !last.Kept || all[len(all)-1].Tip != last.Tip {
		t.Errorf("the newest was not kept: %+v", last)
	}
	stranger := all[5].Name
	if err := r.RenameBranch(stranger, "renamed"); err != nil {
		t.Fatal(err)
	}
	if err := r.KeepBranches(all[0].Bytes+all[5].Bytes, nil); err != nil {
		t.Fatal(err)
	}
	if got := names(r); !slices.Equal(got, []string{mine.Name, "renamed"}) {
		t.Fatalf("kept %v", got)
	}
	if err := r.KeepBranches(all[5].Bytes, nil); err != nil {
		t.Fatal(err)
	}
	if got := names(r); !slices.Equal(got, []string{"renamed"}) {
		t.Fatalf("kept %v", got)
	}
	if err := r.KeepBranches(0, func(x Replaced) { *told = append(*told, x) }); err != nil {
		t.Fatal(err)
	}
	save(t, r, move(1, "", grow(t, r.rules, own[0], newKey("x"), 1)...), Batch{Head: &HeadMove{Fork: 1}})
	if last := (*told)[len(*told)-1]; last.Kept || len(r.Branches()) > 0 {
		t.Errorf("kept %+v", last)
	}
}

// Tidying leaves what branches have and what is needed, and nothing else; a restart finds the same.
func TestTidy(t *testing.T) {
	was := tidyLeast
	tidyLeast = 1
	defer func() { tidyLeast = was }()
	dir := t.TempDir()
	r, d, own, won, _ := branched(t, dir)
	name := r.Branches()[0].Name
	needed := grow(t, r.rules, own[0], newKey("needed"), 1)
	for i := range 20 {
		stray := grow(t, r.rules, own[0], newKey(fmt.Sprint("stray", i)), 1)
		save(t, r, Batch{Blocks: raw(stray[0].blocks()...)})
	}
	save(t, r, Batch{Blocks: raw(needed[0].blocks()...)})
	if !r.Untidy() {
		t.Fatal("not untidy")
	}
	var need []seedlog.Link
	for _, b := range needed[0].blocks() {
		need = append(need, seedlog.LinkOf(b))
	}
	before := r.aside.size
	if err := r.Tidy(need); err != nil {
		t.Fatal(err)
	}
	if r.Untidy() || r.aside.size > before/3 {
		t.Errorf("%d bytes of %d are left", r.aside.size, before)
	}
	for pass := range 2 {
		exports(t, r, name, own...)
		for _, l := range need {
			if _, ok := r.Block(l); !ok {
				t.Fatal("a block that is needed is gone")
			}
		}
		// The genesis; three entries of the branch and what is needed, of six blocks each: two batches, two claims,
		// entry and seal; and at last a branch that was removed, which is not most of the file.
		if n := len(r.aside.index); n != 1+4*6+6*pass {
			t.Fatalf("%d blocks are left", n)
		}
		save(t, r, move(6, "", grow(t, r.rules, won[3], newKey("b"), 1)...), Batch{Head: &HeadMove{Fork: 6}})
		if err := r.RemoveBranch(names(r)[1]); err != nil {
			t.Fatal(err)
		}
		if err := r.Tidy(need); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(r.Close(), d.Close()); err != nil {
			t.Fatal(err)
		}
		d, r = openRun(t, dir, r.rules)
		if err := r.Tidy(need); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, r.rules.Run.String()+blocksSuffix)); err != nil {
		t.Fatal(err)
	}
	if spec, err := d.Spec(r.rules.Run); err != nil || spec.Link() != r.rules.Run {
		t.Errorf("the genesis is gone: %v", err)
	}
	r.Close()
	d.Close()
}

// A file of names that is damaged costs the names, not the run.
func TestBranchesDamaged(t *testing.T) {
	dir := t.TempDir()
	r, d, own, won, _ := branched(t, dir)
	path := strings.TrimSuffix(r.LogPath(), logSuffix) + branchesSuffix
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Close(), d.Close()); err != nil {
		t.Fatal(err)
	}
	name := r.Branches()[0].Name
	tip, other := own[4].link.String(), seedlog.LinkOf([]byte{1}).String()
	for _, bad := range []string{
		"", "{", `{"version":2}`, "[]", strings.Repeat(" ", maxBranchesLength+1),
		strings.Replace(string(good), name, `\u001b[2J`, 1), strings.Replace(string(good), name, "../../x", 1), strings.Replace(string(good), tip, "nonsense", 1),
		`{"version":1,"branches":[` + strings.Repeat(`{"name":"a","tip":"`+tip+`"},`, maxBranches) + `{"name":"a","tip":"` + tip + `"}]}`,
		`{"version":1,"branches":[{"name":"a","tip":"` + tip + `"},{"name":"a","tip":"` + tip + `"}]}`,
	} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadBranches(r.LogPath()); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%.60q is read: %v", bad, err)
		}
		d, r = openRun(t, dir, r.rules)
		if len(r.Branches()) > 0 || len(r.Notes()) != 1 || !strings.Contains(r.Notes()[0], "no names any more") {
			t.Errorf("%.60q: branches %v, notes %q", bad, r.Branches(), r.Notes())
		}
		holds(t, r, "two", append(slices.Clone(own[:2]), won...))
		if err := errors.Join(r.Close(), d.Close()); err != nil {
			t.Fatal(err)
		}
	}
	// Names of what is not there, and of what is canonical, are dropped.
	for _, tip := range []string{other, won[1].link.String(), r.rules.Run.String()} {
		if err := os.WriteFile(path, []byte(`{"version":1,"branches":[{"name":"a","tip":"`+tip+`"}]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		d, r = openRun(t, dir, r.rules)
		if len(r.Branches()) > 0 {
			t.Errorf("branches %+v", r.Branches())
		}
		if err := errors.Join(r.Close(), d.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
