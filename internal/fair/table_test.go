package fair

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/noise"
)

// plain is a table as its comment describes it, without any index.
type plain struct {
	limit      uint64
	list       []entry // oldest first
	keepOldest bool
}

type entry struct {
	key, from, value int
	cost             uint64
}

func (p *plain) used(from int) (sum uint64) {
	for _, e := range p.list {
		if e.from == from || from < 0 {
			sum += e.cost
		}
	}
	return sum
}

func (p *plain) remove(unwanted func(entry) bool) { p.list = slices.DeleteFunc(p.list, unwanted) }

func (p *plain) put(e entry) (lost []Lost[int, int, int]) {
	p.remove(func(x entry) bool { return x.key == e.key })
	if e.cost > p.limit {
		return []Lost[int, int, int]{{e.key, e.from, e.value}}
	}
	p.list = append(p.list, e)
	for p.used(-1) > p.limit {
		list := slices.Clone(p.list)
		if p.keepOldest {
			slices.Reverse(list)
		}
		loser := list[0] // of those that use as much, the source with the oldest value, or the newest
		for _, x := range list {
			if p.used(x.from) > p.used(loser.from) {
				loser = x
			}
		}
		p.remove(func(x entry) bool { return x.key == loser.key })
		lost = append(lost, Lost[int, int, int]{loser.key, loser.from, loser.value})
	}
	return lost
}

// TestTableIsPlain compares a table with its description, over random calls.
func TestTableIsPlain(t *testing.T) {
	for seed := range uint64(200) {
		draw := noise.NewStream(seed, 1)
		below := func(n uint64) int { return int(draw.Uint64() % n) }
		limit := uint64(1 + below(30))
		table, twin := NewTable[int, int, int](limit), &plain{limit: limit}
		if seed%2 == 0 {
			table, twin.keepOldest = table.KeepOldest(), true
		}
		for step := range 300 {
			switch key, from := below(40), below(6); below(12) {
			case 0:
				table.Delete(key)
				twin.remove(func(e entry) bool { return e.key == key })
			case 1:
				if below(4) == 0 {
					table.Drop(from)
					twin.remove(func(e entry) bool { return e.from == from })
				}
			default:
				cost := uint64(below(6))
				got, want := table.Put(key, from, cost, step), twin.put(entry{key, from, step, cost})
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d, step %d: lost %v, want %v", seed, step, got, want)
				}
			}
			compare(t, table, twin, fmt.Sprintf("seed %d, step %d", seed, step))
		}
	}
}

func compare(t *testing.T, table *Table[int, int, int], twin *plain, when string) {
	t.Helper()
	var all []entry
	for key, value := range table.All() {
		from, _ := table.Source(key)
		all = append(all, entry{key: key, from: from, value: value})
	}
	same := slices.EqualFunc(all, twin.list, func(a, b entry) bool { return a.key == b.key && a.from == b.from && a.value == b.value })
	if !same || table.Len() != len(twin.list) || table.Used() != twin.used(-1) {
		t.Fatalf("%s: the table holds %v (%d, cost %d), want %v", when, all, table.Len(), table.Used(), twin.list)
	}
	sources := map[int]bool{}
	for _, e := range twin.list {
		sources[e.from] = true
		if value, ok := table.Get(e.key); !ok || value != e.value || !table.Has(e.key) {
			t.Fatalf("%s: key %d has %d, %v", when, e.key, value, ok)
		}
	}
	if table.Sources() != len(sources) {
		t.Fatalf("%s: %d sources, want %d", when, table.Sources(), len(sources))
	}
	for from := range 6 {
		var of []int
		for key := range table.Of(from) {
			of = append(of, key)
		}
		var want []int
		for _, e := range twin.list {
			if e.from == from {
				want = append(want, e.key)
			}
		}
		if !slices.Equal(of, want) || table.UsedBy(from) != twin.used(from) {
			t.Fatalf("%s: source %d brought %v for %d, want %v for %d", when, from, of, table.UsedBy(from), want, twin.used(from))
		}
	}
}

// TestTableShares: a source that uses no more than its share loses nothing, whatever others put in.
func TestTableShares(t *testing.T) {
	const limit, sources = 64, 8
	for seed := range uint64(100) {
		draw := noise.NewStream(seed, 2)
		table := NewTable[uint64, int, int](limit)
		for key := range uint64(limit / sources) {
			table.Put(key, 0, 1, 0)
		}
		for key := range uint64(2000) {
			for _, l := range table.Put(1000+key, 1+int(draw.Uint64()%(sources-1)), 1+draw.Uint64()%3, 0) {
				if l.Source == 0 {
					t.Fatalf("seed %d: the source with its share alone lost key %d", seed, l.Key)
				}
			}
		}
		if table.UsedBy(0) != limit/sources || table.Used() > limit {
			t.Fatalf("seed %d: %d of %d used, %d by the modest source", seed, table.Used(), limit, table.UsedBy(0))
		}
	}
}

// TestTableTurnsOver: a table full of one source's values takes another's, at the cost of the first.
func TestTableTurnsOver(t *testing.T) {
	table := NewTable[int, string, bool](100)
	for key := range 1000 {
		table.Put(key, "greedy", 1, true)
	}
	lost := table.Put(-1, "modest", 1, true)
	if len(lost) != 1 || lost[0].Source != "greedy" || lost[0].Key != 900 || !table.Has(-1) {
		t.Fatalf("a newcomer to a full table: lost %v, in it %v", lost, table.Has(-1))
	}
	if key, _, ok := table.Oldest(); !ok || key != 901 {
		t.Fatalf("the oldest is %d, want 901", key)
	}
}

// TestTableWalks: what the walk is at may be deleted.
func TestTableWalks(t *testing.T) {
	table := NewTable[int, int, int](100)
	for key := range 20 {
		table.Put(key, key%3, 1, key)
	}
	for key := range table.Of(1) {
		table.Delete(key)
	}
	for key := range table.All() {
		if key%3 == 1 {
			t.Fatalf("key %d is still there", key)
		}
		if key%2 == 0 {
			table.Delete(key)
		}
	}
	if table.Len() != 6 || table.UsedBy(1) != 0 {
		t.Fatalf("%d left, want 6", table.Len())
	}
}

// TestRoom: a source loses nothing by putting as many values as it has room for, and an empty table has room for all
// that fits.
func TestRoom(t *testing.T) {
	for seed := range uint64(200) {
		draw := noise.NewStream(seed, 4)
		limit := 1 + draw.Uint64()%40
		table, key := NewTable[int, int, int](limit), 0
		if seed%2 == 0 {
			table.KeepOldest()
		}
		if n := table.Room(0); n != limit {
			t.Fatalf("seed %d: room for %d in an empty table of %d", seed, n, limit)
		}
		for range draw.Uint64() % 80 {
			table.Put(key, int(draw.Uint64()%6), 1, 0)
			key++
		}
		from := int(draw.Uint64() % 7)
		for n := table.Room(from); n > 0; n-- {
			for _, lost := range table.Put(key, from, 1, 0) {
				if lost.Source == from {
					t.Fatalf("seed %d: a source with room for %d more lost a value", seed, n)
				}
			}
			key++
		}
	}
}
