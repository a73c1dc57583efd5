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
	if _, err := fs.Parse(words(strings.ReplaceAll(flags, "FILE", path)), ""); err != nil {
		t.Fatal(err)
	}
	queues, err := f.queues(fs)
	for _, o := range slices.Concat(queues...) {
		until := o.Until
		if until == nil {
			until = new(seedlog.Until)
		}
		all = append(all, fmt.Sprintf("%s %s %d format=%d solved=%v entries=%d", o.Env, o.Strategy, o.Seed, o.Format, until.Solved, until.Entries))
	}
	if err != nil {
		return nil, fmt.Errorf("%s", strings.ReplaceAll(err.Error(), path, "FILE"))
	}
	return all, nil
}

// words splits a command as a shell does, with single quotes.
func words(command string) (all []string) {
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}

// Several --train are several queues, each with its own kind of text.
func TestSeveralQueues(t *testing.T) {
	got, err := readQueue(t, "Acrobot-v1 --seed 3\nMountainCar-v0", "--train FILE --train CartPole-v1,Pendulum-v1 --train 'cartpole-v1 --strategy cem --until entries=4' --until entries=9")
	want := []string{
		"Acrobot-v1 " + presets.SwarmStrategy + " 3 format=2 solved=false entries=9",
		"MountainCar-v0 " + presets.SwarmStrategy + " 0 format=2 solved=false entries=9",
		"CartPole-v1 " + presets.SwarmStrategy + " 0 format=2 solved=false entries=9",
		"Pendulum-v1 " + presets.SwarmStrategy + " 0 format=2 solved=false entries=9",
		"CartPole-v1 cem 0 format=2 solved=false entries=4",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
	for _, test := range []struct{ text, flags, want string }{
		{"", "--train CartPole-v1 --train CartPole-v1", "this run of CartPole-v1 is in two queues"},
		{"CartPole-v1", "--train Acrobot-v1 --train Pendulum-v1,CartPole-v1 --train FILE", "FILE: line 1: this run of CartPole-v1 is in two queues"},
		{"", "--train CartPole-v1 --train 'CartPole-v1 --strategy " + presets.SwarmStrategy + "'", "is in two queues"},
		{"", "--train CartPole-v1 --train CartPol-v1", `unknown environment "CartPol-v1"`},
		{"", "--train CartPole-v1 --train ''", `unknown environment ""`},
		{"", "--train 'CartPole-v1 --population 0'", "--train 'CartPole-v1 --population 0': "},
		{"", "--train 'CartPole-v1 --train Pendulum-v1'", "unknown flag --train"},
		{"", "--train 'CartPole-v1 --seed 2' --strategy snes", "--strategy together with --train"},
		{"", strings.Repeat("--train CartPole-v1 ", maxAtOnce+1), "--train given 9 times"},
	} {
		if got, err := readQueue(t, test.text, test.flags); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.40q %s: %v, %v, want %s", test.text, test.flags, got, err, test.want)
		}
	}
}

func TestQueueFile(t *testing.T) {
	const text = "# mine\n\n  CartPole-v1 --strategy snes # first\r\npendulum-v1 --seed 4 --until entries=3\n\tCartPole-v1 --until never\n"
	got, err := readQueue(t, text, "--train FILE")
	want := []string{
		"CartPole-v1 snes 0 format=2 solved=true entries=0",
		"Pendulum-v1 " + presets.SwarmStrategy + " 4 format=2 solved=false entries=3",
		"CartPole-v1 " + presets.SwarmStrategy + " 0 format=2 solved=false entries=0",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
	if got, err = readQueue(t, "CartPole-v1 --format 2\nPendulum-v1", "--train FILE --format 1"); err != nil || len(got) != 2 || !strings.HasSuffix(got[1], "format=1 solved=false entries=0") {
		t.Errorf("%v, %v", got, err)
	}
	if got, err = readQueue(t, "CartPole-v1\nPendulum-v1", "--train FILE --until entries=7"); err != nil || !strings.HasSuffix(got[0], "entries=7") {
		t.Errorf("%v, %v", got, err)
	}
}

func TestBadQueueFile(t *testing.T) {
	for _, test := range []struct{ text, flags, want string }{
		{"", "--train FILE", "FILE names no run"},
		{"# nothing\n\n", "--train FILE", "FILE names no run"},
		{"CartPole-v1", "--train FILE --strategy snes", "--strategy together with a file of runs"},
		{"CartPole-v1\n\nCartPol-v1", "--train FILE", `FILE: line 3: unknown environment "CartPol-v1"`},
		{"CartPole-v1 --strategy snas", "--train FILE", `unknown strategy "snas"`},
		{"CartPole-v1 --population 0", "--train FILE", "FILE: line 1: "},
		{"CartPole-v1 --param sigma=-1", "--train FILE", "FILE: line 1: "},
		{"CartPole-v1 --until 10m", "--train FILE", `FILE: line 1: --until "10m"`},
		{"CartPole-v1 --until solved", "--train FILE --format 1", "FILE: line 1: a run of format 1 never ends"},
		{"CartPole-v1 --data /etc", "--train FILE", "FILE: line 1: unknown flag --data"},
		{"CartPole-v1 Pendulum-v1", "--train FILE", "FILE: line 1: "},
		{"--seed 4", "--train FILE", "FILE: line 1: missing argument environment"},
		{"CartPole-v1 --format 1\nPendulum-v1", "--train FILE", "FILE: line 1: this run never ends"},
		{"CartPole-v1 --until never\nPendulum-v1", "--train FILE", "FILE: line 1: this run never ends"},
		{"CartPole-v1\nPendulum-v1\ncartpole-v1", "--train FILE", "FILE: line 3: this run is the same as number 1 of the queue"},
		{"", "--train CartPole-v1,CartPole-v1", "this run is the same as number 1 of the queue"},
		{strings.Repeat("x", maxQueueLength), "--train FILE", "FILE is no file of runs: it is too long"},
		{strings.Repeat("#\n", maxQueueLength), "--train FILE", "FILE is no file of runs: it is too long"},
		{strings.Repeat("CartPole-v1\n", maxQueue+1), "--train FILE", "more than 1000 runs"},
		{"\x00\xff\x1b[2J", "--train FILE", "FILE: line 1: unknown environment"},
		{"", "--train nowhere.txt", "open nowhere.txt"},
		{"", "--train /tmp/.txt/x.txt", "open /tmp/.txt/x.txt"},
	} {
		if got, err := readQueue(t, test.text, test.flags); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.40q %s: %v, %v, want %s", test.text, test.flags, got, err, test.want)
		}
	}
}
