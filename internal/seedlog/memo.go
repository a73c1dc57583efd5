package seedlog

// memo remembers what was checked last, within a number of bytes: in two halves, of which the older one goes when the
// younger one is full.
type memo[V any] struct {
	young, old map[Link]V
	used       int // bytes of the younger half
	half       int // how many it has room for
}

func newMemo[V any](bytes int) memo[V] {
	return memo[V]{young: make(map[Link]V), half: bytes / 2}
}

func (m *memo[V]) get(l Link) (V, bool) {
	v, ok := m.young[l]
	if !ok {
		v, ok = m.old[l]
	}
	return v, ok
}

// put remembers v, which takes about so many bytes. One that is larger than a half is remembered alone.
func (m *memo[V]) put(l Link, v V, bytes int) {
	if m.used+bytes > m.half && m.used > 0 {
		m.young, m.old, m.used = make(map[Link]V), m.young, 0
	}
	m.young[l] = v
	m.used += bytes
}
