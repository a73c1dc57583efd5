package live

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// Rows of the fault matrix (docs/FAULTS.md) that are held by real processes, each in a network namespace of its own.
// They need Linux, iproute2 and nftables, and no rights: a user may have namespaces of its own.

// sandboxed is set where the test runs in its own namespaces.
const sandboxed = "EVOSWARM_SANDBOX"

// sandbox runs the test again in new user, network and mount namespaces, where it may lay cables as it likes. It
// reports whether this is that run.
func sandbox(t *testing.T) bool {
	t.Helper()
	if os.Getenv(sandboxed) != "" {
		return true
	}
	for _, tool := range []string{"unshare", "ip", "nft"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%v: apt-get install util-linux iproute2 nftables", err)
		}
	}
	cmd := exec.Command("unshare", "--map-root-user", "--net", "--mount", os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=15m")
	cmd.Env = append(os.Environ(), sandboxed+"=1", "EVONODE="+evonode(t))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	return false
}

func shell(t *testing.T, format string, args ...any) {
	t.Helper()
	script := fmt.Sprintf(format, args...)
	if out, err := exec.Command("sh", "-ec", script).CombinedOutput(); err != nil {
		t.Fatalf("%s\n%s: %v", script, out, err)
	}
}

// cabled is a swarm of nodes that each have an address on one bridge.
type cabled struct {
	swarm
}

// address of a node; 254 is the test itself.
func address(i int) string { return fmt.Sprintf("10.9.0.%d", i+1) }

// newCabled prepares nodes, of which all but the first join it.
func newCabled(t *testing.T, nodes int) *cabled {
	t.Helper()
	shell(t, `mount -t tmpfs tmpfs /run
		ip link set lo up
		ip link add br0 type bridge
		ip addr add 10.9.0.254/24 dev br0
		ip link set br0 up`)
	s := new(cabled)
	for i := range nodes {
		shell(t, `ip netns add n%[1]d
			ip link add v%[1]d type veth peer name eth0 netns n%[1]d
			ip link set v%[1]d master br0 up
			ip -n n%[1]d addr add %[2]s/24 dev eth0
			ip -n n%[1]d link set eth0 up
			ip -n n%[1]d link set lo up`, i, address(i))
		args := []string{"--bootstrap", "--train", "CartPole-v1"}
		if i > 0 {
			args = []string{"join", s.nodes[0].page}
		}
		n := s.newNode(t, fmt.Sprintf("n%d", i), args...)
		for j, a := range n.args {
			n.args[j] = strings.ReplaceAll(a, "127.0.0.1", address(i))
		}
		n.page = strings.Replace(n.page, "127.0.0.1", address(i), 1)
		n.within = []string{"ip", "netns", "exec", n.name}
	}
	return s
}

// begin starts all nodes and waits until each has evaluations in the log.
func (s *cabled) begin(t *testing.T) {
	t.Helper()
	for _, n := range s.nodes {
		n.start(t)
		s.await(t, n.name+" answers", func() string {
			if _, err := n.status(); err != nil {
				return err.Error()
			}
			return ""
		})
	}
	s.whole(t)
}

// whole waits until all nodes that run are connected with each other and work.
func (s *cabled) whole(t *testing.T) {
	t.Helper()
	running := 0
	for _, n := range s.nodes {
		if n.runs() {
			running++
		}
	}
	s.await(t, "the swarm is whole", func() string {
		return s.each(func(_ *node, st peer.Status) string {
			if st.Connected != running-1 || st.Mine == 0 {
				return fmt.Sprintf("connected to %d, %d own evaluations", st.Connected, st.Mine)
			}
			return ""
		})
	})
}

// rule has a node drop what comes from some addresses, or with some chance.
func (s *cabled) rule(t *testing.T, n *node, match string) {
	t.Helper()
	shell(t, `ip netns exec %[1]s nft 'add table ip faults
		add chain ip faults in { type filter hook input priority 0; }
		add rule ip faults in ip saddr != 10.9.0.254 %[2]s drop'`, n.name, match)
}

// split has nodes of different groups hear nothing of each other.
func (s *cabled) split(t *testing.T, groups ...[]int) {
	t.Helper()
	for g, group := range groups {
		var others []string
		for h, list := range groups {
			for _, i := range list {
				if h != g {
					others = append(others, address(i))
				}
			}
		}
		for _, i := range group {
			s.rule(t, s.nodes[i], "ip saddr { "+strings.Join(others, ", ")+" }")
		}
	}
}

// heal takes all rules away.
func (s *cabled) heal(t *testing.T) {
	t.Helper()
	for _, n := range s.nodes {
		shell(t, "ip netns exec %s nft flush ruleset", n.name)
	}
}

// heights of the nodes, in their order; 0 for one that does not answer.
func (s *cabled) heights() []uint64 {
	list := make([]uint64, len(s.nodes))
	for i, n := range s.nodes {
		if st, err := n.status(); err == nil {
			list[i] = st.Height
		}
	}
	return list
}

// oneChain waits until all running nodes have the same entry at a height, within 30 s, and returns its link.
func (s *cabled) oneChain(t *testing.T, height uint64) (cid string) {
	t.Helper()
	s.awaitFor(t, "one chain", 30*time.Second, func() string {
		cid = ""
		return s.each(func(n *node, _ peer.Status) string {
			list := entries(t, n.seedlog(t)) // maybe of another branch than the status
			if uint64(len(list)) < height {
				return fmt.Sprintf("at height %d", len(list))
			}
			got := list[height-1].CID
			if cid != "" && got != cid {
				return fmt.Sprintf("has %s at height %d, another %s", got, height, cid)
			}
			cid = got
			return ""
		})
	})
	return cid
}

// TestSplitNetwork: rows 8 and 9. Four nodes are split in half, then one is split off. Both sides grow; within 30 s of
// healing there is one chain, and against one alone the three win.
func TestSplitNetwork(t *testing.T) {
	if !sandbox(t) {
		return
	}
	s := newCabled(t, 4)
	s.begin(t)
	s.grown(t, 5)
	for _, groups := range [][][]int{{{0, 1}, {2, 3}}, {{0, 1, 2}, {3}}} {
		t.Run(fmt.Sprintf("%d and %d", len(groups[0]), len(groups[1])), func(t *testing.T) {
			fork := s.heights()
			s.split(t, groups...)
			time.Sleep(*splits)
			apart := s.heights()
			t.Logf("heights %v before, %v after %v apart", fork, apart, *splits)
			for i := range apart {
				if apart[i] < fork[i]+5 {
					t.Errorf("%s grew from height %d to %d", s.nodes[i].name, fork[i], apart[i])
				}
			}
			at := slices.Min(apart) - 1
			big := entries(t, s.nodes[groups[0][0]].seedlog(t))[at-1].CID
			if other := entries(t, s.nodes[groups[1][0]].seedlog(t))[at-1].CID; other == big {
				t.Error("both sides have one chain: they were not apart")
			}
			s.heal(t)
			if got := s.oneChain(t, at); len(groups[1]) == 1 && got != big {
				t.Errorf("three nodes took the chain of one")
			}
			s.whole(t)
			s.grown(t, 5)
		})
	}
}

// TestStoppedLeader: row 4. The leader's process is stopped for 10 s. Another leads within 15 s; the old one yields.
func TestStoppedLeader(t *testing.T) {
	if !sandbox(t) {
		return
	}
	s := newCabled(t, 3)
	s.begin(t)
	s.grown(t, 5)
	old, was := s.leader(t)
	old.cmd.Process.Signal(syscall.SIGSTOP)
	begun := time.Now()
	others := slices.DeleteFunc(slices.Clone(s.nodes), func(n *node) bool { return n == old })
	s.awaitFor(t, "another leads", 15*time.Second, func() string {
		for _, n := range others {
			st, err := n.status()
			if err != nil || st.Leader == "" || st.Leader == was.Self || st.Height <= was.Height {
				return fmt.Sprintf("%s is at height %d and follows %q", n.name, st.Height, st.Leader)
			}
		}
		return ""
	})
	time.Sleep(10*time.Second - time.Since(begun))
	old.cmd.Process.Signal(syscall.SIGCONT)
	s.leader(t)
	s.oneChain(t, s.top())
	s.grown(t, 5)
	if st, err := others[0].status(); err != nil || st.Term > was.Term+8 {
		t.Errorf("term %d, was %d: %v", st.Term, was.Term, err)
	}
}

// TestSoleSurvivor: row 5. All but one of four nodes are killed at once. The survivor appends within 6 s.
func TestSoleSurvivor(t *testing.T) {
	if !sandbox(t) {
		return
	}
	s := newCabled(t, 4)
	s.begin(t)
	s.grown(t, 5)
	leader, _ := s.leader(t)
	survivor := s.nodes[0]
	if survivor == leader {
		survivor = s.nodes[1]
	}
	for _, n := range s.nodes {
		if n != survivor {
			n.cmd.Process.Kill()
		}
	}
	top := s.top()
	s.awaitFor(t, "the survivor appends", 6*time.Second, func() string {
		if st, err := survivor.status(); err != nil || st.Height <= top || !st.Leads {
			return fmt.Sprintf("at height %d, leads: %t", st.Height, st.Leads)
		}
		return ""
	})
	s.grown(t, 10)
}

// TestLostPackets: row 14. Each of three nodes loses 30 % of the packets that reach it. At least half as many entries
// as before. (That packets also take up to 500 ms is in the simulator alone.)
func TestLostPackets(t *testing.T) {
	if !sandbox(t) {
		return
	}
	s := newCabled(t, 3)
	s.begin(t)
	pace := func() uint64 {
		before := slices.Min(s.heights())
		time.Sleep(*splits)
		return slices.Min(s.heights()) - before
	}
	s.grown(t, 20)
	usual := pace()
	for _, n := range s.nodes {
		s.rule(t, n, "numgen random mod 100 < 30")
	}
	lossy := pace()
	s.heal(t)
	t.Logf("%d entries in %v, %d without loss", lossy, *splits, usual)
	if 2*lossy < usual {
		t.Errorf("%d entries with 30 %% loss, %d without; half are promised", lossy, usual)
	}
	s.oneChain(t, s.top())
}

// TestBootstrapUnreachable: row 29. A node whose only address does not answer says which, and what to do. One that
// joined once finds the swarm without it, from the addresses that it remembers.
func TestBootstrapUnreachable(t *testing.T) {
	if !sandbox(t) {
		return
	}
	s := newCabled(t, 3)
	first, third := s.nodes[0], s.nodes[2]
	third.start(t)
	s.await(t, "it says that nobody answers", func() string {
		if third.runs() || !third.said("unreachable") || !third.said(first.page) || !third.said("hint: ") {
			return "says " + tail(third.log, 3)
		}
		return ""
	})
	for _, n := range s.nodes {
		n.start(t)
		s.await(t, n.name+" answers", func() string {
			if _, err := n.status(); err != nil {
				return err.Error()
			}
			return ""
		})
	}
	s.await(t, "all work", func() string {
		return s.each(func(_ *node, st peer.Status) string {
			if st.Connected != 2 || st.Mine == 0 {
				return fmt.Sprintf("connected to %d, %d own evaluations", st.Connected, st.Mine)
			}
			return ""
		})
	})
	third.stop(t)
	first.kill() // the only address that the third was given
	third.start(t)
	s.await(t, "it finds the second", func() string {
		if st, err := third.status(); err != nil || st.Connected != 1 {
			return fmt.Sprintf("connected to %d: %v", st.Connected, err)
		}
		return ""
	})
	s.grown(t, 5)
}
