package fair

// Queue gives the sources turns, one after the other, in which each gets as much done as any other: as many of its
// values as cost a quantum together. One that comes later takes its turn after all that wait. What waits is bounded,
// as in a [Table]: the source whose waiting values cost most loses its oldest.
type Queue[S comparable, V any] struct {
	quantum uint64
	waiting *Table[uint64, S, V]
	turns   map[S]*turn[S]
	ring    turn[S] // its next is the source whose turn it is
	pushed  uint64
}

// turn is a source that has something waiting.
type turn[S comparable] struct {
	source     S
	left       uint64 // of its quanta
	begun      bool   // whether it got the quantum of this turn
	prev, next *turn[S]
}

// NewQueue makes a queue of values that cost at most limit together. A quantum should be no less than what a common
// value costs: a dearer one waits for as many turns as it takes.
func NewQueue[S comparable, V any](limit, quantum uint64) *Queue[S, V] {
	q := &Queue[S, V]{quantum: max(quantum, 1), waiting: NewTable[uint64, S, V](limit), turns: make(map[S]*turn[S])}
	q.ring.next, q.ring.prev = &q.ring, &q.ring
	return q
}

// Push lets a value wait for the turn of its source. It costs at least 1. Push returns what was lost to make room.
func (q *Queue[S, V]) Push(from S, cost uint64, value V) (lost []Lost[uint64, S, V]) {
	if q.turns[from] == nil {
		t := &turn[S]{source: from}
		q.turns[from] = t
		q.toBack(t)
	}
	q.pushed++
	lost = q.waiting.Put(q.pushed, from, max(cost, 1), value)
	for _, l := range lost {
		q.settle(l.Source)
	}
	return lost
}

func (q *Queue[S, V]) toBack(t *turn[S]) {
	t.prev, t.next = q.ring.prev, &q.ring
	t.prev.next, t.next.prev = t, t
}

// settle ends the turns of a source that has nothing waiting.
func (q *Queue[S, V]) settle(from S) {
	if t := q.turns[from]; t != nil && q.waiting.sources[from] == nil {
		t.prev.next, t.next.prev = t.next, t.prev
		delete(q.turns, from)
	}
}

// front is the source whose turn it is, with the quanta that its oldest value takes; nil if nothing waits.
func (q *Queue[S, V]) front() (*turn[S], *item[uint64, S, V]) {
	for t := q.ring.next; t != &q.ring; t = q.ring.next {
		if !t.begun {
			t.begun = true
			t.left += q.quantum
		}
		if oldest := q.waiting.sources[t.source].items.oldest; oldest.cost <= t.left {
			return t, oldest
		}
		t.begun = false
		t.prev.next, t.next.prev = t.next, t.prev
		q.toBack(t)
	}
	return nil, nil
}

// Peek returns what Pop would.
func (q *Queue[S, V]) Peek() (from S, value V, ok bool) {
	t, oldest := q.front()
	if t == nil {
		return from, value, false
	}
	return t.source, oldest.value, true
}

// Pop takes the oldest value of the source whose turn it is.
func (q *Queue[S, V]) Pop() (from S, value V, ok bool) {
	t, oldest := q.front()
	if t == nil {
		return from, value, false
	}
	t.left -= oldest.cost
	q.waiting.remove(oldest)
	q.settle(t.source)
	return t.source, oldest.value, true
}

// Drop removes all that a source has waiting.
func (q *Queue[S, V]) Drop(from S) {
	q.waiting.Drop(from)
	q.settle(from)
}

// Len is the number of values that wait.
func (q *Queue[S, V]) Len() int { return q.waiting.Len() }

// Waiting is what the values of a source that wait cost.
func (q *Queue[S, V]) Waiting(from S) uint64 { return q.waiting.UsedBy(from) }
