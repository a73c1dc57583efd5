package mesh

import (
	"context"
	"sync"
)

// Limits of the queue of events, in messages.
const (
	maxGossipWaiting = 4096 // beyond, gossip is dropped: what matters of it is asked for again
	maxDirectWaiting = 1024 // beyond, streams are not read further: senders wait
)

// queue keeps events in order until the driver reads them.
type queue struct {
	out chan Event

	mu       sync.Mutex
	room     sync.Cond
	items    []Event
	messages int // in items
	dropped  uint64
	closed   bool
	wake     chan struct{}
}

func newQueue() *queue {
	q := &queue{out: make(chan Event), wake: make(chan struct{}, 1)}
	q.room.L = &q.mu
	return q
}

func (q *queue) add(e Event) {
	q.items = append(q.items, e)
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// link adds a Linked or Unlinked, always.
func (q *queue) link(e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(e)
}

// gossip adds a message or drops it.
func (q *queue) gossip(e Received) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.messages >= maxGossipWaiting {
		q.dropped++
		return
	}
	q.messages++
	q.add(e)
}

// direct adds a message once there is room; false: the mesh is closed.
func (q *queue) direct(e Received) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.messages >= maxDirectWaiting && !q.closed {
		q.room.Wait()
	}
	if q.closed {
		return false
	}
	q.messages++
	q.add(e)
	return true
}

func (q *queue) take() (Event, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return nil, false
	}
	e := q.items[0]
	q.items[0] = nil
	q.items = q.items[1:]
	if _, message := e.(Received); message {
		q.messages--
		q.room.Signal()
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
