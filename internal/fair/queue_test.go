package fair

import (
	"testing"

	"github.com/evoswarm/evoswarm/internal/noise"
)

// TestQueueShares: while a source waits, no other gets more done, but for a turn and the dearest value at either end
// of the period. Those that come and go get no more than those that stay.
func TestQueueShares(t *testing.T) {
	const dearest, quantum = 9, 4
	for seed := range uint64(100) {
		draw := noise.NewStream(seed, 3)
		q := NewQueue[int, uint64](1<<20, quantum)
		done := map[int]uint64{}
		push := func(from int, cost uint64) { q.Push(from, cost, cost) }
		for round := range 400 {
			push(0, 1)
			push(0, 3)
			push(1, 1+draw.Uint64()%dearest)
			for range draw.Uint64() % 4 {
				push(2+int(draw.Uint64()%8), 1+draw.Uint64()%dearest)
			}
			from, cost, ok := q.Pop()
			if !ok {
				t.Fatal("the queue is empty")
			}
			done[from] += cost
			for other := range done { //lint:sorted each one on its own
				if done[other] > done[0]+2*(dearest+quantum) {
					t.Fatalf("seed %d, round %d: source %d had %d done while source 0 waited and had %d", seed, round, other, done[other], done[0])
				}
			}
		}
	}
}

// TestQueueWait: a value waits for one turn of each source that waits already, however many come after it.
func TestQueueWait(t *testing.T) {
	const others = 20
	q := NewQueue[int, int](1<<20, 1)
	for i := range 100 * others {
		q.Push(1+i%others, 1, i)
	}
	for range 57 {
		q.Pop()
	}
	q.Push(0, 1, -1)
	for newcomer := range others + 1 {
		q.Push(1000+newcomer, 1, 0)
		if from, _, _ := q.Pop(); from == 0 {
			return
		}
	}
	t.Fatalf("still waiting after %d others", others+1)
}

// TestQueueReturns: a source that puts in one value after the other does not keep others from their turns.
func TestQueueReturns(t *testing.T) {
	q := NewQueue[string, int](1<<20, 1)
	for range 100 {
		q.Push("many", 1, 0)
	}
	had := map[string]int{}
	for range 100 {
		q.Push("one", 1, 0)
		from, _, _ := q.Pop()
		had[from]++
	}
	if had["many"] < 49 {
		t.Fatalf("turns: %v", had)
	}
}

// TestQueueOrder: the values of a source come out in the order in which they were put in, each once; what is dropped
// does not come out, and a source that fills the queue loses its own.
func TestQueueOrder(t *testing.T) {
	q := NewQueue[int, int](50, 3)
	last := map[int]int{}
	for i := range 400 {
		from := 0
		if i%40 == 1 {
			from = 1 + i%3
		}
		for _, l := range q.Push(from, 0, i) {
			if l.Source != 0 {
				t.Fatalf("source %d lost %d to source 0", l.Source, l.Value)
			}
		}
	}
	if lost := q.Push(9, 51, 0); len(lost) != 1 || lost[0].Source != 9 || q.Len() != 50 {
		t.Fatalf("a value dearer than the limit: lost %v, %d wait", lost, q.Len())
	}
	q.Drop(2)
	if q.Waiting(2) != 0 || q.Len() == 0 {
		t.Fatalf("%d wait, %d of the dropped source", q.Len(), q.Waiting(2))
	}
	for q.Len() > 0 {
		peeked, at, _ := q.Peek()
		from, value, ok := q.Pop()
		if before, again := last[from]; !ok || from == 2 || from != peeked || value != at || again && value <= before {
			t.Fatalf("got %d of source %d (%v) after %d; peeked at %d of source %d", value, from, ok, before, at, peeked)
		}
		last[from] = value
	}
	_, _, popped := q.Pop()
	_, _, peeked := q.Peek()
	if popped || peeked {
		t.Fatal("an empty queue gave something")
	}
}
