package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// patience bounds every wait. A wait takes seconds when all is well.
const patience = 60 * time.Second

// pollEvery is the time between two checks of a condition.
const pollEvery = 20 * time.Millisecond

// swarm is everything that one test started. It ends with the test.
type swarm struct {
	nodes []*node
	tab   *tab
}

// node is one evonode process, and what outlives a restart.
type node struct {
	name, data, page, log string // page is a URL; log the file of its output
	args                  []string
	within                []string // command that runs another one where the node lives; empty: here
	cmd                   *exec.Cmd
	exited                chan struct{}
}

// newNode prepares a node with its own ports, which it keeps over restarts. args follow the program's name.
func (s *swarm) newNode(t *testing.T, name string, args ...string) *node {
	t.Helper()
	dir := t.TempDir()
	page, peers, ws := freePort(t), freePort(t), freePort(t)
	n := &node{name: name, data: filepath.Join(dir, "data"), log: filepath.Join(dir, "output"), page: "http://127.0.0.1:" + page}
	n.args = append(args, "--http", "127.0.0.1:"+page, "--listen", "/ip4/127.0.0.1/tcp/"+peers, "--listen", "/ip4/127.0.0.1/tcp/"+ws+"/ws",
		"--no-mdns", "--workers", "1", "--log-level", "info", "--data", n.data)
	switch trains, ends := slices.Contains(args, "--train"), slices.Contains(args, "--until"); {
	case *format1 && trains:
		n.args = append(n.args, "--format", "1")
	case trains && !ends:
		n.args = append(n.args, "--until", "never")
	}
	s.nodes = append(s.nodes, n)
	t.Cleanup(func() { n.kill() })
	return n
}

// serve starts a node and waits until it serves its page.
func (s *swarm) serve(t *testing.T, name string, args ...string) *node {
	t.Helper()
	n := s.newNode(t, name, args...).start(t)
	s.await(t, "the page is served", func() string {
		if _, err := n.fetch(client, "/healthz"); err != nil {
			return err.Error()
		}
		return ""
	})
	return n
}

// Ports of nodes lie below those that Linux gives to outgoing connections and to listeners that ask for any port: a
// port from there, closed until its node starts, may be another program's by then.
const (
	firstPort = 15000
	ports     = 15000
)

// nextPort is counted on from a place of this process, since two runs of the tests may share a computer.
var nextPort atomic.Int64

func init() { nextPort.Store(int64(os.Getpid()) * 97) }

// freePort returns a port of 127.0.0.1 that nobody listens on, another one each time.
func freePort(t *testing.T) string {
	t.Helper()
	for range ports {
		port := strconv.FormatInt(firstPort+nextPort.Add(1)%ports, 10)
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
		if err == nil {
			l.Close()
			return port
		}
	}
	t.Fatalf("no port from %d to %d is free", firstPort, firstPort+ports-1)
	return ""
}

// starts runs functions on one thread that lives as long as the tests, since a child is killed when the thread that
// started it ends.
var starts = make(chan func())

func init() {
	go func() {
		runtime.LockOSThread()
		for f := range starts {
			f()
		}
	}()
}

// start starts or restarts the node.
func (n *node) start(t *testing.T) *node {
	t.Helper()
	out, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	line := append(append(slices.Clone(n.within), evonode(t)), n.args...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	starts <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	n.cmd, n.exited = cmd, make(chan struct{})
	go func(exited chan struct{}) {
		cmd.Wait() // its output says how it ended
		close(exited)
	}(n.exited)
	return n
}

// kill ends the process with SIGKILL, if it runs.
func (n *node) kill() {
	if n.runs() {
		n.cmd.Process.Kill()
		<-n.exited
	}
}

// stop shuts the node down cleanly.
func (n *node) stop(t *testing.T) {
	t.Helper()
	command(t, evonode(t), "stop", "--data", n.data)
	select {
	case <-n.exited:
	case <-time.After(patience):
		t.Fatalf("%s did not end", n.name)
	}
}

func (n *node) runs() bool {
	if n.cmd == nil {
		return false
	}
	select {
	case <-n.exited:
		return false
	default:
		return true
	}
}

// client times out soon, for a node that is being killed; patientClient reads a log of an hour from a busy one.
var (
	client        = &http.Client{Timeout: 5 * time.Second}
	patientClient = &http.Client{Timeout: 2 * time.Minute}
)

// status asks the node over HTTP, as anybody can.
func (n *node) status() (peer.Status, error) {
	var s peer.Status
	data, err := n.fetch(client, "/api/status")
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	return s, err
}

func (n *node) fetch(client *http.Client, path string) ([]byte, error) {
	if !n.runs() {
		return nil, fmt.Errorf("%s does not run", n.name)
	}
	response, err := client.Get(n.page + path)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	}
	return io.ReadAll(response.Body)
}

// seedlog saves the node's current log to a file and returns its name.
func (n *node) seedlog(t *testing.T) string {
	t.Helper()
	data, err := n.fetch(patientClient, "/api/log")
	if err != nil {
		t.Fatalf("the log of %s: %v", n.name, err)
	}
	name := filepath.Join(t.TempDir(), n.name+".seedlog")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// entry is a line of evonode log --json.
type entry struct {
	Height      uint64            `json:"height"`
	CID         string            `json:"cid"`
	Leader      string            `json:"leader"`
	Term        uint64            `json:"term"`
	Evaluations uint64            `json:"evaluations"`
	Peers       map[string]uint64 `json:"peers"`
}

// entries lists the log in a file; entries[h-1] has height h.
func entries(t *testing.T, log string) (list []entry) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(command(t, evonode(t), "log", log, "--json")))
	for {
		var e entry
		err := d.Decode(&e)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
}

// credit adds up the evaluations of each peer.
func credit(list []entry) map[string]uint64 {
	sum := map[string]uint64{}
	for _, e := range list {
		for p, n := range e.Peers {
			sum[p] += n
		}
	}
	return sum
}

// command runs a program to its end and returns what it printed.
func command(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, stderr.Bytes())
	}
	return out
}

// await waits until missing returns "".
func (s *swarm) await(t *testing.T, what string, missing func() string) {
	t.Helper()
	s.awaitFor(t, what, patience, missing)
}

func (s *swarm) awaitFor(t *testing.T, what string, limit time.Duration, missing func() string) {
	t.Helper()
	begun := time.Now()
	for {
		lacks := missing()
		if lacks == "" {
			t.Logf("%s: after %.2f s", what, time.Since(begun).Seconds())
			return
		}
		if time.Since(begun) > limit {
			t.Fatalf("%s\nwaited %v in vain until %s: %s", s.describe(), limit, what, lacks)
		}
		time.Sleep(pollEvery)
	}
}

// describe prints the status of every node.
func (s *swarm) describe() string {
	var b strings.Builder
	for _, n := range s.nodes {
		data, err := n.fetch(client, "/api/status")
		fmt.Fprintf(&b, "== %s: %s %v\n%s\n", n.name, bytes.TrimSpace(data), err, tail(n.log, 15))
	}
	if s.tab != nil {
		fmt.Fprintf(&b, "== tab: %s\n", s.tab.describe())
	}
	return b.String()
}

// said reports whether the node's output has the text.
func (n *node) said(text string) bool {
	output, err := os.ReadFile(n.log)
	return err == nil && bytes.Contains(output, []byte(text))
}

// tail returns the last lines of a file.
func tail(file string, n int) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// each checks every running node, and describes the first that is not ready; "" if all are.
func (s *swarm) each(missing func(n *node, st peer.Status) string) string {
	for _, n := range s.nodes {
		if !n.runs() {
			continue
		}
		st, err := n.status()
		if err != nil {
			return fmt.Sprintf("%s: %v", n.name, err)
		}
		if lacks := missing(n, st); lacks != "" {
			return n.name + ": " + lacks
		}
	}
	return ""
}

// top is the greatest height of any node.
func (s *swarm) top() (height uint64) {
	s.each(func(_ *node, st peer.Status) string {
		height = max(height, st.Height)
		return ""
	})
	return height
}

// grown waits until every running node has that many more generations.
func (s *swarm) grown(t *testing.T, by uint64) {
	t.Helper()
	want := s.top() + by
	s.await(t, fmt.Sprintf("all are at height %d", want), func() string {
		return s.each(func(_ *node, st peer.Status) string {
			if st.Height < want {
				return fmt.Sprintf("at height %d", st.Height)
			}
			return ""
		})
	})
}

// agree waits until all running nodes have the same head.
func (s *swarm) agree(t *testing.T) (head string) {
	t.Helper()
	s.await(t, "all have the same head", func() string {
		head = ""
		return s.each(func(_ *node, st peer.Status) string {
			if head != "" && st.Head != head {
				return fmt.Sprintf("has %s at height %d, another %s", st.Head, st.Height, head)
			}
			head = st.Head
			return ""
		})
	})
	return head
}

// leader waits until all running nodes follow the same leader, one of them, and returns it.
func (s *swarm) leader(t *testing.T) (leader *node, as peer.Status) {
	t.Helper()
	s.await(t, "all follow one leader", func() string {
		leader = nil
		key := ""
		lacks := s.each(func(n *node, st peer.Status) string {
			if st.Leads {
				leader, as = n, st
			}
			if st.Leader == "" || key != "" && st.Leader != key {
				return fmt.Sprintf("follows %q, another %q", st.Leader, key)
			}
			key = st.Leader
			return ""
		})
		switch {
		case lacks != "":
			return lacks
		case leader == nil || as.Self != key:
			return "the leader is no node of the test"
		case as.State == peer.Paused:
			return "the leader is paused"
		}
		return ""
	})
	return leader, as
}
