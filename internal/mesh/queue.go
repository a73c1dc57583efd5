package mesh

import (
	"context"
	"sync"

	"github.com/evoswarm/evoswarm/internal/fair"
)

// Limits of the queue of events, in bytes: of the messages as they came, and what the queue itself needs for each.
const (
	maxWaiting   = 32 << 20 // of all blocks; beyond, the block that has most waiting loses its oldest gossip
	maxWaitingOf = 4 << 20  // of one block; beyond, its streams are not read further: senders wait
	messageTakes = 1 << 10  // beyond its bytes
)

// queue keeps events until the driver reads them: what concerns links first, in order, then messages, in turns of the
// blocks that they come from.
type queue struct {
	out chan Event

	mu       sync.Mutex
	room     sync.Cond
	links    []Event
	messages *fair.Queue[block, Received]
	dropped  uint64
	closed   bool
	wake     chan struct{}
}

func newQueue() *queue {
	q := &queue{out: make(chan Event), wake: make(chan struct{}, 1), messages: fair.NewQueue[block, Received](maxWaiting, 4*messageTakes)}
	q.room.L = &q.mu
	return q
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// link adds a Linked or Unlinked, always.
func (q *queue) link(e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.links = append(q.links, e)
	q.signal()
}

// gossip adds a message of so many bytes.
func (q *queue) gossip(e Received, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.push(e, bytes)
}

func (q *queue) push(e Received, bytes int) {
	lost := q.messages.Push(e.Source, uint64(bytes+messageTakes), e)
	q.dropped += uint64(len(lost))
	q.signal()
}

// direct adds a message once there is room; false: the mesh is closed.
func (q *queue) direct(e Received, bytes int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.messages.Waiting(e.Source) >= maxWaitingOf {
		for q.messages.Waiting(e.Source) > maxWaitingOf/2 && !q.closed {
			q.room.Wait()
		}
	}
	if q.closed {
		return false
	}
	q.push(e, bytes)
	return true
}

func (q *queue) take() (Event, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.links) > 0 {
		e := q.links[0]
		q.links[0] = nil
		q.links = q.links[1:]
		return e, true
	}
	source, _, ok := q.messages.Peek()
	if !ok {
		return nil, false
	}
	before := q.messages.Waiting(source)
	_, e, _ := q.messages.Pop()
	if before > maxWaitingOf/2 && q.messages.Waiting(source) <= maxWaitingOf/2 {
		q.room.Broadcast() // once for many messages: there may be hundreds of senders that wait
	}
	return e, true
}

// pump hands events out until ctx ends.
func (q *queue) pump(ctx context.Context) {
	defer close(q.out)
	for {
		e, ok := q.take()
		if !ok {
			select {
			case <-q.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		select {
		case q.out <- e:
		case <-ctx.Done():
			return
		}
	}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.room.Broadcast()
}
