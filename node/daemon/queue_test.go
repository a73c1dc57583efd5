package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/verb"
)

// readQueue is what a node would train with these flags; FILE in them is a file of that text.
func readQueue(t *testing.T, text, flags string) (all []string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs.txt")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f, fs := newNodeFlags(), verb.NewFlags()
	f.bind(fs, "")
	f.bindRun(fs)
	if _, err := fs.Parse(strings.Fields(strings.ReplaceAll(flags, "FILE", path)), ""); err != nil {
		t.Fatal(err)
	}
	queue, err := f.queue(fs)
	for _, o := range queue {
		until := o.Until
		if until == nil {
			until = new(seedlog.Until)
		}
		all = append(all, fmt.Sprintf("%s %s %d draft=%v solved=%v entries=%d", o.Env, o.Strategy, o.Seed, o.Draft, until.Solved, until.Entries))
	}
	if err != nil {
		return nil, fmt.Errorf("%s", strings.ReplaceAll(err.Error(), path, "FILE"))
	}
	return all, nil
}

func TestQueueFile(t *testing.T) {
	const text = "# mine\n\n  CartPole-v1 --strategy snes # first\r\npendulum-v1 --seed 4 --until entries=3 --draft\n\tCartPole-v1 --until never\n"
	got, err := readQueue(t, text, "--train FILE --draft")
	want := []string{
		"CartPole-v1 snes 0 draft=true solved=true entries=0",
		"Pendulum-v1 " + presets.DefaultStrategy("Pendulum-v1") + " 4 draft=true solved=false entries=3",
		"CartPole-v1 " + presets.DefaultStrategy("CartPole-v1") + " 0 draft=true solved=false entries=0",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
	if got, err = readQueue(t, "CartPole-v1 --draft\nPendulum-v1", "--train FILE"); err != nil || len(got) != 2 || !strings.HasSuffix(got[1], "draft=false solved=false entries=0") {
		t.Errorf("%v, %v", got, err)
	}
	if got, err = readQueue(t, "CartPole-v1\nPendulum-v1", "--train FILE --draft --until entries=7"); err != nil || !strings.HasSuffix(got[0], "entries=7") {
		t.Errorf("%v, %v", got, err)
	}
}

func TestBadQueueFile(t *testing.T) {
	for _, test := range []struct{ text, flags, want string }{
		{"", "--train FILE", "FILE names no run"},
		{"# nothing\n\n", "--train FILE", "FILE names no run"},
		{"CartPole-v1", "--train FILE --strategy snes", "--strategy together with a file of runs"},
		{"CartPole-v1 --draft\n\nCartPol-v1", "--train FILE", `FILE: line 3: unknown environment "CartPol-v1"`},
		{"CartPole-v1 --strategy snas", "--train FILE", `unknown strategy "snas"`},
		{"CartPole-v1 --population 0", "--train FILE", "FILE: line 1: "},
		{"CartPole-v1 --param sigma=-1", "--train FILE", "FILE: line 1: "},
		{"CartPole-v1 --draft --until 10m", "--train FILE", `FILE: line 1: --until "10m"`},
		{"CartPole-v1 --until solved", "--train FILE", "FILE: line 1: a run of format 1 never ends"},
		{"CartPole-v1 --data /etc", "--train FILE", "FILE: line 1: unknown flag --data"},
		{"CartPole-v1 Pendulum-v1", "--train FILE", "FILE: line 1: "},
		{"--draft", "--train FILE", "FILE: line 1: missing argument environment"},
		{"CartPole-v1\nPendulum-v1 --draft", "--train FILE", "FILE: line 1: this run never ends"},
		{"CartPole-v1 --until never\nPendulum-v1", "--train FILE --draft", "FILE: line 1: this run never ends"},
		{"CartPole-v1\nPendulum-v1\ncartpole-v1", "--train FILE --draft", "FILE: line 3: this run is the same as number 1 of the queue"},
		{"", "--train CartPole-v1,CartPole-v1 --draft", "this run is the same as number 1 of the queue"},
		{strings.Repeat("x", maxQueueLength), "--train FILE", "FILE is no file of runs: it is too long"},
		{strings.Repeat("#\n", maxQueueLength), "--train FILE", "FILE is no file of runs: it is too long"},
		{strings.Repeat("CartPole-v1\n", maxQueue+1), "--train FILE --draft", "more than 1000 runs"},
		{"\x00\xff\x1b[2J", "--train FILE", "FILE: line 1: unknown environment"},
		{"", "--train nowhere.txt", "open nowhere.txt"},
		{"", "--train /tmp/.txt/x.txt", "open /tmp/.txt/x.txt"},
	} {
		if got, err := readQueue(t, test.text, test.flags); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.40q %s: %v, %v, want %s", test.text, test.flags, got, err, test.want)
		}
	}
}
