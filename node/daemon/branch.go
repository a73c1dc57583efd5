package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evoswarm/evoswarm/internal/nearest"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
	"github.com/evoswarm/evoswarm/node/httpd"
	"github.com/evoswarm/evoswarm/node/replay"
	"github.com/evoswarm/evoswarm/node/verb"
)

// branchWords are what evonode branch does.
var branchWords = []string{"list", "show", "export", "rename", "remove"}

// BranchVerb is evonode branch.
func BranchVerb() *verb.Verb {
	return &verb.Verb{
		Name: "branch", Args: "list|show|export|rename|remove", Summary: "what a heavier branch replaced here, such as work done alone",
		Intro: "Shows and writes what was part of the run on this computer until a heavier branch replaced it.",
		Usage: []string{
			"branch list [--data DIR] [--run RUN] [--json]",
			"branch show NAME [--data DIR] [--run RUN] [--json]",
			"branch export NAME -o FILE.seedlog [--data DIR] [--run RUN] [--json]",
			"branch rename NAME NEW [--data DIR] [--run RUN] [--json]",
			"branch remove NAME [--data DIR] [--run RUN] [--json]",
		},
		Details: branchDetails,
		Example: "evonode branch export h1234-ab12cd34 -o alone.seedlog",
		Words:   branchWords,
		Bind: func(fs *verb.Flags) verb.Run {
			var f branchFlags
			bindData(fs, &f.data, "the node's data folder")
			fs.String(&f.run, "run", "RUN", "the run, by its id (default: the one that is or was active in the folder)")
			fs.String(&f.out, "o", "FILE", "where export writes; an existing file is replaced")
			fs.JSON(&f.json, replay.BranchFields+"; export adds file")
			return func(ctx context.Context, s *verb.IO, args []string) error {
				if len(args) == 0 {
					return verb.Misused("missing "+strings.Join(branchWords[:4], ", ")+" or remove", "for example: evonode branch list")
				}
				word, args := args[0], args[1:]
				if !slices.Contains(branchWords, word) {
					return verb.Unknown("branch", word, branchWords)
				}
				if fs.Given("o") != (word == "export") {
					return verb.Misused("export takes -o FILE, and nothing else does", "for example: evonode branch export NAME -o alone.seedlog")
				}
				return f.do(ctx, s, word, args)
			}
		},
	}
}

const branchDetails = `A computer that was cut off from its swarm, or began alone, has a branch of its own. When it meets the swarm, the branch
with more work continues, and what the other held is no part of the run any more. A node keeps that under a name: the
height of its tip and the beginning of the tip's digest, or what you rename it to. It keeps 64 branches per run at most,
and of their blocks what its flag --keep says (256 MB); those with the least work of this computer go first, those that you
renamed last.

export writes a whole seed log, from the first generation to the branch's tip, which replay, eval, plot and export read as
they read any other. rename and remove work while the node runs, and while it does not.`

// branchFlags are what the user said.
type branchFlags struct {
	data, run, out string
	json           bool
}

// do does one of the words.
func (f *branchFlags) do(ctx context.Context, s *verb.IO, word string, args []string) error {
	want := map[string]int{"list": 0, "rename": 2}
	n, ok := want[word]
	if !ok {
		n = 1
	}
	if len(args) < n {
		return verb.Misused("missing the branch's "+[]string{"name", "new name"}[len(args)], "evonode branch list shows the names; see evonode branch --help")
	}
	if err := verb.None(args[n:]); err != nil {
		return err
	}
	data, err := dataDir(f.data)
	if err != nil {
		return err
	}
	run, active, err := f.findRun(data)
	if err != nil {
		return err
	}
	all, err := store.ReadBranches(filepath.Join(data, run.String()+".seedlog"))
	if err != nil {
		return verb.Failed(err, "start the node: it continues without the names")
	}
	if word == "list" {
		return replay.PrintBranches(s, all, f.json)
	}
	i := slices.IndexFunc(all, func(b store.Branch) bool { return b.Name == args[0] })
	if i < 0 {
		return noBranch(args[0], all)
	}
	if word == "show" {
		return f.show(s, all[i])
	}
	// The node has the files while it runs; else this process opens them as the node would.
	b := httpd.RemoteBranches(ctx, data, run.String())
	if err = f.change(s, b, word, all[i], args, all); !errors.Is(err, httpd.ErrNotRunning) {
		if err != nil && !active && !misused(err) {
			return verb.Failed(err, "stop the node first (evonode stop): it works on another run")
		}
		return err
	}
	opened, err := openRun(data, run)
	if err != nil {
		return err
	}
	defer opened.close()
	return f.change(s, opened.run, word, all[i], args, all)
}

// misused reports whether an error is the user's.
func misused(err error) bool { return errors.Is(err, store.ErrBranchName) }

// change writes, renames or removes a branch.
func (f *branchFlags) change(s *verb.IO, b httpd.Branches, word string, is store.Branch, args []string, all []store.Branch) (err error) {
	done := ""
	switch word {
	case "export":
		if !strings.HasSuffix(f.out, ".seedlog") {
			return verb.Misused(fmt.Sprintf("-o %q: not the name of a seed log", f.out), "for example: -o alone.seedlog")
		}
		err = verb.WriteWhole(f.out, func(w io.Writer) error { return b.WriteBranch(is.Name, w) })
		done = fmt.Sprintf("%s: the run up to generation %d, and the %s of branch %s", f.out, is.Fork, verb.Plural(int(is.Entries), "generation"), is.Name)
	case "rename":
		if err = store.CheckBranchName(args[1]); err == nil && args[1] != is.Name && slices.ContainsFunc(all, func(b store.Branch) bool { return b.Name == args[1] }) {
			err = fmt.Errorf("%w: another branch is called %s", store.ErrBranchName, args[1])
		}
		if err != nil {
			return verb.Wrong(err, "for example: evonode branch rename "+is.Name+" alone-in-june")
		}
		err = b.RenameBranch(is.Name, args[1])
		done = fmt.Sprintf("%s is called %s now", is.Name, args[1])
		is.Name, is.Renamed = args[1], true
	case "remove":
		err = b.RemoveBranch(is.Name)
		done = fmt.Sprintf("%s is removed", is.Name)
	}
	if err != nil {
		return err
	}
	if !f.json {
		_, err = fmt.Fprintln(s.Out, done)
		return err
	}
	return s.PrintJSON(struct {
		store.Branch
		File string `json:"file,omitempty"`
	}{is, f.out})
}

// show prints one branch.
func (f *branchFlags) show(s *verb.IO, b store.Branch) error {
	if f.json {
		return s.PrintJSON(b)
	}
	fmt.Fprintf(s.Out, "name         %s\n", b.Name)
	fmt.Fprintf(s.Out, "generations  %d, above generation %d of the run\n", b.Entries, b.Fork)
	fmt.Fprintf(s.Out, "tip          %s at height %d\n", b.Tip, b.Height)
	fmt.Fprintf(s.Out, "evaluations  %d, %d of them by this computer\n", b.Evaluations, b.Own)
	fmt.Fprintf(s.Out, "replaced     %s\n", b.When.Local().Format(time.DateTime))
	_, err := fmt.Fprintf(s.Out, "size         %s\n", replay.Size(b.Bytes))
	return err
}

// noBranch is the error for a name that no branch has.
func noBranch(name string, all []store.Branch) error {
	var names []string
	for _, b := range all {
		names = append(names, b.Name)
	}
	hint := "evonode branch list shows all"
	if near := nearest.Names(name, names); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "? " + hint
	}
	return verb.Failed(fmt.Errorf("%w: %q", store.ErrNoBranch, name), hint)
}

// findRun is the run that the user means, and whether it is the active one of the folder.
func (f *branchFlags) findRun(data string) (run seedlog.Link, active bool, err error) {
	m, err := readMemory(data)
	if err != nil {
		return run, false, err
	}
	name := f.run
	if name == "" {
		name = m.Active
	}
	if name == "" {
		return run, false, verb.Failed(fmt.Errorf("no run in %s", data), "name the data folder with --data DIR, or start a node with evonode --bootstrap --train ENV")
	}
	if run, err = seedlog.ParseLink(name); err != nil {
		return run, false, verb.Wrong(err, "a run is named by its id, as evonode status prints it")
	}
	if !slices.Contains(m.Recent, name) {
		return run, false, verb.Failed(fmt.Errorf("run %s is not in %s", name, data), "evonode status names the one that is active there; its files are called after their runs")
	}
	return run, name == m.Active || slices.Contains(m.Also, name), nil
}

// opened is a run that no node has open.
type opened struct {
	disk *store.Disk
	run  *store.Run
}

func openRun(data string, run seedlog.Link) (o opened, err error) {
	if o.disk, err = store.Open(data); err != nil {
		return o, err
	}
	spec, err := o.disk.Spec(run)
	var rules *seedlog.Rules
	if err == nil {
		rules, err = seedlog.NewRules(spec)
	}
	if err == nil {
		o.run, err = o.disk.OpenRun(rules)
	}
	if err != nil {
		o.disk.Close()
	}
	return o, err
}

func (o opened) close() {
	o.run.Close()
	o.disk.Close()
}

// Branches implements [httpd.Control].
func (n *Node) Branches(run string) (httpd.Branches, error) {
	for _, l := range n.lanes {
		if stored := l.stored(); stored != nil && l.runID() == run {
			return stored, nil
		}
	}
	return nil, httpd.ErrOtherRun
}

// stored is the run of the lane in the data folder; nil while there is none.
func (l *lane) stored() *store.Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.run
}

// openBranched opens the run of the lane, which says from then on what was replaced.
func (l *lane) openBranched(rules *seedlog.Rules) (*store.Run, error) {
	run, err := l.node.data.OpenRun(rules)
	if err != nil {
		return nil, unopened{err}
	}
	if err := l.node.bound(run, rules); err != nil {
		run.Close()
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run = run
	return run, nil
}

// bound tells a run how much disk it may take. Where nobody begins at a base, the log stays, since who joins needs
// all of it.
func (n *Node) bound(run *store.Run, rules *seedlog.Rules) error {
	cuts := n.cfg.Bounded && rules.Bases()
	if !cuts {
		return run.KeepBranches(n.cfg.Keep, n.replaced)
	}
	if least := store.LeastBound(rules); n.cfg.Keep < least {
		size := fmt.Sprintf("%dMB", (least+999_999)/1_000_000)
		return verb.Misused(fmt.Sprintf("--keep %d bytes is too little for this run, which takes %s at least", n.cfg.Keep, size),
			fmt.Sprintf("--keep %s or more; without --keep all of the run is kept", size))
	}
	if err := run.KeepBranches(n.cfg.Keep, n.replaced); err != nil {
		return err
	}
	return run.Bound(n.cfg.Keep)
}

// dropped tells the owner, once, that older entries went.
func (l *lane) dropped(first uint64, elsewhere bool) {
	if l.hasDropped {
		return
	}
	l.hasDropped = true
	text := fmt.Sprintf("dropped the generations before %d, since --keep leaves no room; from now on the oldest go as new ones come", first)
	if !elsewhere {
		text += "; no other node that this one hears has them: they may be lost"
	}
	if n := l.node; len(n.lanes) > 1 {
		text = l.name() + ": " + text
	}
	select {
	case l.node.news <- text:
	default:
	}
}

// maxNews bounds what was not shown yet.
const maxNews = 16

// replaced tells the owner what became of work of this computer. What is others' work shows in the status.
func (n *Node) replaced(r store.Replaced) {
	if r.Own == 0 {
		return
	}
	select {
	case n.news <- replacedText(r):
	default: // there is more than anybody reads
	}
}

// replacedText says in words what became of entries, and where they are.
func replacedText(r store.Replaced) string {
	their, were, they := "their", "were", "they are"
	if r.Entries == 1 {
		their, were, they = "its", "was", "it is"
	}
	text := verb.Plural(int(r.Entries), "generation")
	if r.Alone() {
		text += " that this computer made while it was alone"
	} else {
		text += fmt.Sprintf(", with %d of %s %d evaluations made here,", r.Own, their, r.Evaluations)
	}
	switch r.Come {
	case 0:
		text += fmt.Sprintf(" %s taken back, since a claim was false", were)
	case 1:
		text += fmt.Sprintf(" %s replaced by another of the swarm", were)
	default:
		text += fmt.Sprintf(" %s replaced by %d others of the swarm", were, r.Come)
	}
	if r.Kept {
		return text + fmt.Sprintf("; %s kept as branch %s (evonode branch list)", they, r.Name)
	}
	return text + fmt.Sprintf("; %s not kept: --keep leaves no room", they)
}
