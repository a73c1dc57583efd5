//go:build linux

// Command leaves measures what many leaves cost a hub: real libp2p clients over real sockets, at several addresses,
// each a network namespace, so it needs root; the hub has one core for itself. For each transport it prints the hub's
// memory and processor time, what part of the gossip reached the leaves, and how long it took.
//
//	go run ./testnet/bench/leaves -count 1000 -sites 4 -ways WebSocket,WebTransport
//
// Floor 6, programs: nothing imports it.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/evoswarm/evoswarm/internal/mesh"
)

var (
	role    = flag.String("role", "", "what this process is: measure, hub or site; empty: it starts the others in a network of their own")
	count   = flag.Int("count", 1000, "how many leaves")
	sites   = flag.Int("sites", 4, "at how many addresses")
	ways    = flag.String("ways", "WebSocket,WebTransport,QUIC,TCP", "over which transports, one after the other: as internal/mesh names them")
	seconds = flag.Int("seconds", 30, "how long each is measured")
	most    = flag.Int("per-address", mesh.ConnsPerAddress, "how many connections the hub lets one address have")
	to      = flag.String("to", "", "address of the hub")
	at      = flag.String("at", "", "own address")
	run     = flag.String("run", "", "the run")
	first   = flag.Int("first", 1, "number of the first leaf's key")
	probes  = flag.Bool("probes", false, "whether this site's leaves publish probes")
)

const hubAddr = "10.0.0.1"

func main() {
	flag.Parse()
	do := map[string]func() error{"": isolate, "measure": measure, "hub": hub, "site": site}[*role]
	if do == nil {
		fmt.Fprintln(os.Stderr, "leaves: no such role:", *role)
		os.Exit(2)
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "leaves:", *role, err)
		os.Exit(1)
	}
}

// isolate runs the measurement in a network of its own, which ends with it.
func isolate() error {
	cmd, err := self("", append(os.Args[1:], "-role", "measure")...)
	if err != nil {
		return err
	}
	cmd.Stdout = os.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	return cmd.Run()
}

// self is this program on some cores; "": on all.
func self(cores string, args ...string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	line := append([]string{program}, args...)
	if cores != "" {
		line = append([]string{"nice", "-n", "-10", "taskset", "-c", cores}, line...) // others on this computer must not be what is measured
	}
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Stderr = os.Stderr
	return cmd, nil
}

func ip(line string) error {
	if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", line, err, out)
	}
	return nil
}

func measure() error {
	for _, line := range []string{"link set lo up", "link add br0 type bridge", "addr add " + hubAddr + "/8 dev br0", "link set br0 up"} {
		if err := ip(line); err != nil {
			return err
		}
	}
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("%d leaves at %d addresses, %d s each; load before: %s\n", *count, *sites, *seconds, load)
	fmt.Println("| transport | leaves linked | refused | hub's memory before, MB | each leaf, KB | of that in Go's heap, KB | goroutines each | hub's CPU, % of its core | leaves' CPU, % of theirs | entries/s | hub's messages that reached a leaf, % | worst leaf, % | probes that reached a leaf, % | median delay, ms | p99 | leaves that heard nothing | lost |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for i, name := range strings.Split(*ways, ",") {
		if err := row(mesh.Way(name), i); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// row measures one transport, with a hub of its own, and prints its row.
func row(way mesh.Way, n int) (err error) {
	h, err := start[hubState]("0", nil, "-role", "hub", "-per-address", strconv.Itoa(*most))
	if err != nil {
		return err
	}
	defer h.stop()
	time.Sleep(5 * time.Second)
	before := h.now()
	addr := ""
	for _, a := range before.Addrs {
		if mesh.WayOf(a) == way {
			addr = a
		}
	}
	if addr == "" {
		return errors.New("the hub does not listen on it")
	}
	var places []*child[siteState]
	for i := range *sites {
		place := fmt.Sprintf("10.%d.%d.2", 1+n, 1+i)
		s, err := start[siteState]("1", &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}, "-role", "site", "-at", place, "-to", addr, "-run", before.Run,
			"-count", strconv.Itoa(*count / *sites), "-first", strconv.Itoa(1+i**count), "-probes="+strconv.FormatBool(i == 0))
		if err != nil {
			return err
		}
		defer s.stop()
		places = append(places, s)
	}
	linked, refused := 0, make(map[string]int)
	for _, s := range places {
		state, err := s.next(10 * time.Minute)
		if err != nil {
			return err
		}
		linked += state.Linked
		for why, n := range state.Errors {
			refused[why] += n
		}
	}
	time.Sleep(10 * time.Second) // what connecting cost is over
	begun, from := h.now(), time.Now()
	tell(places)
	time.Sleep(time.Duration(*seconds) * time.Second)
	ended, took := h.now(), time.Since(from).Seconds()
	tell(places)
	var said []siteState
	for _, s := range places {
		state, err := s.next(time.Minute)
		if err != nil {
			return err
		}
		said = append(said, state)
	}
	all := summarize(said)
	delays := all.delays
	slices.Sort(delays)
	at := func(q float64) float64 {
		if len(delays) == 0 {
			return 0
		}
		return float64(delays[int(q*float64(len(delays)-1))].Microseconds()) / 1000
	}
	each := func(a, b float64) float64 { return (b - a) / float64(max(linked, 1)) }
	fmt.Printf("| %s | %d | %v | %.0f | %.0f | %.0f | %.1f | %.0f | %.0f | %.1f | %.2f | %.2f | %.2f | %.0f | %.0f | %d | %d |\n", way, linked, refused,
		float64(before.RSS)/1e6, each(float64(before.RSS), float64(ended.RSS))/1e3, each(float64(before.Heap), float64(ended.Heap))/1e3,
		each(float64(before.Goroutines), float64(ended.Goroutines)), 100*(ended.CPU-begun.CPU)/took, 100*all.used/took, float64(ended.Height-begun.Height)/took,
		all.heard, all.worst, share(uint64(len(delays)), uint64(all.sent*(linked-1))), at(0.5), at(0.99), all.deaf, all.lost)
	return nil
}

// summary is what the leaves of all addresses heard.
type summary struct {
	delays       []time.Duration
	heard, worst float64 // % of the hub's messages, without deaf leaves
	deaf, lost   int     // leaves that heard nothing, or are not connected any more
	sent         int     // probes
	used         float64 // seconds of processors
}

// summarize takes for the last message the last one that every address heard: they do not end at the same time.
func summarize(said []siteState) (all summary) {
	end, got, want := uint64(math.MaxUint64), uint64(0), uint64(0)
	for _, state := range said {
		newest := uint64(0)
		for _, one := range state.Heard {
			newest = max(newest, one.Last)
		}
		end = min(end, newest)
	}
	all.worst = 100
	for _, state := range said {
		all.delays = append(all.delays, state.Delays...)
		all.lost += state.Lost
		all.sent += state.Probes
		all.used += state.CPU
		for _, one := range state.Heard {
			if one.N == 0 {
				all.deaf++
				continue
			}
			due := max(end, one.Last) - one.First + 1
			got += one.N
			want += due
			all.worst = min(all.worst, share(one.N, due))
		}
	}
	all.heard = share(got, want)
	return all
}

func share(part, of uint64) float64 { return 100 * float64(part) / float64(max(of, 1)) }

func tell(places []*child[siteState]) {
	for _, s := range places {
		fmt.Fprintln(s.in)
	}
}

// child is a process of the measurement, which says what it is as lines of JSON.
type child[T any] struct {
	cmd  *exec.Cmd
	in   interface{ Write([]byte) (int, error) }
	said chan T

	mu   sync.Mutex
	last T
}

// start starts this program on a core, and gives it a network if it is to have one.
func start[T any](core string, attr *syscall.SysProcAttr, args ...string) (*child[T], error) {
	cmd, err := self(core, args...)
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr = attr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	c := &child[T]{cmd: cmd, in: in, said: make(chan T, 4)}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if attr != nil {
		pid := strconv.Itoa(cmd.Process.Pid)
		if err := errors.Join(ip("link add v"+pid+" type veth peer name eth0 netns "+pid), ip("link set v"+pid+" master br0 up")); err != nil {
			return nil, err
		}
		fmt.Fprintln(in) // it has its network
	}
	go func() {
		defer close(c.said)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var said T
			if json.Unmarshal(lines.Bytes(), &said) != nil {
				continue
			}
			c.mu.Lock()
			c.last = said
			c.mu.Unlock()
			select {
			case c.said <- said:
			default: // only what it is now counts
			}
		}
	}()
	return c, nil
}

func (c *child[T]) now() T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// next waits for what the process says.
func (c *child[T]) next(limit time.Duration) (said T, err error) {
	select {
	case said, ok := <-c.said:
		if !ok {
			return said, errors.New("a process ended early")
		}
		return said, nil
	case <-time.After(limit):
		return said, errors.New("a process does not answer")
	}
}

func (c *child[T]) stop() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// say tells the parent every quarter of a second how things are, until the parent is gone.
func say(now func() hubState) error {
	for range time.Tick(250 * time.Millisecond) {
		if err := answer(now()); err != nil {
			return nil
		}
	}
	return nil
}

func answer(state any) error { return json.NewEncoder(os.Stdout).Encode(state) }

// cpu is the processor time of this process so far, in seconds.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
