package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/httpd"
)

// commands are the verbs that the scripts have in addition to testscript's own.
func commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"status": status, "cut": cut, "flip": flip, "append": appendFiles, "random": random, "newer": newer, "occupy": occupy, "waitfor": waitFor,
		"mode": mode, "glob": glob, "field": field, "grown": grown, "announced": announced, "contributed": contributed, "reached": reached, "twice": twice,
		"frombase": fromBase, "shared": shared, "active": active,
	}
}

// status N COMMAND... runs a command that must end with exit status N.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// number reads a number that may be negative: then it counts from the end of something that is size long.
func number(ts *testscript.TestScript, text string, size int) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	if n < 0 {
		n += size
	}
	if n < 0 || n > size {
		ts.Fatalf("%s of %d bytes", text, size)
	}
	return n
}

// read returns a file of the script.
func read(ts *testscript.TestScript, name string) []byte {
	data, err := os.ReadFile(ts.MkAbs(name))
	ts.Check(err)
	return data
}

// write makes a file of the script.
func write(ts *testscript.TestScript, name string, data []byte) {
	ts.Check(os.WriteFile(ts.MkAbs(name), data, 0o644))
}

// need checks the number of arguments.
func need(ts *testscript.TestScript, neg bool, args []string, n int, usage string) {
	if neg || len(args) != n {
		ts.Fatalf("usage: %s", usage)
	}
}

// cut FROM TO N keeps the first N bytes, or all but the last -N.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "cut from to n")
	data := read(ts, args[0])
	write(ts, args[1], data[:number(ts, args[2], len(data))])
}

// flip FROM TO N flips the lowest bit of byte N.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "flip from to n")
	data := read(ts, args[0])
	data[number(ts, args[2], len(data)-1)] ^= 1
	write(ts, args[1], data)
}

// append A B TO writes A and B after each other.
func appendFiles(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "append a b to")
	write(ts, args[2], append(read(ts, args[0]), read(ts, args[1])...))
}

// random N TO writes N bytes that mean nothing, the same ones each time.
func random(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "random n to")
	data := make([]byte, number(ts, args[0], 1<<30))
	_, err := rand.NewChaCha8([32]byte{}).Read(data)
	ts.Check(err)
	write(ts, args[1], data)
}

// newer FROM TO makes the log one of format 2, whole otherwise.
func newer(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "newer from to")
	scanner, err := seedlog.NewScanner(bytes.NewReader(read(ts, args[0])))
	ts.Check(err)
	spec := *scanner.Rules().Spec
	spec.Format = seedlog.Format2 + 1
	genesis := seedlog.Encode(&spec)
	log, _ := seedlog.AppendSection(seedlog.AppendHeader(nil, seedlog.LinkOf(genesis)), genesis)
	write(ts, args[1], log)
}

// occupy VAR takes a free TCP port of 127.0.0.1 for as long as the script runs, and puts its number into VAR.
func occupy(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "occupy var")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Setenv(args[0], port)
}

// waitPatience bounds waitfor.
const waitPatience = 30 * time.Second

// waitfor TEXT COMMAND... runs the command again and again until its output contains TEXT.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: waitfor text command args...")
	}
	deadline := time.Now().Add(waitPatience)
	for time.Now().Before(deadline) {
		if err := ts.Exec(args[1], args[2:]...); err == nil && strings.Contains(ts.ReadFile("stdout"), args[0]) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	ts.Fatalf("%q did not come within %v", args[0], waitPatience)
}

// mode FILE OCTAL checks a file's permissions.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "mode file octal")
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := strconv.FormatUint(uint64(info.Mode().Perm()), 8); got != args[1] {
		ts.Fatalf("%s has mode %s, want %s", args[0], got, args[1])
	}
}

// glob PATTERN VAR puts the one file that matches into VAR.
func glob(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "glob pattern var")
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%s matches %q, want one file", args[0], found)
	}
	ts.Setenv(args[1], found[0])
}

// jsonField returns the value of a name in the standard output of the last command, which is one line of JSON.
func jsonField(ts *testscript.TestScript, name string) string {
	m := regexp.MustCompile(`"` + name + `":"?([^",}]*)`).FindStringSubmatch(ts.ReadFile("stdout"))
	if m == nil {
		ts.Fatalf("no %s in the output", name)
	}
	return m[1]
}

// field NAME VAR puts a field of the last command's JSON into VAR.
func field(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "field name var")
	ts.Setenv(args[1], jsonField(ts, args[0]))
}

// grown NAME N checks that a field of the last command's JSON is more than N.
func grown(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "grown name n")
	got, err := strconv.Atoi(jsonField(ts, args[0]))
	ts.Check(err)
	was, err := strconv.Atoi(args[1])
	ts.Check(err)
	if got <= was {
		ts.Fatalf("%s is %d, want more than %d", args[0], got, was)
	}
}

// announced DIR PAGE RUN asks the node on a data folder for its run and finds its page, for as long as it runs.
func announced(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "announced dir pagevar runvar")
	ts.Check(ts.Exec("evonode", "status", "--data", args[0], "--json"))
	ts.Setenv(args[1], jsonField(ts, "page"))
	ts.Setenv(args[2], jsonField(ts, "run"))
}

// contributed DIR waits until the log holds evaluations of the node on a data folder.
func contributed(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "contributed dir")
	for deadline := time.Now().Add(waitPatience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		ts.Check(ts.Exec("evonode", "status", "--data", args[0], "--json"))
		if jsonField(ts, "mine") != "0" {
			return
		}
	}
	ts.Fatalf("no evaluation of %s within %v", args[0], waitPatience)
}

// reached DIR N MORE waits until the node on a data folder is MORE generations beyond height N.
func reached(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "reached dir n more")
	from, err := strconv.Atoi(args[1])
	ts.Check(err)
	more, err := strconv.Atoi(args[2])
	ts.Check(err)
	for deadline := time.Now().Add(waitPatience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if ts.Exec("evonode", "status", "--data", args[0], "--json") != nil {
			continue // it is not up yet
		}
		if height, err := strconv.Atoi(jsonField(ts, "height")); err == nil && height >= from+more {
			return
		}
	}
	ts.Fatalf("%s is not at height %s + %s within %v", args[0], args[1], args[2], waitPatience)
}

// statusOf asks the node on a data folder what it does.
func statusOf(ts *testscript.TestScript, dir string) (s httpd.Status) {
	if ts.Exec("evonode", "status", "--data", dir, "--json") == nil {
		ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &s))
	}
	return s
}

// shared DIR N waits until the node on a data folder has N evaluations in the log of each of its runs, and checks
// that none has got far more of the computer than another.
func shared(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "shared dir n")
	n, err := strconv.ParseUint(args[1], 10, 64)
	ts.Check(err)
	var mine []uint64
	for deadline := time.Now().Add(waitPatience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		mine = nil
		for _, run := range statusOf(ts, args[0]).Active {
			mine = append(mine, run.Mine)
		}
		if len(mine) < 2 || slices.Min(mine) < n {
			continue
		}
		if most, least := slices.Max(mine), slices.Min(mine); 2*most > 3*least {
			ts.Fatalf("the runs of %s have %d evaluations of this node", args[0], mine)
		}
		return
	}
	ts.Fatalf("the runs of %s have %d evaluations of this node after %v, want %d each", args[0], mine, waitPatience, n)
}

// active DIR N VAR puts the Nth of the runs of a node into VAR, counted from 1.
func active(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "active dir n var")
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	all := statusOf(ts, args[0]).Active
	if n < 1 || n > len(all) {
		ts.Fatalf("%s has %d runs", args[0], len(all))
	}
	ts.Setenv(args[2], all[n-1].Run)
}

// frombase LOG BELOW AT makes a log one whose node dropped the entries up to a height, with the state of another
// above.
func fromBase(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "frombase log below at")
	log, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	replay := func(height string) *seedlog.Replayed {
		at, err := strconv.ParseUint(height, 10, 64)
		ts.Check(err)
		r, err := seedlog.Replay(bytes.NewReader(log), seedlog.ReplayOptions{At: at, HasAt: true})
		ts.Check(err)
		return r
	}
	low, high := replay(args[1]), replay(args[2])
	state, err := high.State.MarshalBinary()
	ts.Check(err)
	p := low.Parent
	base := seedlog.Base{Link: p.Link, Height: p.Height, Term: p.Term, Evaluations: p.Evaluations, Steps: p.Steps, Solved: p.Solved, Duration: p.Duration,
		At: high.Height, Len: uint64(len(state))}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(seedlog.AppendBase(low.Rules.AppendBeginning(nil), &base, state), log[low.End:]...), 0o600))
}

// twice interrupts the background command twice at once, though it may have ended by the second time.
func twice(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 0, "twice")
	commands := ts.BackgroundCmds()
	if len(commands) != 1 {
		ts.Fatalf("%d background commands, not one", len(commands))
	}
	process := commands[0].Process
	ts.Check(process.Signal(os.Interrupt))
	if err := process.Signal(os.Interrupt); !errors.Is(err, os.ErrProcessDone) {
		ts.Check(err)
	}
}
