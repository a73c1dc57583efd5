package coordinator

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// TestTranscripts plays the scripts of testdata and compares what happened, word for word. After a change of the
// protocol, `go test ./coordinator -run TestTranscripts -rewrite` rewrites them; commit them only if you understand
// what caused every difference.
func TestTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s := &swarm{now: 1}
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.play(t, d) })
		})
	}
}

// verbs are the commands of a script. All take quiet, which shows changes and notes but
// no messages, and silent, which shows nothing.
var verbs = map[string]func(*swarm, *testing.T, *datadriven.TestData){
	"swarm": verbSwarm, "start": verbStart, "crash": verbCrash, "tick": verbTick, "deliver": verbDeliver, "drop": verbDrop,
	"work": verbWork, "run": verbRun, "partition": verbPartition, "heal": verbHeal, "retire": verbRetire, "pause": verbPause,
	"ask": verbAsk, "forge-proof": verbForgeProof, "forge-entry": verbForgeEntry, "status": verbStatus, "chain": verbChain,
}

func (s *swarm) play(t *testing.T, d *datadriven.TestData) string {
	verb := verbs[d.Cmd]
	if verb == nil {
		d.Fatalf(t, "unknown verb %q", d.Cmd)
	}
	s.log.Reset()
	s.quiet = d.HasArg("quiet") || d.Cmd == "run"
	verb(s, t, d)
	switch {
	case d.HasArg("silent"):
		return "(not shown)\n"
	case s.log.Len() == 0:
		return "nothing\n"
	}
	return s.log.String()
}

// number reads an argument such as for=5.
func number(t *testing.T, d *datadriven.TestData, key string, otherwise int) int {
	d.MaybeScanArgs(t, key, &otherwise)
	return otherwise
}

// named lists the peers named by bare words, such as n1; all that have power if there is none.
func (s *swarm) named(d *datadriven.TestData) []*member {
	var list []*member
	for _, m := range s.peers {
		if d.HasArg(m.name) {
			list = append(list, m)
		}
	}
	if list == nil {
		for _, m := range s.peers {
			if m.coord != nil {
				list = append(list, m)
			}
		}
	}
	return list
}

// one finds the peer that an argument such as from=n1 names.
func (s *swarm) one(t *testing.T, d *datadriven.TestData, key string) *member {
	var name string
	d.ScanArgs(t, key, &name)
	for _, m := range s.peers {
		if m.name == name {
			return m
		}
	}
	d.Fatalf(t, "no peer %q", name)
	return nil
}

// verbSwarm makes the peers n1, n2, ... (hubs) and t1, t2, ... (tabs attached to n1) and starts them.
// mandate, decisive and generation (in ticks) overwrite the configuration of the natives.
//
//	swarm natives=3 tabs=1 closed mandate=4 decisive=0 generation=1 faulty=(n3) asleep=(n2)
func verbSwarm(s *swarm, t *testing.T, d *datadriven.TestData) {
	s.rules = newRules(t, !d.HasArg("closed"))
	timing := LAN()
	timing.Generation = Tick(number(t, d, "generation", int(timing.Generation)))
	cfg := Config{Hub: true, Timing: timing, Slots: 2, Decisive: number(t, d, "decisive", 2), Audit: 1024, Mandate: uint64(number(t, d, "mandate", 0))}
	for i := range number(t, d, "natives", 0) {
		s.add(fmt.Sprintf("n%d", i+1), cfg)
	}
	for i := range number(t, d, "tabs", 0) {
		s.add(fmt.Sprintf("t%d", i+1), Config{Kind: Tab, Timing: timing, Slots: 2}).hub = s.peers[0]
	}
	for _, m := range s.peers {
		m.faulty = listed(d, "faulty", m.name)
		if listed(d, "asleep", m.name) {
			continue
		}
		if err := s.powerUp(m); err != nil {
			d.Fatalf(t, "%s: %v", m.name, err)
		}
	}
}

func listed(d *datadriven.TestData, key, name string) bool {
	arg, _ := d.Arg(key)
	return slices.Contains(arg.Vals, name)
}

// verbStart gives peers power; they continue from their disks.
//
//	start n2
func verbStart(s *swarm, t *testing.T, d *datadriven.TestData) {
	for _, m := range s.named(d) {
		if err := s.powerUp(m); err != nil {
			d.Fatalf(t, "%s: %v", m.name, err)
		}
	}
}

// verbCrash takes the power from peers.
//
//	crash n1
func verbCrash(s *swarm, _ *testing.T, d *datadriven.TestData) {
	for _, m := range s.named(d) {
		s.powerDown(m)
	}
}

// verbTick lets time pass at the named peers; nothing is delivered, or with heard only their signs of life.
// With until it ends as soon as that peer, or any of them, campaigns or leads.
//
//	tick n2 n3 for=30 heard until=n2
func verbTick(s *swarm, t *testing.T, d *datadriven.TestData) {
	for range number(t, d, "for", 1) {
		s.now++
		for _, m := range s.named(d) {
			s.step(m, Passed{})
		}
		if d.HasArg("heard") {
			s.deliver(func(p parcel) bool {
				switch p.message.(type) {
				case *Status, *Mandate:
					return true
				}
				return false
			})
		}
		if slices.ContainsFunc(s.peers, func(m *member) bool {
			return m.coord != nil && m.coord.election.role != Follower && (listed(d, "until", m.name) || listed(d, "until", "any"))
		}) {
			return
		}
	}
}

// filter accepts the messages of a kind, from and to the peers that the arguments name.
func filter(d *datadriven.TestData) func(parcel) bool {
	return func(p parcel) bool {
		kind := strings.TrimPrefix(fmt.Sprintf("%T", p.message), "*coordinator.")
		return (!d.HasArg("kind") || listed(d, "kind", kind)) &&
			(!d.HasArg("from") || listed(d, "from", p.from.name)) &&
			(!d.HasArg("to") || listed(d, "to", p.to.name))
	}
}

// verbDeliver hands over the messages that are on their way, not those sent in answer. The others are held.
//
//	deliver kind=(Inventory,Want) from=n2 to=n1
func verbDeliver(s *swarm, _ *testing.T, d *datadriven.TestData) { s.deliver(filter(d)) }

// verbDrop loses messages that are on their way.
//
//	drop kind=Announce to=n3
func verbDrop(s *swarm, _ *testing.T, d *datadriven.TestData) {
	lost := filter(d)
	s.queue = slices.DeleteFunc(s.queue, func(p parcel) bool {
		if lost(p) && describe(p.message) != "" {
			s.printf("%s loses from %s: %s", p.to.name, p.from.name, describe(p.message))
		}
		return lost(p)
	})
}

// verbWork has the work of peers done. A peer that agrees finds in every re-run of a claim what the claim says.
//
//	work n1 agrees
func verbWork(s *swarm, _ *testing.T, d *datadriven.TestData) {
	for _, m := range s.named(d) {
		s.work(m, d.HasArg("agrees"))
	}
}

// verbRun lets time pass with a perfect network and instant work, until all that have power reach a height, or
// follow nobody but the named leader, or as long as said.
//
//	run for=40 height=2
func verbRun(s *swarm, t *testing.T, d *datadriven.TestData) {
	height := number(t, d, "height", 1<<30)
	leader := Peer{}
	if d.HasArg("leader") {
		leader = s.one(t, d, "leader").peer
	}
	s.run(Tick(number(t, d, "for", 100)), func() bool {
		for _, m := range s.peers {
			if m.coord != nil && (int(m.coord.chain.head.height) < height && (leader == Peer{} || m.coord.election.leader != leader)) {
				return false
			}
		}
		return true
	})
}

// verbPartition cuts the named peers off from the others.
//
//	partition n1 n2
func verbPartition(s *swarm, _ *testing.T, d *datadriven.TestData) {
	s.split = true
	for _, m := range s.peers {
		m.side = d.HasArg(m.name)
	}
	s.queue = slices.DeleteFunc(s.queue, func(p parcel) bool { return p.from.side != p.to.side })
}

// verbHeal ends the partition.
//
//	heal
func verbHeal(s *swarm, _ *testing.T, _ *datadriven.TestData) { s.split = false }

// verbRetire has peers say goodbye.
//
//	retire n1
func verbRetire(s *swarm, _ *testing.T, d *datadriven.TestData) {
	for _, m := range s.named(d) {
		s.step(m, Retire{})
	}
}

// verbPause stops or (on) restarts the own work of peers.
//
//	pause n1 on
func verbPause(s *swarm, _ *testing.T, d *datadriven.TestData) {
	for _, m := range s.named(d) {
		s.step(m, SetPaused{Paused: !d.HasArg("on")})
	}
}

// verbAsk sends a request for a vote that from would not send by itself, as heavy as the receiver's own chain.
//
//	ask from=n3 to=n1 term=2 pre
func verbAsk(s *swarm, t *testing.T, d *datadriven.TestData) {
	from, to := s.one(t, d, "from"), s.one(t, d, "to")
	m := &VoteRequest{Pre: d.HasArg("pre"), Term: uint64(number(t, d, "term", 0)), Head: to.coord.chain.head.link, Handover: []byte{}}
	if d.HasArg("handover") {
		m.Handover = seedlog.NewVote(s.rules.Run, m.Term, from.peer, s.one(t, d, "handover").key).Signature
	}
	s.post(from, Envelope{Scope: Direct, To: to.peer, Message: m})
}

// verbForgeProof sends a fraud proof against an honest peer's claim, the first of the newest entry, with a
// false re-run.
//
//	forge-proof from=n3 against=n2
func verbForgeProof(s *swarm, t *testing.T, d *datadriven.TestData) {
	from, against := s.one(t, d, "from"), s.one(t, d, "against")
	for _, link := range from.coord.chain.head.claims {
		data := from.disk.blocks[link]
		claim, err := seedlog.DecodeClaim(data)
		if err != nil || claim.Peer != against.peer {
			continue
		}
		fitness, steps := s.rules.At(claim, s.rules.First(claim))
		proof, _ := seedlog.NewProof(s.rules.Run, link, s.rules.First(claim), []int64{fitness[0] + 1}, steps, from.key).Encode()
		s.post(from, Envelope{Scope: Gossip, Message: &FraudProof{Claim: data, Proof: proof}})
		return
	}
	d.Fatalf(t, "no claim of %s in the newest entry", against.name)
}

// verbForgeEntry signs another entry for the place of by's head, in the same term. It has one claim less, or with
// digest the same claims and the digests of another state. It is announced, or with to sent in answer to a pull.
//
//	forge-entry by=n1 digest to=n2
func verbForgeEntry(s *swarm, t *testing.T, d *datadriven.TestData) {
	by := s.one(t, d, "by")
	head := by.coord.chain.head
	checked, err := s.rules.KeptClaims(head.claims, by.disk.Block)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	claims := values(checked)
	if !d.HasArg("digest") {
		claims = claims[:len(claims)-1]
	}
	e, _ := s.rules.NewEntry(head.parent.state, head.parent.parentInfo(), head.term, by.peer, claims)
	if d.HasArg("digest") {
		e.Theta = slices.Repeat([]byte{1}, 32)
	}
	entry, _ := e.Encode()
	seal, _ := seedlog.NewSeal(e, by.key, nil).Encode()
	if d.HasArg("to") {
		g := Generation{Entry: entry, Seal: seal, Claims: blocksOf(e, claims)}
		s.post(by, Envelope{Scope: Direct, To: s.one(t, d, "to").peer, Message: &Segment{Generations: []Generation{g}, Height: e.Height}})
		return
	}
	s.post(by, Envelope{Scope: Gossip, Message: &Announce{Entry: entry, Seal: seal}})
}

// verbStatus shows where everybody stands.
//
//	status
func verbStatus(s *swarm, _ *testing.T, _ *datadriven.TestData) {
	for _, m := range s.peers {
		if m.coord == nil {
			s.printf("%s has no power", m.name)
			continue
		}
		v := m.coord.Snapshot()
		voted := "nobody"
		if len(m.coord.hard.Voted) > 0 {
			voted = s.nameOf(Peer(m.coord.hard.Voted))
		}
		s.printf("%s %s of term %d, height %d, leader %s, voted for %s", m.name, roleName(v.Role), v.Term, v.Height, s.nameOf(v.Leader), voted)
	}
}

// verbChain shows the newest entries on a peer's chain: leader, term, and the claims (peer/chunk) that they hold.
//
//	chain n1 last=3
func verbChain(s *swarm, t *testing.T, d *datadriven.TestData) {
	for _, m := range s.named(d) {
		canon := m.coord.chain.canon[1:]
		for _, n := range canon[max(0, len(canon)-number(t, d, "last", 3)):] {
			var claims []string
			for _, link := range n.claims {
				claim, err := seedlog.DecodeClaim(m.disk.blocks[link])
				if err != nil {
					d.Fatalf(t, "%v", err)
				}
				claims = append(claims, fmt.Sprintf("%s/%d", s.nameOf(claim.Peer), claim.Chunk))
			}
			slices.SortFunc(claims, cmp.Compare[string])
			s.printf("%s height %d: term %d by %s, %s", m.name, n.height, n.term, s.nameOf(n.leader), strings.Join(claims, " "))
		}
	}
}
