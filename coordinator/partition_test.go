package coordinator

import "testing"

// TestPartitionsHeal: after a partition of hundreds of entries the lighter side follows the heavier one, once it has
// audited it, and all continue together. While it audits it keeps its own chain.
func TestPartitionsHeal(t *testing.T) {
	for _, test := range []struct {
		name        string
		side, other int
	}{{"half and half", 4, 4}, {"nine to one", 9, 1}, {"one and one", 1, 1}} {
		t.Run(test.name, func(t *testing.T) {
			f := newField(t, test.side+test.other, 0)
			f.pass(150)
			for i, m := range f.peers {
				m.side = i < test.side
			}
			f.split = true
			f.pass(300)
			a, b := f.peers[0].coord.chain.head, f.peers[test.side].coord.chain.head
			if a.link == b.link || a.height < 25 || b.height < 25 {
				t.Fatalf("the sides have heights %d and %d, which this test cannot use", a.height, b.height)
			}
			better := a
			if b.weight > a.weight {
				better = b
			}
			f.split = false
			f.pass(160)
			if lost, kept := f.low(), better.height; lost < kept {
				t.Errorf("160 ticks after the partition one peer has height %d, the heavier side had %d", lost, kept)
			}
			for _, m := range f.peers {
				if n := m.coord.chain.canonAt(better.height); n == nil || n.link != better.link {
					t.Errorf("%s did not follow the heavier side", m.name)
				}
			}
			f.friendly()
			before := f.low()
			f.pass(100)
			if f.low() < before+10 {
				t.Errorf("%d entries in 100 ticks after the sides met", f.low()-before)
			}
		})
	}
}
