//go:build linux

// Command flood measures what a stranger costs a hub: one address with 256 keys that sends all that it can, over real
// sockets. A hub leads a run of two honest leaves that work at a known pace; each is a process in a namespace with an
// address of its own (testnet/wire), so it needs root.
//
// Floor 6, programs: nothing imports it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/evoswarm/evoswarm/testnet/wire"
)

var (
	role    = flag.String("role", "", "what this process is: hub, honest or stranger; empty: it starts the others")
	number  = flag.Int("number", 1, "of this process: the first byte of its key")
	to      = flag.String("to", "", "address of the hub")
	at      = flag.String("at", "", "own address")
	seconds = flag.Int("seconds", 20, "how long each phase lasts")
	keys    = flag.Int("keys", 256, "the stranger's keys, each with a connection")
	kinds   = flag.String("kinds", "gossip,direct,claims,hello,parcels,all", "what the stranger sends, a phase each")
	profile = flag.String("profile", "", "file for a profile of the hub's processor time")
	kind    = flag.String("kind", "", "what this stranger sends")
)

func main() {
	flag.Parse()
	run := map[string]func() error{"": measure, "hub": hub, "honest": honest, "stranger": stranger}[*role]
	if run == nil {
		fmt.Fprintln(os.Stderr, "flood: no such role:", *role)
		os.Exit(2)
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "flood:", *role, err)
		os.Exit(1)
	}
}

// sample is what a process says of itself, as a line of JSON.
type sample struct {
	CPU      float64 // seconds used so far
	Height   uint64
	Mine     uint64 // own evaluations in the log
	Computed uint64 // own evaluations computed
	Sent     uint64 // messages
	Lost     int    // connections that the hub closed
}

// child is a process of the measurement.
type child struct {
	cmd  *exec.Cmd
	mu   sync.Mutex
	last sample
}

// startChild starts this program as nice as that. All share one computer: what the stranger takes of its processors, or
// other programs do, must not be what costs the hub its claims.
func startChild(s *wire.Site, nice string, args ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: s.Command("nice", append([]string{"-n", nice, self, "-at", s.Addr.String()}, args...)...)}
	c.cmd.Stderr = os.Stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var s sample
			if json.Unmarshal(lines.Bytes(), &s) == nil {
				c.mu.Lock()
				c.last = s
				c.mu.Unlock()
			}
		}
	}()
	return c, nil
}

func (c *child) sample() sample {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

func (c *child) stop() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// report tells the parent every quarter of a second how things are, until the process ends.
func report(now func() sample) {
	out := json.NewEncoder(os.Stdout)
	for range time.Tick(250 * time.Millisecond) {
		s := now()
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err == nil {
			s.CPU = time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
		}
		if out.Encode(s) != nil {
			os.Exit(0)
		}
	}
}

// Addresses of the computers, in blocks of their own.
var (
	hubAddr      = netip.MustParseAddr("203.0.113.1")
	honestAddrs  = []netip.Addr{netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("100.64.7.2")}
	strangerAddr = netip.MustParseAddr("198.51.100.66")
)

// measure runs all phases and prints a table.
func measure() (err error) {
	net := wire.New()
	defer func() { err = errors.Join(err, net.Close()) }()
	site, err := net.Add(hubAddr)
	if err != nil {
		return err
	}
	h, err := startChild(site, "-10", "-role", "hub", "-number", "1", "-profile", *profile, "-seconds", strconv.Itoa(15+2**seconds))
	if err != nil {
		return err
	}
	defer h.stop()
	hubAt := fmt.Sprintf("/ip4/%s/tcp/4001/p2p/%s", hubAddr, idOf(1))
	var workers []*child
	for i, addr := range honestAddrs {
		site, err := net.Add(addr)
		if err != nil {
			return err
		}
		w, err := startChild(site, "-10", "-role", "honest", "-number", strconv.Itoa(2+i), "-to", hubAt)
		if err != nil {
			return err
		}
		defer w.stop()
		workers = append(workers, w)
	}
	for begun := time.Now(); workers[0].sample().Mine == 0 || workers[1].sample().Mine == 0; time.Sleep(100 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			return errors.New("the honest peers get nothing into the log")
		}
	}
	time.Sleep(5 * time.Second)
	far, err := net.Add(strangerAddr)
	if err != nil {
		return err
	}
	fmt.Printf("%d keys of one address, %d s each, %d cores\n\n", *keys, *seconds, runtime.NumCPU())
	fmt.Println("| the stranger sends | hub's CPU, % of its cores | honest claims in the log, % of computed | lost against calm, % | generations/s | stranger's messages/s | its connections closed |")
	fmt.Println("|---|---|---|---|---|---|---|")
	calm := phase("nothing", h, workers, nil, 0)
	for i, kind := range strings.Split(*kinds, ",") { // with new keys each time: some were banned
		s, err := startChild(far, "10", "-role", "stranger", "-number", strconv.Itoa(1000*(i+1)), "-to", hubAt, "-kind", kind, "-keys", strconv.Itoa(*keys))
		if err != nil {
			return err
		}
		for begun := time.Now(); s.sample().Sent == 0; time.Sleep(100 * time.Millisecond) { // it connects
			if time.Since(begun) > 2*time.Minute {
				return errors.New("the stranger cannot connect")
			}
		}
		time.Sleep(5 * time.Second) // bursts are spent
		phase(kind, h, workers, s, calm)
		s.stop()
		time.Sleep(3 * time.Second)
	}
	phase("nothing again", h, workers, nil, calm)
	return nil
}

// phase measures for some time and prints a row; it returns the share of claims that got into the log.
func phase(name string, h *child, workers []*child, s *child, calm float64) float64 {
	total := func() (t sample) {
		for _, w := range workers {
			t.Mine += w.sample().Mine
			t.Computed += w.sample().Computed
		}
		return t
	}
	hub0, work0, begun := h.sample(), total(), time.Now()
	var sent0 uint64
	if s != nil {
		sent0 = s.sample().Sent
	}
	time.Sleep(time.Duration(*seconds) * time.Second)
	hub1, work1, took := h.sample(), total(), time.Since(begun).Seconds()
	share := float64(work1.Mine-work0.Mine) / max(1, float64(work1.Computed-work0.Computed))
	lost, sent, closed := 0.0, uint64(0), 0
	if calm > 0 {
		lost = 100 * (1 - share/calm)
	}
	if s != nil {
		sent, closed = s.sample().Sent-sent0, s.sample().Lost
	}
	fmt.Printf("| %s | %.1f | %.1f | %.1f | %.2f | %.0f | %d |\n", name, 100*(hub1.CPU-hub0.CPU)/took/float64(runtime.NumCPU()), 100*share, lost,
		float64(hub1.Height-hub0.Height)/took, float64(sent)/took, closed)
	return share
}

// forever is until the parent kills this process.
func forever() context.Context { return context.Background() }
