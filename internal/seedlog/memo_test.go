package seedlog

import (
	"encoding/binary"
	"testing"
)

// TestMemoIsBounded: however many blocks a stranger signs, what is remembered takes no more than its bytes, and the
// newest half of it stays.
func TestMemoIsBounded(t *testing.T) {
	const bytes, each = 1000, 30
	m := newMemo[int](bytes)
	link := func(i int) Link { return LinkOf(binary.LittleEndian.AppendUint64(nil, uint64(i))) }
	for i := range 10_000 {
		m.put(link(i), i, each)
		if n := len(m.young) + len(m.old); n*each > bytes {
			t.Fatalf("%d of %d bytes each are remembered, in %d", n, each, bytes)
		}
		for j := max(i-bytes/2/each+1, 0); j <= i; j++ {
			if v, ok := m.get(link(j)); !ok || v != j {
				t.Fatalf("after %d of the last %d, %d is forgotten", i, bytes/2/each, j)
			}
		}
	}
	m.put(link(-1), -1, 10*bytes)
	if _, ok := m.get(link(-1)); !ok || len(m.young) != 1 {
		t.Errorf("a large one is remembered: %v, with %d others", ok, len(m.young)-1)
	}
	m.put(link(-2), -2, each)
	m.put(link(-3), -3, bytes)
	if _, ok := m.get(link(-1)); ok {
		t.Error("a large one stays when others come")
	}
}
