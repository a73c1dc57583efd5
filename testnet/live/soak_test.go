package live

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

var (
	soakTime  = flag.Duration("live.soak", 40*time.Second, "how long TestSoak runs (make soak: 2h)")
	soakNodes = flag.Int("live.soak.nodes", 4, "how many processes it runs (make soak: 30)")
	soakCheck = flag.Duration("live.soak.check", 10*time.Second, "time between two checks of the invariants (make soak: 5m)")
)

// soakGrowth is how much more memory, in MiB, a process may take after an hour; said of runs of an hour and more, which
// give the garbage collector time to settle.
const soakGrowth = 16

// TestSoak: row 35. Many processes train together for long, and now and then one is killed and started again. At every
// check all have one chain (I1), which extends the one of the last check (I4) and has grown (I5); at the end a replay
// of the whole log evaluates every claim again (I2, I3).
func TestSoak(t *testing.T) {
	var s swarm
	for i := range *soakNodes {
		args := []string{"--bootstrap", "--train", "CartPole-v1"}
		if i > 0 {
			args = []string{"join", s.nodes[0].page}
		}
		n := s.newNode(t, fmt.Sprintf("n%d", i), args...).start(t)
		s.await(t, n.name+" answers", func() string {
			if _, err := n.status(); err != nil {
				return err.Error()
			}
			return ""
		})
	}
	var last []seedlog.Link
	var samples []sample
	begun := time.Now()
	for check := 1; time.Since(begun) < *soakTime; check++ {
		s.churn(t, time.Duration(check)**soakCheck-time.Since(begun))
		chain := s.common(t)
		if len(chain) <= len(last) {
			t.Errorf("%v: the common chain has %d entries, had %d", time.Since(begun), len(chain), len(last))
		}
		for i := range min(len(last), len(chain)) {
			if last[i] != chain[i] {
				t.Fatalf("%v: height %d of the common chain was replaced", time.Since(begun), i+1)
			}
		}
		last = chain
		samples = append(samples, sample{time.Since(begun), s.memory()})
		t.Logf("%v: height %d, memory %v MiB", time.Since(begun).Round(time.Second), len(chain), samples[len(samples)-1].memory)
	}
	log := s.nodes[0].seedlog(t)
	for _, n := range s.nodes {
		n.kill() // the replay has as many evaluations to do as all of them did
	}
	r := parseReplay(t, command(t, evonode(t), "replay", log, "--check", "claims", "--json"))
	if r.Checked == 0 || r.Height < uint64(len(last)) {
		t.Errorf("%d claims up to height %d were evaluated again, the log has %d entries", r.Checked, r.Height, len(last))
	}
	for i := range s.nodes {
		slope := perHour(samples, i)
		t.Logf("%s: %+.1f MiB an hour", s.nodes[i].name, slope)
		if i == 0 && *soakTime >= time.Hour && slope > soakGrowth { // the others are killed now and then
			t.Errorf("%s takes %.1f MiB more after an hour, at most %d are promised", s.nodes[i].name, slope, soakGrowth)
		}
	}
}

// churn lets time pass, and in the middle of it kills a node and starts it again.
func (s *swarm) churn(t *testing.T, during time.Duration) {
	t.Helper()
	time.Sleep(during / 2)
	n := s.nodes[1+rand.IntN(len(s.nodes)-1)]
	n.kill()
	time.Sleep(min(5*time.Second, during/8))
	n.start(t)
	time.Sleep(max(0, during/2-min(5*time.Second, during/8)))
}

// common is the chain of the first node, once it holds the head that each of the others had at some time since: entries
// name their parents, so who has one head has one chain. Without the newest entries, which may be on their way.
func (s *swarm) common(t *testing.T) (chain []seedlog.Link) {
	t.Helper()
	const underWay = 5
	heads := make(map[*node]peer.Status)
	s.awaitFor(t, "one chain", 2*time.Minute, func() string {
		s.each(func(n *node, st peer.Status) string {
			if _, known := heads[n]; !known {
				heads[n] = st
			}
			return ""
		})
		chain = s.nodes[0].chain(t)
		lacks := ""
		for _, n := range s.nodes {
			switch st, known := heads[n]; {
			case !known:
				lacks = n.name + " does not answer"
			case st.Height > 0 && (st.Height > uint64(len(chain)) || chain[st.Height-1].String() != st.Head):
				lacks = fmt.Sprintf("%s: another entry at height %d of %d", n.name, st.Height, len(chain))
				delete(heads, n) // it may have been on its way
			}
		}
		return lacks
	})
	return chain[:max(0, len(chain)-underWay)]
}

// chain lists the entries of a node's log as it lies on disk, without checking more of it than its hashes: a log of
// hours is long, and while it is checked the swarm has a core less.
func (n *node) chain(t *testing.T) (list []seedlog.Link) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(n.data, "*.seedlog"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%s has the logs %v (%v), want one", n.name, names, err)
	}
	file, err := os.Open(names[0])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sections, _, err := seedlog.NewSections(bufio.NewReaderSize(file, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	for {
		block, link, err := sections.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, seedlog.ErrTorn) {
			return list // it is being written
		}
		if err != nil {
			t.Fatalf("the log of %s: %v", n.name, err)
		}
		if _, err := seedlog.DecodeEntry(block); err == nil {
			list = append(list, link)
		}
	}
}

// sample is what every process took at a time, in MiB.
type sample struct {
	at     time.Duration
	memory []int
}

func (s *swarm) memory() (list []int) {
	for _, n := range s.nodes {
		list = append(list, resident(n))
	}
	return list
}

// resident is a process's memory in MiB, as Linux counts it.
func resident(n *node) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmRSS:" {
			kib, _ := strconv.Atoi(fields[1])
			return kib >> 10
		}
	}
	return 0
}

// perHour is the slope of a node's memory by least squares, over the second half of the samples.
func perHour(samples []sample, node int) float64 {
	half := slices.Clone(samples[len(samples)/2:])
	var n, x, y, xx, xy float64
	for _, s := range half {
		hours, mib := s.at.Hours(), float64(s.memory[node])
		n, x, y, xx, xy = n+1, x+hours, y+mib, xx+hours*hours, xy+hours*mib
	}
	if d := n*xx - x*x; d > 0 {
		return (n*xy - x*y) / d
	}
	return 0
}
