package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// fairShare is how many of an undisturbed swarm's entries a swarm under attack logs at least, in percent.
const fairShare = 95

// fray is a swarm that is attacked, after a time of peace and before another.
var fray = Options{Seed: 14, Natives: 6, DelayMin: 1, DelayMax: 2}

const (
	peace  coordinator.Tick = 200
	strife coordinator.Tick = 800
	rest   coordinator.Tick = 100
)

// calm is a fray without an attack. From its beginning those natives that an adversary would own may have no power.
type calm struct {
	format2       bool
	seed, mandate uint64
	silent        int // how many they are
}

// entries counts those of a calm fray.
func (c calm) entries() (uint64, error) {
	o := fray
	o.Format2, o.Seed, o.Mandate = c.format2, c.seed, c.mandate
	s, err := New(o)
	if err != nil {
		return 0, err
	}
	return s.strife(c.silent)
}

// undisturbed counts the entries of a calm fray, once.
var undisturbed = func() func(c calm) (uint64, error) {
	var mu sync.Mutex
	known := make(map[calm]func() (uint64, error))
	return func(c calm) (uint64, error) {
		mu.Lock()
		if known[c] == nil {
			known[c] = sync.OnceValues(c.entries)
		}
		count := known[c]
		mu.Unlock()
		return count()
	}
}()

// strife lets the attack happen and counts the entries that all honest natives have of that time. As it begins so many
// natives, the last ones, lose power.
func (s *Swarm) strife(silent int) (uint64, error) {
	if err := s.run(peace); err != nil {
		return 0, err
	}
	for i := range silent {
		s.Kill(s.opts.Natives - 1 - i)
	}
	before := slices.Min(s.heights())
	err := s.run(peace + strife)
	return slices.Min(s.heights()) - before, err
}

// frays is how many swarms an insider attacks, each with another seed: what it costs depends on when it leads.
const frays = 3

// TestAdversaries has every adversary attack: the swarm logs its share, no honest peer is cut off, and the chain that
// all honest peers have afterwards holds no false claim. What an insider owns does not work for the swarm while it
// attacks, so the share is of what the others log without it.
func TestAdversaries(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(adversaries)) {
		for _, format2 := range []bool{false, true} {
			assault(t, name, format2)
		}
	}
}

// assault has an adversary attack a swarm of a format, with different numbers of keys if it is a stranger.
func assault(t *testing.T, name string, format2 bool) {
	kind := adversaries[name]
	if format2 {
		name += " of format 2"
	}
	if kind.insider != nil {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withstand(t, kind, format2, Attack{New: kind.insider, Owns: kind.owns})
		})
		return
	}
	for _, keys := range []int{1, 10, 1000} {
		t.Run(fmt.Sprintf("%s with %d keys", name, keys), func(t *testing.T) {
			if testing.Short() && keys != 10 {
				t.Skip("one number of keys is enough for a first answer")
			}
			t.Parallel()
			withstand(t, kind, format2, Attack{New: func() Adversary { return kind.stranger(keys) }, Rate: kind.rate})
		})
	}
}

// led counts the last entries that peers of an adversary appended, and these peers.
func (s *Swarm) led(a *Actor, last uint64) (entries, owned uint64) {
	chain := s.honest()[0].disk.chain
	leaders := make(map[coordinator.Peer]bool)
	for _, n := range s.nodes {
		if n.owner == a {
			leaders[n.peer] = true
			owned++
		}
	}
	for _, link := range chain[len(chain)-int(last):] {
		if e, err := seedlog.ReadEntry(s.library.blocks[link], s.library.block); err == nil && leaders[e.Leader] {
			entries++
		}
	}
	return entries, owned
}

func withstand(t *testing.T, kind adversaryKind, format2 bool, attack Attack) {
	t.Helper()
	runs := uint64(1)
	if attack.Owns > 0 {
		runs = frays
	}
	var got, all, without uint64
	deeds := 0
	for seed := fray.Seed; seed < fray.Seed+runs; seed++ {
		one, err := undisturbed(calm{format2, seed, kind.mandate, 0})
		if err != nil {
			t.Fatal(err)
		}
		all += one
		if one, err = undisturbed(calm{format2, seed, kind.mandate, attack.Owns}); err != nil {
			t.Fatal(err)
		}
		without += one
		entries, did := attacked(t, seed, kind, format2, attack)
		got, deeds = got+entries, deeds+did
	}
	t.Logf("%d entries: %d %% of the %d without the adversary's peers, %d %% of the %d with them undisturbed", got, 100*got/without, without, 100*got/all, all)
	if deeds == 0 {
		t.Error("the adversary did nothing")
	}
	if least := cmp.Or(kind.share, fairShare); 100*got < least*without {
		t.Errorf("%d entries under attack, %d without the adversary; at least %d %% are promised", got, without, least)
	}
}

// attacked counts the entries of a fray under attack and the adversary's deeds, and holds all else that is promised.
func attacked(t *testing.T, seed uint64, kind adversaryKind, format2 bool, attack Attack) (entries uint64, deeds int) {
	t.Helper()
	o := fray
	o.Format2, o.Seed, o.Mandate = format2, seed, kind.mandate
	attack.From, attack.Until = peace, peace+strife
	o.Attacks = []Attack{attack}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.strife(0)
	if err != nil {
		t.Fatal(err)
	}
	healed := s.heights()
	if err := s.run(peace + strife + rest); err != nil {
		t.Fatal(err)
	}
	if err := s.check(healed); err != nil {
		t.Error(err)
	}
	a := s.actors[0]
	did := a.adversary.(interface{ did() int }).did()
	led, owned := s.led(a, got)
	t.Logf("seed %d: %d entries, led %d; %d deeds, %d messages for %d true evaluations", seed, got, led, did, a.Sent, a.Evaluations)
	// One mandate of 20 entries more or less is chance.
	if led > 2*owned*got/uint64(fray.Natives)+20 && kind.share == 0 {
		t.Errorf("%d of %d natives led %d of %d entries, more than twice their share and a mandate", owned, fray.Natives, led, got)
	}
	return got, did
}

// shownWithin is how many entries are logged at most until those who find evidence show it, 48 ticks later.
const shownWithin = 10

// TestEquivocator has a peer sign two entries for each place when it leads, or vote for two peers of one term when it
// hands over. Honest peers show that to all, and it leads none of the next entries.
func TestEquivocator(t *testing.T) {
	for _, votes := range []bool{false, true} {
		t.Run(fmt.Sprintf("votes alone: %t", votes), func(t *testing.T) {
			t.Parallel()
			o, q := fray, &equivocator{votesAlone: votes}
			o.Mandate = 5
			o.Attacks = []Attack{{New: func() Adversary { return q }, Owns: 1, From: peace, Until: peace + strife}}
			s, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.strife(0); err != nil {
				t.Fatal(err)
			}
			chain := s.honest()[0].disk.chain
			if len(q.places) == 0 || s.Report.Doubles == 0 || uint64(len(chain)) < q.places[0]+100 {
				t.Fatalf("signed twice at heights %d, %d messages show it, the chain has %d entries", q.places, s.Report.Doubles, len(chain))
			}
			for i, link := range chain {
				e, err := seedlog.ReadEntry(s.library.blocks[link], s.library.block)
				if err != nil {
					t.Fatal(err)
				}
				for k, place := range q.places {
					if k > 0 && place < q.places[k-1]+100 {
						continue // nobody follows it by then, so not all of its later pairs meet
					}
					if height := uint64(i + 1); e.Leader == s.nodes[o.Natives-1].peer && height >= place+o.Mandate+shownWithin && height <= place+100 {
						t.Errorf("it signed twice at height %d, and leads at height %d", place, height)
					}
				}
			}
		})
	}
}
