package coordinator

import (
	"errors"
	"fmt"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// TestJunkTipsAreBounded: a stranger that makes entries on old ones by the thousand, and stores of claims with them,
// takes its share of memory and no more; a branch that somebody else delivered stays, and the swarm continues.
func TestJunkTipsAreBounded(t *testing.T) {
	f := newField(t, 1, 0)
	f.pass(100)
	c := f.peers[0].coord
	stranger, friend := Peer{1}, Peer{2}
	at := c.chain.head.below(8)
	next := c.chain.canonAt(at.height + 1)
	claims, err := f.rules.KeptClaims(next.claims, f.peers[0].disk.Block)
	if err != nil {
		t.Fatal(err)
	}
	add := func(from Peer, key string, term uint64, parent *node) (*node, error) {
		e := f.rules.EntryOf(parent.parentInfo(), term, seedlog.PeerOf(keyOf(key)), claims, next.theta, next.digest)
		return c.insert(generation{f.rules.OwnEntry(e, keyOf(key), nil), claims}, source{key: from})
	}
	kept, err := add(friend, "friend", 1, at)
	if err != nil {
		t.Fatal(err)
	}
	many := 20000
	if testing.Short() {
		many = 2000
	}
	before := f.low()
	for i := range many {
		if _, err := add(stranger, fmt.Sprint("junk ", i%50), uint64(1+i/50), at); err != nil && !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		if len(c.chain.tips) > maxTips || c.chain.sides.entries.Used() > sideBytes {
			t.Fatalf("after %d entries: %d tips, %d bytes", i+1, len(c.chain.tips), c.chain.sides.entries.Used())
		}
		if i%200 == 0 {
			f.pass(1)
		}
	}
	if extra := len(c.chain.nodes) - int(c.chain.head.height); extra > maxTips+1 {
		t.Errorf("%d entries off the chain in memory, at most %d tips", extra, maxTips)
	}
	if kept.forgotten || c.chain.nodes[kept.link] == nil {
		t.Error("the stranger's entries pushed another peer's out")
	}
	if f.low() < before+uint64(many/200)/6 {
		t.Errorf("%d entries in %d ticks meanwhile", f.low()-before, many/200)
	}
}

// TestCheckedEntriesLeaveMemory: the blocks of a branch that is audited are stored once they were checked, so that a
// long branch does not have to fit into memory.
func TestCheckedEntriesLeaveMemory(t *testing.T) {
	f := newField(t, 1, 0)
	f.pass(300)
	c := f.peers[0].coord
	v := newForger(f)
	for v.weight < c.chain.head.weight*5/4 {
		v.grow(crowd(2, 0), honest)
	}
	checked, err := Check(seedlog.NewChecker(f.rules), &Segment{Generations: v.chain}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var branch []*node
	for _, g := range checked.generations {
		n, err := c.insert(g, source{key: Peer{1}})
		if err != nil {
			t.Fatal(err)
		}
		branch = append(branch, n)
	}
	full := c.chain.sides.entries.UsedBy(source{key: Peer{1}})
	f.capacity = 8 // so that the audit takes a while
	stored, least := 0, full
	for range 100 {
		f.pass(1)
		if c.chain.canonical(branch[0]) {
			break
		}
		stored, least = 0, min(least, c.chain.sides.entries.UsedBy(source{key: Peer{1}}))
		for _, n := range branch {
			if n.stage == trusted && n.body == nil && f.peers[0].disk.blocks[n.link] != nil {
				stored++
			}
		}
	}
	if !c.chain.canonical(branch[0]) || stored < len(branch)/2 || least > full*3/4 {
		t.Errorf("followed %t; %d of %d entries were stored before, and took %d bytes instead of %d", c.chain.canonical(branch[0]), stored, len(branch), least, full)
	}
}
