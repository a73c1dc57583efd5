package sim

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// The rows of the fault matrix (docs/FAULTS.md) that a swarm in virtual time can hold, each with the number that it
// promises. A tick is 50 ms.
const (
	second coordinator.Tick = 20
	minute                  = 60 * second
)

// forever is a mandate that no leader reaches the end of: each change of term then has another cause.
const forever = 1 << 30

// scene is a swarm that does what a test says. A broken invariant ends the test.
type scene struct {
	*Swarm
	t *testing.T
}

func newScene(t *testing.T, o Options) *scene {
	t.Helper()
	if o.DelayMax == 0 {
		o.DelayMin, o.DelayMax = 1, 2
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &scene{s, t}
}

// inFormats plays a scenario of format 2 and one of format 1.
func inFormats(t *testing.T, row func(t *testing.T, format2 bool)) {
	t.Run("format 2", func(t *testing.T) { row(t, true) })
	t.Run("format 1", func(t *testing.T) { row(t, false) })
}

// natives lists the natives from first up to but not last.
func natives(first, last int) (list []int) {
	for i := first; i < last; i++ {
		list = append(list, i)
	}
	return list
}

func (s *scene) pass(ticks coordinator.Tick) {
	s.t.Helper()
	if err := s.Run(ticks); err != nil {
		s.t.Fatal(err)
	}
}

// await lets time pass until done, which must be within so many ticks, and returns how many it took.
func (s *scene) await(what string, ticks coordinator.Tick, done func() bool) coordinator.Tick {
	s.t.Helper()
	took, err := s.Until(ticks, done)
	if err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
	return took
}

// settle heals everything and holds the invariants against the swarm after a time of calm; the time of two leaders'
// deaths is enough.
func (s *scene) settle() {
	s.t.Helper()
	if err := s.Settle(30 * second); err != nil {
		s.t.Fatal(err)
	}
	if s.Report.Recovered > 30*second {
		s.t.Errorf("not all grew within 30 s of healing")
	}
}

// leads waits for a leader and returns it.
func (s *scene) leads() int {
	s.t.Helper()
	s.await("somebody leads", minute, func() bool { return s.Leader() >= 0 })
	return s.Leader()
}

// others lists the natives but for some.
func (s *scene) others(but ...int) (list []int) {
	for _, n := range s.nodes {
		if n.hub() && !slices.Contains(but, n.index) {
			list = append(list, n.index)
		}
	}
	return list
}

// heightOf is a peer's height.
func (s *scene) heightOf(peer int) uint64 { return s.Snapshot(peer).Height }

// worksAt is the height of the entry that a peer works on: of a light one, that of a hub's state.
func (s *scene) worksAt(peer int) uint64 {
	if v := s.Snapshot(peer); v.Light {
		return v.Ahead
	}
	return s.heightOf(peer)
}

// chain is what a peer's disk holds.
func (s *scene) chain(peer int) []seedlog.Link { return s.nodes[peer].disk.chain }

// entry reads an entry of a peer's chain.
func (s *scene) entry(peer int, height uint64) *seedlog.Entry {
	s.t.Helper()
	n := s.nodes[peer]
	e, err := seedlog.ReadEntry(n.disk.blocks[n.disk.chain[height-1]], n.disk.Block)
	if err != nil {
		s.t.Fatal(err)
	}
	return e
}

// beyond counts the entries of a peer's chain that are not in another peer's.
func (s *scene) beyond(peer, other int) int {
	mine, theirs := s.chain(peer), s.chain(other)
	same := 0
	for same < min(len(mine), len(theirs)) && mine[same] == theirs[same] {
		same++
	}
	return len(mine) - same
}

// authors lists the peers with claims in an entry.
func (s *scene) authors(peer int, e *seedlog.Entry) (authors []coordinator.Peer) {
	for _, link := range e.Claims {
		if c, err := seedlog.DecodeClaim(s.nodes[peer].disk.blocks[link]); err == nil && !slices.Contains(authors, c.Peer) {
			authors = append(authors, c.Peer)
		}
	}
	return authors
}

// terms is the latest term that a native names.
func (s *scene) terms() (term uint64) {
	for _, n := range s.nodes {
		if n.coord != nil && n.hub() {
			term = max(term, n.coord.Snapshot().Term)
		}
	}
	return term
}

// speed is how many entries all honest natives get in so many ticks.
func (s *scene) speed(ticks coordinator.Tick) uint64 {
	s.t.Helper()
	before := s.Lowest()
	s.pass(ticks)
	return s.Lowest() - before
}

// killLeaders kills the leader twenty times, one after the other, and returns how long the next entry took, sorted. At
// most one entry of a dead leader may be lost.
func (s *scene) killLeaders(patience coordinator.Tick) (took []coordinator.Tick) {
	s.t.Helper()
	for range 20 {
		dead := s.leads()
		top := s.Highest()
		s.Kill(dead)
		took = append(took, s.await("the next entry", patience, func() bool { return s.Highest() > top }))
		s.pass(second)
		if lost := s.beyond(dead, s.others(dead)[0]); lost > 1 {
			s.t.Errorf("%d entries of the dead leader were lost", lost)
		}
		s.Start(dead)
		s.pass(5 * second)
	}
	slices.Sort(took)
	s.t.Logf("20 kills: next entry after %d ticks median, %d worst (of 50 ms)", took[10], took[19])
	return took
}

// Row 1: the leader is killed in the middle of a generation, twenty times. A new one appends within 15 s (2 s in this
// profile), on the old leader's last entry or the one before, and the claims made meanwhile count.
func TestLeaderKilled(t *testing.T) { inFormats(t, leaderKilled) }

func leaderKilled(t *testing.T, format2 bool) {
	s := newScene(t, Options{Seed: 1, Format2: format2, Natives: 5})
	s.pass(10 * second)
	took := s.killLeaders(15 * second)
	if took[19] > 2*second {
		t.Errorf("took %d ticks, at most %d are promised", took[19], 2*second)
	}
	s.settle()
}

// failover kills the leader and returns how long it takes until a peer follows another one's entry of a later term. The
// dead leader is back 5 s before it returns.
func (s *scene) failover() coordinator.Tick {
	s.t.Helper()
	dead := s.leads()
	term := s.Snapshot(dead).Term
	s.Kill(dead)
	took := s.await("the next leader's entry is followed", minute, func() bool {
		return slices.ContainsFunc(s.others(dead), func(i int) bool {
			e := s.entry(i, s.heightOf(i))
			return e.Term > term && e.Leader != s.nodes[i].peer
		})
	})
	s.pass(second)
	s.Start(dead)
	s.pass(5 * second)
	return took
}

// failovers kills the leaders of swarms of several seeds, each so many times, and holds that the worst does not take
// longer than a profile promises.
func failovers(t *testing.T, o Options, seeds uint64, kills int, promised coordinator.Tick) {
	var took []coordinator.Tick
	var mu sync.Mutex
	t.Run("kills", func(t *testing.T) {
		for seed := range seeds {
			t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
				t.Parallel()
				o := o
				o.Seed = 100 + seed
				s := newScene(t, o)
				s.pass(20 * second)
				for range kills {
					ticks := s.failover()
					mu.Lock()
					took = append(took, ticks)
					mu.Unlock()
				}
			})
		}
	})
	if t.Failed() {
		return
	}
	slices.Sort(took)
	median, worst := took[len(took)/2], took[len(took)-1]
	t.Logf("%d hubs of %d links, %d kills: next entry followed after %d ticks median, %d worst (of 50 ms)", o.Natives, o.Degree, len(took), median, worst)
	if worst > promised {
		t.Errorf("took %d ticks, at most %d are promised", worst, promised)
	}
}

// Row 1, where most peers are not linked with each other: votes pass over other hubs.
func TestSparseFailover(t *testing.T) { inFormats(t, sparseFailover) }

func sparseFailover(t *testing.T, format2 bool) {
	seeds, kills := uint64(5), 4
	if testing.Short() || !format2 {
		seeds, kills = 2, 3
	}
	t.Run("LAN", func(t *testing.T) {
		failovers(t, Options{Format2: format2, Natives: 24, Degree: 12}, seeds, kills, 2*second)
	})
	t.Run("WAN", func(t *testing.T) {
		failovers(t, Options{Format2: format2, Natives: 24, Degree: 12, WAN: true}, seeds, kills, 15*second)
	})
}

// Row 1 in the largest swarm.
func TestCrowdFailover(t *testing.T) { inFormats(t, crowdFailover) }

func crowdFailover(t *testing.T, format2 bool) {
	if *seeds < night {
		t.Skip("200 hubs take minutes of two cores: they are part of make night")
	}
	promised := 2 * second
	if format2 {
		promised = 3 * second // a generation of so many that just met lasts up to 2.4 s
	}
	t.Run("LAN", func(t *testing.T) {
		failovers(t, Options{Format2: format2, Natives: 200, Degree: 32}, 2, 5, promised)
	})
	t.Run("WAN", func(t *testing.T) {
		failovers(t, Options{Format2: format2, Natives: 200, Degree: 32, WAN: true}, 2, 5, 15*second)
	})
}

// Row 2: the leader loses power at each of the actions around an append, also in the middle of a save. Its entry comes
// back or is dropped; no place is signed twice (held while the swarm runs).
func TestLeaderKilledWhileAppending(t *testing.T) { inFormats(t, leaderKilledWhileAppending) }

func leaderKilledWhileAppending(t *testing.T, format2 bool) {
	for actions := 1; actions <= 12; actions++ {
		t.Run(fmt.Sprintf("after %d actions", actions), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, Options{Seed: 20 + uint64(actions), Format2: format2, Natives: 3, Sync: 2})
			s.pass(5 * second)
			dead := s.leads()
			s.KillAfter(dead, actions)
			s.await("the leader dies", 10*second, func() bool { return !s.Up(dead) })
			s.pass(second)
			s.Start(dead)
			s.pass(5 * second)
			s.settle()
		})
	}
}

// Row 3: the leader reaches one peer alone, and dies. What that peer holds wins or is replaced, for all alike.
func TestLeaderReachesOne(t *testing.T) { inFormats(t, leaderReachesOne) }

func leaderReachesOne(t *testing.T, format2 bool) {
	for seed := range uint64(5) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, Options{Seed: 30 + seed, Format2: format2, Natives: 5})
			s.pass(5 * second)
			dead := s.leads()
			rest := s.others(dead)
			s.Cut([]int{dead}, rest[1:])
			s.pass(10)
			s.Kill(dead)
			s.Heal()
			s.await("the others continue", 15*second, func() bool {
				return s.Lowest() > s.Highest()-min(s.Highest(), 3) && s.Leader() >= 0
			})
			s.settle()
		})
	}
}

// Row 4: the leader is stopped for 10 s. Another leads within 15 s; the old one yields, with one fork at most.
func TestLeaderPaused(t *testing.T) { inFormats(t, leaderPaused) }

func leaderPaused(t *testing.T, format2 bool) {
	s := newScene(t, Options{Seed: 4, Format2: format2, Natives: 5, Mandate: forever})
	s.pass(10 * second)
	old := s.leads()
	top, term, reorgs := s.Highest(), s.terms(), s.Report.Reorgs
	s.Stop(old, 10*second)
	took := s.await("another leads and appends", 15*second, func() bool { return s.Leader() >= 0 && s.Leader() != old && s.Lowest() >= top && s.Highest() > top+1 })
	s.pass(15 * second)
	if s.Snapshot(old).Role == coordinator.Leader {
		t.Error("the old leader still leads")
	}
	t.Logf("another appended after %d ticks; %d terms, %d reorganizations", took, s.terms()-term, s.Report.Reorgs-reorgs)
	if s.Report.Reorgs-reorgs > 1 {
		t.Errorf("%d reorganizations, at most one is promised", s.Report.Reorgs-reorgs)
	}
	s.settle()
}

// Row 5: all natives but one are killed at once. The survivor appends within the time after which peers count as gone
// and 5 s.
func TestAllButOneKilled(t *testing.T) { inFormats(t, allButOneKilled) }

func allButOneKilled(t *testing.T, format2 bool) {
	for survivor := range 5 {
		s := newScene(t, Options{Seed: 50 + uint64(survivor), Format2: format2, Natives: 5})
		s.pass(10 * second)
		s.Kill(s.others(survivor)...)
		top := s.heightOf(survivor)
		took := s.await("the survivor appends", coordinator.LAN().Unheard+5*second, func() bool { return s.heightOf(survivor) > top })
		s.await("and again", 10*second, func() bool { return s.heightOf(survivor) > top+10 })
		t.Logf("survivor %d appended after %d ticks", survivor, took)
	}
}

// Row 6: all natives are killed, tabs remain. The last tab keeps the log and appends.
func TestTabsRemain(t *testing.T) { inFormats(t, tabsRemain) }

func tabsRemain(t *testing.T, format2 bool) {
	s := newScene(t, Options{Seed: 6, Format2: format2, Natives: 2, Tabs: 1})
	s.pass(20 * second)
	tab := 2
	s.Kill(0, 1)
	top, log := s.heightOf(tab), slices.Clone(s.chain(tab))
	took := s.await("the tab appends", minute, func() bool { return s.heightOf(tab) > top })
	s.await("and again", minute, func() bool { return s.heightOf(tab) > top+10 })
	t.Logf("the tab appended after %d ticks, at height %d", took, top)
	if !slices.Equal(s.chain(tab)[:len(log)], log) {
		t.Error("the tab's log lost entries")
	}
	s.settle()
}

// Row 6, and several tabs remain: they are connected to each other, elect, log the work of all and agree. The last of
// them keeps the log, and a native that comes back with nothing takes it from there.
func TestTabsTogether(t *testing.T) { inFormats(t, tabsTogether) }

func tabsTogether(t *testing.T, format2 bool) {
	for seed := range uint64(3) {
		s := newScene(t, Options{Seed: 0x61 + seed, Format2: format2, Natives: 2, Tabs: 5 + 4*int(seed), TabLinks: 2})
		s.pass(20 * second)
		tabs := tabsOf(s)
		s.Kill(0, 1)
		top := s.heightOf(tabs[0])
		all := func(above uint64) func() bool {
			return func() bool {
				return !slices.ContainsFunc(tabs, func(i int) bool { return s.heightOf(i) <= above })
			}
		}
		took := s.await("the tabs append", minute, all(top+1))
		s.await("all of them have much more", 2*minute, all(top+50))
		by, next := map[coordinator.Peer]bool{}, top+10
		s.await("the log has work of each", 2*minute, func() bool {
			for ; next <= uint64(len(s.chain(tabs[0]))); next++ {
				for _, link := range s.entry(tabs[0], next).Claims {
					claim, err := seedlog.DecodeClaim(s.nodes[tabs[0]].disk.blocks[link])
					if err != nil {
						t.Fatal(err)
					}
					by[claim.Peer] = true
				}
			}
			return len(by) == len(tabs)
		})
		t.Logf("%d tabs appended after %d ticks", len(tabs), took)
		s.Kill(tabs[1:]...)
		top = s.heightOf(tabs[0])
		s.await("the last one appends", minute, func() bool { return s.heightOf(tabs[0]) > top+10 })
		top = s.heightOf(tabs[0])
		s.wipe(s.nodes[1])
		took = s.await("a native without anything has the log", minute, func() bool { return s.Snapshot(1).Height >= top && !s.Snapshot(1).Syncing })
		t.Logf("a native without anything had the log after %d ticks", took)
		s.settle()
	}
}

// Row 7: every process is killed, one is started later. It continues from its last saved entry.
func TestAllKilled(t *testing.T) { inFormats(t, allKilled) }

func allKilled(t *testing.T, format2 bool) {
	s := newScene(t, Options{Seed: 7, Format2: format2, Natives: 4})
	s.pass(10 * second)
	s.Kill(0, 1, 2, 3)
	log := slices.Clone(s.chain(2))
	s.pass(10 * second)
	s.Start(2)
	if got := s.heightOf(2); got != uint64(len(log)) {
		t.Errorf("starts at height %d, had saved %d", got, len(log))
	}
	took := s.await("it appends", 15*second, func() bool { return s.heightOf(2) > uint64(len(log)) })
	t.Logf("appended %d ticks after its start", took)
	if !slices.Equal(s.chain(2)[:len(log)], log) {
		t.Error("entries were lost")
	}
	s.settle()
}

// Row 8: the swarm is split in half for 5 min. Both halves grow; after healing all have one chain within 30 s, not the
// clearly lighter one, and the entries of the other are on disks still (held by settle). Most part before anything is
// final: in seed 808 one half has 98 % of the weight then, and makes its entries final. In seed 817 they part later,
// and the lighter half makes final what the heavier one lacks.
func TestSplitInHalf(t *testing.T) { inFormats(t, splitInHalf) }

func splitInHalf(t *testing.T, format2 bool) {
	type run struct {
		seed   uint64
		before coordinator.Tick
	}
	runs := []run{{804, 10 * second}, {808, 10 * second}, {817, 50 * second}}
	for seed := uint64(800); seed < 808 && format2 && !testing.Short(); seed++ {
		if seed != 804 {
			runs = append(runs, run{seed, 10 * second})
		}
	}
	for _, r := range runs {
		t.Run(fmt.Sprint("seed ", r.seed), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, Options{Seed: r.seed, Format2: format2, Natives: 6})
			s.pass(r.before)
			fork := s.Lowest()
			s.Split(natives(0, 3), natives(3, 6))
			s.pass(5 * minute)
			a, b := s.heightOf(0)-fork, s.heightOf(3)-fork
			weights := [2]uint64{s.Snapshot(0).Weight, s.Snapshot(3).Weight}
			middle := fork + min(a, b)/2
			tips := [2]seedlog.Link{s.chain(0)[middle], s.chain(3)[middle]}
			if a == 0 || b == 0 || tips[0] == tips[1] {
				t.Fatalf("the halves grew %d and %d entries", a, b)
			}
			s.Heal()
			took := s.await("one chain again", 30*second, func() bool {
				return !slices.ContainsFunc(s.nodes, func(n *node) bool {
					return uint64(len(n.disk.chain)) <= middle || n.disk.chain[middle] != s.chain(0)[middle]
				})
			})
			winner := slices.Index(tips[:], s.chain(0)[middle])
			t.Logf("halves grew %d and %d entries of weight %d and %d; half %d won, %d ticks after healing", a, b, weights[0], weights[1], winner, took)
			if 100*weights[winner] < 95*weights[1-winner] { // what they append until they have compared may decide
				t.Error("the lighter half won")
			}
			s.settle()
		})
	}
}

// Row 9: one of ten is split off, for a minute. The nine win, always.
func TestFewSplitOff(t *testing.T) { inFormats(t, fewSplitOff) }

func fewSplitOff(t *testing.T, format2 bool) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, Options{Seed: 90 + seed, Format2: format2, Natives: 10})
			s.pass(10 * second)
			alone := int(seed) * 3
			fork := s.Lowest()
			s.Split(s.others(alone), []int{alone})
			s.pass(minute)
			nine := slices.Clone(s.chain(s.others(alone)[0]))
			s.settle()
			if got := s.chain(alone); len(got) < len(nine)-3 || got[len(nine)-4] != nine[len(nine)-4] {
				t.Errorf("the nine's chain did not win above height %d", fork)
			}
		})
	}
}

// Row 10: the swarm is split in three; two parts meet before all do. In whatever order, the heaviest
// chain wins.
func TestThreeWaySplit(t *testing.T) { inFormats(t, threeWaySplit) }

func threeWaySplit(t *testing.T, format2 bool) {
	for _, first := range [][2]int{{0, 1}, {1, 2}, {0, 2}} {
		s := newScene(t, Options{Seed: 10, Format2: format2, Natives: 9})
		s.pass(10 * second)
		s.Split(natives(0, 5), natives(5, 7), natives(7, 9))
		s.pass(20 * second)
		heaviest := s.chain(0)
		s.Join(first[0], first[1])
		s.pass(5 * second)
		s.settle()
		for _, n := range s.nodes {
			if at := len(heaviest) - 1; len(n.disk.chain) <= at || n.disk.chain[at] != heaviest[at] {
				t.Errorf("parts %d and %d meet first: node %d is not on the heaviest part's chain", first[0], first[1], n.index)
			}
		}
	}
}

// Row 11: the leader sends but hears nothing. It is replaced, and terms do not rise without end.
func TestDeafLeader(t *testing.T) { inFormats(t, deafLeader) }

func deafLeader(t *testing.T, format2 bool) {
	s := newScene(t, Options{Seed: 11, Format2: format2, Natives: 5, Mandate: forever})
	s.pass(10 * second)
	deaf, term := s.leads(), s.terms()
	s.Cut(s.others(deaf), []int{deaf})
	took := s.await("another leads", 15*second, func() bool {
		for _, i := range s.others(deaf) {
			if s.Snapshot(i).Role == coordinator.Leader {
				return true
			}
		}
		return false
	})
	before := s.heightOf(s.others(deaf)[0])
	s.pass(minute)
	grown := s.heightOf(s.others(deaf)[0]) - before
	t.Logf("replaced after %d ticks; %d terms in a minute, %d entries", took, s.terms()-term, grown)
	if s.terms()-term > 5 {
		t.Errorf("%d terms in a minute, at most 5 are promised", s.terms()-term)
	}
	if grown < 100 {
		t.Errorf("%d entries in a minute", grown)
	}
	s.settle()
}

// Row 14: 30 % of messages are lost and each takes up to 500 ms. At least half as many entries as usual. Where nobody
// waits for others, in format 2, it is evaluations that count: half of the usual with 10 % lost.
func TestLossyNetwork(t *testing.T) { inFormats(t, lossyNetwork) }

func lossyNetwork(t *testing.T, format2 bool) {
	o := Options{Seed: 14, Format2: format2, Natives: 5, WAN: true}
	if format2 {
		o.Rate = 1 // a generation takes a native as long as entries do
	}
	got := func(s *scene) uint64 {
		if !format2 {
			return s.speed(minute)
		}
		before := s.Snapshot(0).Evaluations
		s.pass(minute)
		return s.Snapshot(0).Evaluations - before
	}
	usual := newScene(t, o)
	usual.pass(20 * second)
	want := got(usual)
	for _, loss := range []int{10, 30} {
		s := newScene(t, o)
		s.pass(20 * second)
		s.Loss(1024*loss/100, 0)
		s.Delay(1, 10)
		n := got(s)
		t.Logf("%d %% lost: %d in a minute, %d usually: %d %%", loss, n, want, 100*n/want)
		if 2*n < want && (!format2 || loss == 10) {
			t.Errorf("%d in a minute, %d usually; half are promised", n, want)
		}
		s.settle()
	}
}

// Row 15: half of the peers come and go every minute, most stay briefly and some for long. The swarm grows, and no
// chain gets shorter (held while it runs).
func TestChurnKeepsGrowing(t *testing.T) { inFormats(t, churnKeepsGrowing) }

func churnKeepsGrowing(t *testing.T, format2 bool) {
	length := 4 * minute
	if testing.Short() {
		length = minute
	}
	report, err := Run(Options{Seed: 15, Format2: format2, Natives: 12, Tabs: 6, Ticks: length, Calm: 30 * second, DelayMin: 1, DelayMax: 3, Churn: int(30 * second)})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d entries at the end of %d ticks", report.Height, length)
	if report.Height < uint64(length)/20 {
		t.Errorf("%d entries in %d ticks", report.Height, length)
	}
}

// Row 16: 200 peers join within 10 s. All have the log within 60 s, the leader stays and its pace, and nobody votes
// before having caught up.
func TestManyJoin(t *testing.T) { inFormats(t, manyJoin) }

func manyJoin(t *testing.T, format2 bool) {
	joiners := 200
	if testing.Short() || !format2 {
		joiners = 40
	}
	s := newScene(t, Options{Seed: 16, Format2: format2, Natives: 8, Tabs: joiners, Mandate: forever})
	s.Kill(tabsOf(s)...)
	s.pass(60 * second)
	leader, term := s.leads(), s.terms()
	want := s.speed(60*second) / 3 // twenty seconds alone vary by a tenth
	before, begun := s.Lowest(), s.Now()
	for i, tab := range tabsOf(s) {
		for s.Now() < begun+10*second*coordinator.Tick(i)/coordinator.Tick(joiners) {
			s.pass(1)
		}
		s.Start(tab)
	}
	took := s.await("all have the log, or the newest states", 60*second, func() bool {
		at := s.heightOf(leader)
		return !slices.ContainsFunc(tabsOf(s), func(i int) bool { return s.worksAt(i)+5 < at })
	})
	for s.Now() < begun+20*second { // two waits for stragglers may lie close to each other
		s.pass(1)
	}
	grown := s.Lowest() - before
	t.Logf("%d joined; all had it %d ticks after the last came; %d entries in the first 20 s, %d usually", joiners, took, grown, want)
	if s.Leader() != leader || s.terms() != term {
		t.Errorf("node %d leads term %d, was node %d of term %d", s.Leader(), s.terms(), leader, term)
	}
	if 4*grown < 3*want { // waits for stragglers are a quarter of the time at most
		t.Errorf("%d entries while they joined, %d usually", grown, want)
	}
	s.settle()
}

func tabsOf(s *scene) (list []int) {
	for _, n := range s.nodes {
		if !n.hub() {
			list = append(list, n.index)
		}
	}
	return list
}

// Row 17: one peer makes its results better than they are. None of it is in the chain, and all cut it off.
func TestFalseFitness(t *testing.T) { inFormats(t, falseFitness) }

func falseFitness(t *testing.T, format2 bool) {
	s := newScene(t, Options{Seed: 17, Format2: format2, Natives: 5, Faulty: 1})
	took := s.await("all cut it off", minute, func() bool {
		return !slices.ContainsFunc(s.honest(), func(n *node) bool { return !n.banned[s.nodes[4].peer] })
	})
	s.pass(20 * second)
	t.Logf("cut off by all after %d ticks", took)
	for _, link := range s.chain(0) {
		e, _ := seedlog.ReadEntry(s.nodes[0].disk.blocks[link], s.nodes[0].disk.Block)
		if slices.Contains(s.authors(0, e), s.nodes[4].peer) {
			t.Errorf("its work is in the entry of height %d", e.Height)
		}
	}
	s.settle()
}

// copier passes other peers' claims off as its own.
type copier struct {
	stranger
	on seedlog.Link
}

// Act implements Adversary: key 0 signs what another found, key 1 puts its name on it, key 2 sends it as it is.
func (c *copier) Act(a *Actor) {
	best := a.Best()
	if best.Head == c.on || best.Height < 2 {
		return
	}
	c.on = best.Head
	claim := a.claimAt(best.Head)
	if claim == nil {
		return
	}
	c.deeds++
	signed := seedlog.NewClaim(a.Rules().Run, best.Head, a.Key(0), 0, claim.Fitness, claim.Steps)
	named := *claim
	named.Parent, named.Peer = best.Head, a.Peer(1)
	for _, v := range a.targets() {
		for key, m := range []*seedlog.Claim{signed, &named, claim} {
			a.Send(key, v.Index, &coordinator.Claims{Blocks: [][]byte{encoded(m)}})
		}
	}
}

// Row 18: copied claims never count. Who signs them is found out by a re-run, who does not without one; both are cut
// off.
// A claim that is sent on as it is harms nobody, and who does that is not cut off.
func TestCopiedClaims(t *testing.T) { inFormats(t, copiedClaims) }

func copiedClaims(t *testing.T, format2 bool) {
	c := new(copier)
	s := newScene(t, Options{Seed: 18, Format2: format2, Natives: 4, Attacks: []Attack{{New: func() Adversary { return c }, From: 100}}})
	s.pass(minute)
	a := s.Actor(0)
	for _, n := range s.nodes {
		if !n.banned[a.Peer(0)] || !n.banned[a.Peer(1)] || n.banned[a.Peer(2)] {
			t.Errorf("node %d cut off who signs copies: %t, who does not: %t, who repeats: %t", n.index, n.banned[a.Peer(0)], n.banned[a.Peer(1)], n.banned[a.Peer(2)])
		}
	}
	for h := range s.chain(0) {
		for _, p := range s.authors(0, s.entry(0, uint64(h+1))) {
			if p == a.Peer(0) || p == a.Peer(1) {
				t.Errorf("a copied claim is in the entry of height %d", h+1)
			}
		}
	}
	if c.deeds == 0 {
		t.Error("nothing was copied")
	}
	s.settle()
}

// Row 19: a leader and a friend log false claims. All orphan their entries, and the proofs stay on disk, where anybody
// can replay them.
func TestLeaderLogsFalseClaims(t *testing.T) { inFormats(t, leaderLogsFalseClaims) }

func leaderLogsFalseClaims(t *testing.T, format2 bool) {
	kind := adversaries["colluding leader"]
	s := newScene(t, Options{Seed: 19, Format2: format2, Natives: 6, Attacks: []Attack{{New: kind.insider, Owns: 2, From: 1}}})
	s.pass(2 * minute)
	proofs := 0
	for _, n := range s.honest() {
		for link, data := range n.disk.blocks {
			if p, err := seedlog.DecodeProof(data); err == nil {
				claim, err := s.rules.CheckClaim(n.disk.blocks[p.Claim])
				if err != nil {
					t.Errorf("node %d has the proof %s, but not its claim: %v", n.index, link, err)
					continue
				}
				if _, err := s.rules.CheckProof(data, claim); err != nil {
					t.Errorf("proof %s of node %d: %v", link, n.index, err)
				}
				proofs++
			}
		}
		for _, m := range s.nodes[4:] {
			if !n.banned[m.peer] {
				t.Errorf("node %d did not cut off node %d", n.index, m.index)
			}
		}
	}
	t.Logf("%d proofs on the disks of four peers", proofs)
	if proofs == 0 {
		t.Error("no proof was kept")
	}
	s.settle()
}

// prover sends proofs against honest claims.
type prover struct{ stranger }

// Act implements Adversary.
func (p *prover) Act(a *Actor) {
	best := a.Best()
	claim := a.claimAt(best.Head)
	if claim == nil || a.Now()%20 != 0 {
		return
	}
	p.deeds++
	counter := a.Rules().First(claim)
	fitness, steps := a.Rules().At(claim, counter)
	fitness = append([]int64{fitness[0] + 1}, fitness[1:]...)
	a.Gossip(p.deeds%8, a.Proof(claim, counter, fitness, steps, p.deeds%8))
}

// Row 21: false fraud proofs. Each peer re-runs or drops them; no honest peer is cut off (held while the swarm runs)
// and no entry is lost.
func TestFalseProofs(t *testing.T) { inFormats(t, falseProofs) }

func falseProofs(t *testing.T, format2 bool) {
	calm := newScene(t, Options{Seed: 21, Format2: format2, Natives: 4})
	calm.pass(100)
	want := calm.speed(minute)
	p := new(prover)
	s := newScene(t, Options{Seed: 21, Format2: format2, Natives: 4, Attacks: []Attack{{New: func() Adversary { return p }, From: 100}}})
	s.pass(100)
	got := s.speed(minute)
	t.Logf("%d false proofs; %d entries in a minute, %d without", p.deeds, got, want)
	if 100*got < fairShare*want || p.deeds == 0 {
		t.Errorf("%d entries after %d proofs, %d without", got, p.deeds, want)
	}
	s.settle()
}

// Row 26: clocks jump ahead by an hour, of a follower and of the leader, and a laptop sleeps for two minutes. The swarm
// grows meanwhile, and no elections are held but where the leader's own clock says that it heard nobody for an hour.
// (Drivers read monotonic clocks, which never go back; what the time of day does reaches no coordinator.)
func TestClocksJump(t *testing.T) { inFormats(t, clocksJump) }

func clocksJump(t *testing.T, format2 bool) {
	const hour = 60 * minute
	s := newScene(t, Options{Seed: 26, Format2: format2, Natives: 5, Mandate: forever})
	s.pass(10 * second)
	leader, term := s.leads(), s.terms()
	others := s.others(leader)
	before := s.Lowest()
	for _, jump := range []func(){
		func() { s.nodes[others[0]].skew += hour },
		func() { s.nodes[leader].skew += hour },
		func() { s.Stop(others[1], 2*minute) },
	} {
		jump()
		s.pass(10 * second)
	}
	s.pass(2 * minute)
	t.Logf("term %d before and %d after; %d entries", term, s.terms(), s.Lowest()-before)
	if s.terms() > term+2 {
		t.Errorf("%d elections, at most two are promised", s.terms()-term)
	}
	if grown := s.Lowest() - before; grown < 100 {
		t.Errorf("%d entries in %d ticks", grown, 30*second+2*minute)
	}
	s.settle()
}

// Row 27: the leader's disk is full. It appends nothing that it could not save, another leads, and the first takes part
// again when there is room.
func TestLeaderDiskFull(t *testing.T) { inFormats(t, leaderDiskFull) }

func leaderDiskFull(t *testing.T, format2 bool) {
	s := newScene(t, Options{Seed: 27, Format2: format2, Natives: 5})
	s.pass(10 * second)
	full := s.leads()
	top := s.Highest()
	s.FailDisk(full, minute)
	took := s.await("another appends", 15*second, func() bool { return s.Highest() > top+1 && s.Leader() >= 0 && s.Leader() != full })
	t.Logf("another appended after %d ticks", took)
	s.pass(2 * minute)
	if s.heightOf(full)+5 < s.Highest() {
		t.Errorf("the full disk's peer is at height %d of %d a minute after there was room", s.heightOf(full), s.Highest())
	}
	s.settle()
}

// Row 31: a tab is hidden for 30 min. It counts as gone within 20 s, no election is held for it, and it takes part
// again within 10 s of its return.
func TestTabHidden(t *testing.T) { inFormats(t, tabHidden) }

func tabHidden(t *testing.T, format2 bool) {
	length := 30 * minute
	if testing.Short() {
		length = 3 * minute
	}
	s := newScene(t, Options{Seed: 31, Format2: format2, Natives: 3, Tabs: 2, Mandate: forever})
	s.pass(20 * second)
	leader, term, tab := s.leads(), s.terms(), 4
	counted := s.Snapshot(leader).Peers
	s.Stop(tab, length)
	took := s.await("it counts as gone", 20*second, func() bool { return s.Snapshot(leader).Peers < counted })
	s.pass(length - took)
	back := s.await("it is back", 10*second, func() bool { return s.heightOf(tab)+5 > s.heightOf(leader) })
	mine := s.Snapshot(tab).Mine.Evaluations
	s.await("it works", minute, func() bool { return s.Snapshot(tab).Mine.Evaluations > mine })
	t.Logf("gone after %d ticks, back after %d", took, back)
	if s.terms() != term || s.Leader() != leader {
		t.Errorf("node %d leads term %d, was node %d of term %d", s.Leader(), s.terms(), leader, term)
	}
	s.settle()
}

// Row 12: one node's connections come and go every second. The terms of the others rise less than once a minute; alone,
// the node itself may lead, as the last survivor does.
func TestFlappingNode(t *testing.T) { inFormats(t, flappingNode) }

func flappingNode(t *testing.T, format2 bool) {
	for seed := range uint64(5) {
		for _, leads := range []bool{false, true} {
			t.Run(fmt.Sprintf("seed %d, the leader: %t", seed, leads), func(t *testing.T) {
				t.Parallel()
				s := newScene(t, Options{Seed: 1200 + seed, Format2: format2, Natives: 5, Mandate: forever})
				s.pass(10 * second)
				flapping := s.leads()
				if !leads {
					flapping = s.others(flapping)[0]
				}
				terms := func() (term uint64) {
					for _, i := range s.others(flapping) {
						term = max(term, s.Snapshot(i).Term)
					}
					return term
				}
				term, before := terms(), s.Highest()
				s.Flap(flapping, second, second, 3*minute)
				newest := term
				for range 3 * minute {
					s.pass(1)
					newest = max(newest, terms()) // at the end they may follow a leader of an earlier term
				}
				t.Logf("%d terms in 3 min, %d entries", newest-term, s.Highest()-before)
				if newest-term > 3 {
					t.Errorf("%d terms in 3 min, at most 3 are promised", newest-term)
				}
				s.settle()
			})
		}
	}
}

// crowd is a hundred keys that say that they are hubs, and do nothing else.
type crowd struct{ stranger }

// Act implements Adversary.
func (c *crowd) Act(a *Actor) {
	best := a.Best()
	for i := range 25 {
		key := (int(a.Now())%4)*25 + i
		c.deeds++
		for _, v := range a.targets() {
			a.Send(key, v.Index, &coordinator.Status{Hub: true, Term: best.Term, Head: v.Head, Height: v.Height, Weight: v.Weight})
		}
	}
}

// Row 22: a hundred keys of one host that never worked. They have no votes: a dead leader is replaced as without them.
func TestSybilsHaveNoVote(t *testing.T) { inFormats(t, sybilsHaveNoVote) }

func sybilsHaveNoVote(t *testing.T, format2 bool) {
	s := newScene(t, Options{Seed: 22, Format2: format2, Natives: 5, Attacks: []Attack{{New: func() Adversary { return new(crowd) }, Rate: 1000}}})
	s.pass(10 * second)
	var took []coordinator.Tick
	for range 5 {
		dead := s.leads()
		top := s.Highest()
		s.Kill(dead)
		took = append(took, s.await("the next entry", 15*second, func() bool { return s.Highest() > top }))
		s.Start(dead)
		s.pass(5 * second)
	}
	t.Logf("next entry after %v ticks with 100 silent keys", took)
	if worst := slices.Max(took); worst > 2*second {
		t.Errorf("took %d ticks, at most %d are promised", worst, 2*second)
	}
	s.settle()
}

// Row 13: a node that was cut off alone for a minute comes back. No election is held for it.
func TestLonerReturns(t *testing.T) { inFormats(t, lonerReturns) }

func lonerReturns(t *testing.T, format2 bool) {
	s := newScene(t, Options{Seed: 13, Format2: format2, Natives: 5, Mandate: forever})
	s.pass(10 * second)
	leader := s.leads()
	loner := s.others(leader)[0]
	term := s.Snapshot(leader).Term
	s.Split(s.others(loner), []int{loner})
	s.pass(minute)
	t.Logf("the loner is in term %d, the others in %d", s.Snapshot(loner).Term, s.Snapshot(leader).Term)
	s.Heal()
	s.pass(minute)
	if got := s.Snapshot(leader); got.Role != coordinator.Leader || got.Term != term {
		t.Errorf("the leader of term %d is %v of term %d after the loner's return", term, got.Role, got.Term)
	}
	s.settle()
}
