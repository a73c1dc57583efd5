package sim

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

func mustNew(t *testing.T, o Options) *Swarm {
	t.Helper()
	if o.DelayMax == 0 {
		o.DelayMin, o.DelayMax = 1, 2
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// announce has a node announce entries of its own for height 1, all different.
func (s *Swarm) announceSome(n *node, entries int, save bool) {
	root := s.library.find(s.rules.Run)
	for i := range entries {
		var claims []*seedlog.Claim
		for chunk := range uint64(2 - i) {
			claims = append(claims, s.rules.Claim(s.rules.Run, n.key, chunk, s.evaluate(s.rules.Task(root.state, s.rules.Run, n.peer, chunk), false)))
		}
		e, _ := s.rules.NewEntry(root.state, root.Parent, 1, n.peer, claims)
		data, link := e.Encode()
		if save {
			n.disk.blocks[link] = data
		}
		s.watchSend(n, &coordinator.Envelope{Message: &coordinator.Announce{Entry: data}})
	}
}

// TestInvariantsNotice breaks each invariant of a step once.
func TestInvariantsNotice(t *testing.T) {
	for want, do := range map[string]func(s *Swarm, n *node){
		"voted for": func(s *Swarm, n *node) {
			for _, other := range s.nodes[1:] {
				s.watchSend(n, &coordinator.Envelope{To: other.peer, Message: &coordinator.VoteReply{Granted: true, Term: 7}})
			}
		},
		"signed two entries": func(s *Swarm, n *node) { s.announceSome(n, 2, true) },
		"before it saved it": func(s *Swarm, n *node) { s.announceSome(n, 1, false) },
		"without a note": func(s *Swarm, n *node) {
			s.online.weights[n.index] = 1 << 60
			s.watch(n, coordinator.Passed{}, &coordinator.Actions{Head: new(coordinator.HeadMove)})
		},
		"in one step": func(s *Swarm, n *node) {
			s.watch(n, coordinator.Passed{}, &coordinator.Actions{Send: make([]coordinator.Envelope, maxSends+1)})
		},
		"cut off the honest": func(s *Swarm, n *node) {
			s.watch(n, coordinator.Passed{}, &coordinator.Actions{Notes: []coordinator.Note{{Kind: coordinator.NoteBan, Peer: s.nodes[1].peer}}})
		},
		"entries, at most": func(s *Swarm, _ *node) {
			s.online.maxTable = 1
			s.now = sampleEvery
			s.sample()
		},
	} {
		s := mustNew(t, Options{Seed: 5, Natives: 3})
		if err := s.run(2); err != nil {
			t.Fatal(err)
		}
		if do(s, s.nodes[0]); s.err == nil || !strings.Contains(s.err.Error(), want) {
			t.Errorf("%q was not noticed: %v", want, s.err)
		}
	}
}

// TestFinalInvariantsNotice breaks each invariant of the whole once, after a calm run.
func TestFinalInvariantsNotice(t *testing.T) {
	for want, do := range map[string]func(s *Swarm, healed []uint64){
		"I1": func(s *Swarm, _ []uint64) {
			for i := range s.nodes[0].disk.chain {
				s.nodes[0].disk.chain[i] = s.rules.Run
			}
		},
		"I2 and I3": func(s *Swarm, _ []uint64) { delete(s.nodes[0].disk.blocks, s.nodes[0].disk.chain[2]) },
		"I4":        func(s *Swarm, _ []uint64) { s.online.acknowledged[seedlog.LinkOf([]byte{1})] = true },
		"I5":        func(_ *Swarm, healed []uint64) { healed[1] = math.MaxUint64 },
	} {
		s := mustNew(t, Options{Seed: 6, Natives: 3})
		if err := s.run(200); err != nil {
			t.Fatal(err)
		}
		healed := make([]uint64, 3)
		if err := s.check(healed); err != nil {
			t.Fatal(err)
		}
		do(s, healed)
		if err := s.check(healed); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s was not noticed: %v", want, err)
		}
	}
	s := mustNew(t, Options{Seed: 6, Natives: 1})
	n := s.nodes[0]
	results := s.evaluate(s.rules.Task(s.rules.Initial(), s.rules.Run, n.peer, 0), false)
	if err := s.checkTrue(s.rules.Claim(s.rules.Run, n.key, 0, results)); err != nil {
		t.Error(err)
	}
	results[1].Steps++
	if err := s.checkTrue(s.rules.Claim(s.rules.Run, n.key, 0, results)); !errors.Is(err, seedlog.ErrFalseClaim) {
		t.Errorf("a claim with a wrong number of steps: %v", err)
	}
}

// TestLinks: hubs keep as many links as they should, tabs three; gossip reaches everybody all the same, and messages
// reach peers that are not linked unless the network is without routes.
func TestLinks(t *testing.T) {
	s := mustNew(t, Options{Seed: 7, Natives: 24, Tabs: 4, Degree: 6})
	for _, n := range s.nodes {
		if want := 6; n.hub() && (len(n.hubs) < want || len(n.hubs) > 3*want) || !n.hub() && len(n.hubs) != leafDegree {
			t.Errorf("node %d has links to %d hubs", n.index, len(n.hubs))
		}
	}
	if err := s.run(60); err != nil {
		t.Fatal(err)
	}
	for _, n := range s.nodes {
		if v := n.coord.Snapshot(); v.Height < 3 {
			t.Errorf("node %d has height %d", n.index, v.Height)
		}
	}
	far := slices.IndexFunc(s.nodes, func(n *node) bool { return n != s.nodes[0] && !s.linked(s.nodes[0], n) })
	for _, linkedOnly := range []bool{false, true} {
		s.opts.LinkedOnly = linkedOnly
		before, _ := s.Got(far, 12)
		s.post(s.nodes[0], coordinator.Envelope{To: s.nodes[far].peer, Message: new(coordinator.Leave)})
		if err := s.Run(20); err != nil {
			t.Fatal(err)
		}
		if after, _ := s.Got(far, 12); (after > before) == linkedOnly {
			t.Errorf("linked only %t: a message to node %d arrived %t", linkedOnly, far, after > before)
		}
	}
}

// TestGossipGoesBothWays: what two peers hear of each other does not keep either from speaking.
func TestGossipGoesBothWays(t *testing.T) {
	s := mustNew(t, Options{Seed: 12, Natives: 2})
	if err := s.Run(60); err != nil {
		t.Fatal(err)
	}
	for i := range s.nodes {
		if statuses, _ := s.Got(i, 1); statuses < 10 {
			t.Errorf("node %d got %d statuses in 60 ticks", i, statuses)
		}
	}
}

// TestSplitHolds: nothing passes between the parts of a partition, links over it end, and come back when it is healed.
func TestSplitHolds(t *testing.T) {
	s := mustNew(t, Options{Seed: 8, Natives: 6})
	if err := s.Run(20); err != nil {
		t.Fatal(err)
	}
	s.Split([]int{0, 1, 2}, []int{3, 4, 5})
	if err := s.Run(10); err != nil { // what was on its way arrives
		t.Fatal(err)
	}
	height := s.nodes[0].coord.Snapshot().Height
	if err := s.Run(200); err != nil {
		t.Fatal(err)
	}
	for i, n := range s.nodes {
		if len(n.hubs) != 2 {
			t.Errorf("node %d keeps %d links", i, len(n.hubs))
		}
	}
	if a, b := s.nodes[0].disk.chain, s.nodes[5].disk.chain; len(a) > int(height)+5 && len(b) > int(height)+5 && a[height+4] == b[height+4] {
		t.Error("both sides have the same new entries")
	}
	if err := s.Settle(600); err != nil { // a branch is audited before it replaces another
		t.Error(err)
	}
	for i, n := range s.nodes {
		if len(n.hubs) != 5 {
			t.Errorf("node %d has %d links again", i, len(n.hubs))
		}
	}
}

// TestPartsMeetAgain: halves of more hubs than each keeps linked find each other after a partition.
func TestPartsMeetAgain(t *testing.T) {
	s := mustNew(t, Options{Seed: 9, Natives: 16, Degree: 4})
	if err := s.Run(100); err != nil {
		t.Fatal(err)
	}
	s.Split(natives(0, 8), natives(8, 16))
	if err := s.Run(20 * second); err != nil {
		t.Fatal(err)
	}
	for i, n := range s.nodes {
		if len(n.hubs) < 4 {
			t.Errorf("node %d has %d links: it would dial the other half anyway", i, len(n.hubs))
		}
	}
	if err := s.Settle(30 * second); err != nil {
		t.Error(err)
	}
}

// TestPowerIsLostInTheMiddle: a node that loses power after any number of actions starts from its disk and takes part
// again. Nothing of a batch that was torn counts.
func TestPowerIsLostInTheMiddle(t *testing.T) {
	for actions := 1; actions <= 12; actions++ {
		s := mustNew(t, Options{Seed: uint64(actions), Natives: 3, Sync: actions % 3})
		if err := s.Run(60); err != nil {
			t.Fatal(err)
		}
		leader := s.Leader()
		s.KillAfter(leader, actions)
		if _, err := s.Until(60, func() bool { return !s.Up(leader) }); err != nil {
			t.Fatalf("after %d actions: %v", actions, err)
		}
		if err := s.Run(60); err != nil {
			t.Fatal(err)
		}
		s.Start(leader)
		if err := s.Settle(200); err != nil {
			t.Errorf("after %d actions: %v", actions, err)
		}
	}
}

// TestDiskFails: a peer whose disk is full neither leads nor appends while it is, and comes back afterwards.
func TestDiskFails(t *testing.T) {
	s := mustNew(t, Options{Seed: 9, Natives: 3})
	if err := s.Run(60); err != nil {
		t.Fatal(err)
	}
	leader := s.Leader()
	s.FailDisk(leader, 150)
	if err := s.Run(100); err != nil {
		t.Fatal(err)
	}
	height := len(s.nodes[leader].disk.chain)
	if other := s.nodes[(leader+1)%3].coord.Snapshot(); other.Leader == s.nodes[leader].peer || int(other.Height) <= height+3 {
		t.Errorf("the others have height %d under %s; the peer that cannot save has %d", other.Height, s.name(other.Leader), height)
	}
	if err := s.Settle(200); err != nil {
		t.Error(err)
	}
}

// TestUrgentFirst: an evaluator does as many evaluations in a tick as it has capacity for, urgent ones first.
func TestUrgentFirst(t *testing.T) {
	s := mustNew(t, Options{Seed: 10, Natives: 1, Rate: 8})
	n := s.nodes[0]
	n.work = evaluator{tasks: make(map[uint64]*task)}
	work := s.rules.Task(s.rules.Initial(), s.rules.Run, n.peer, 0) // 4 evaluations
	for id := range uint64(6) {
		s.evaluateLater(n, coordinator.Work{ID: 1000 + id, Task: work, Urgent: id == 5})
	}
	if got := n.work.urgent; n.work.running.ID != 1000 || len(got) != 1 || len(n.work.ordered) != 4 {
		t.Fatalf("running %d, %d urgent and %d others wait", n.work.running.ID, len(got), len(n.work.ordered))
	}
	s.evaluated(n, n.work.running)
	if n.work.running.ID != 1005 {
		t.Errorf("task %d runs before the urgent one", n.work.running.ID)
	}
	n.cancel(1001)
	s.evaluated(n, n.work.running)
	if n.work.running.ID != 1002 {
		t.Errorf("task %d runs after a canceled one", n.work.running.ID)
	}
}

// TestChecksAreFair: where a node cannot check all that comes, the messages of a flooder wait, and those of others do
// not.
func TestChecksAreFair(t *testing.T) {
	s := mustNew(t, Options{Seed: 11, Natives: 3, Signatures: 10})
	n := s.nodes[0]
	data, _ := s.rules.Claim(s.rules.Run, n.key, 1, s.evaluate(s.rules.Task(s.rules.Initial(), s.rules.Run, n.peer, 1), false)).Encode()
	flood := func(source, messages int) {
		for range messages {
			p, err := s.pack(source, &coordinator.Claims{Blocks: [][]byte{data, data}})
			if err != nil {
				t.Fatal(err)
			}
			p.from = s.nodes[1].peer
			s.take(n, p)
		}
	}
	flood(-1, 2*maxChecks)
	flood(1, 3)
	waiting := func(source int) int {
		for _, q := range n.checks.sources {
			if q.source == source {
				return len(q.mails)
			}
		}
		return 0
	}
	if n.checks.waiting > maxChecks+3 || waiting(1) != 3 {
		t.Fatalf("%d messages wait, %d of the honest peer", n.checks.waiting, waiting(1))
	}
	if err := s.run(4); err != nil {
		t.Fatal(err)
	}
	if waiting(1) != 0 || waiting(-1) < maxChecks/2 {
		t.Errorf("after 4 ticks %d messages of the flooder wait and %d of the honest peer", waiting(-1), waiting(1))
	}
}

// TestSameSeedSameRun: a run is a function of its options.
func TestSameSeedSameRun(t *testing.T) {
	for seed := range uint64(3) {
		o := Draw(seed)
		o.Ticks, o.Stranger, o.Natives, o.Tabs = 200, 10, min(o.Natives, 8), 2
		a, _ := Run(o)
		b, _ := Run(o)
		if a != b {
			t.Errorf("seed %d: %+v and %+v", seed, a, b)
		}
	}
}
