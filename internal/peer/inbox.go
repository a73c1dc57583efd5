package peer

import "sync"

// inbox takes functions for the loop to run, from any goroutine, and never blocks: callbacks of a browser
// must not. It stays small because only answers and calls of the owner go in.
type inbox struct {
	wake chan struct{}

	mu    sync.Mutex
	items []func()
}

func (b *inbox) post(f func()) {
	b.mu.Lock()
	b.items = append(b.items, f)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *inbox) take() []func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	b.items = nil
	return items
}
