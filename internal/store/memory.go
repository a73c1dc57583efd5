package store

import (
	"slices"
	"sync"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Memory is a Store that lasts as long as the process. The zero value is not usable: see [NewMemory].
type Memory struct {
	mu     sync.RWMutex
	blocks map[seedlog.Link][]byte
	state  []byte
	chain  []seedlog.Link
	seals  []seedlog.Link
	closed bool
}

// NewMemory returns a Memory that holds the genesis block of a run and nothing else.
func NewMemory(spec *seedlog.Spec) *Memory {
	genesis := seedlog.Encode(spec)
	return &Memory{blocks: map[seedlog.Link][]byte{seedlog.LinkOf(genesis): genesis}}
}

// Block implements [Store].
func (m *Memory) Block(link seedlog.Link) ([]byte, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	data, ok := m.blocks[link]
	return data, ok
}

// Save implements [Store].
func (m *Memory) Save(batch Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	m.keep(batch)
	if batch.Head == nil {
		return nil
	}
	if err := batch.Head.check(len(m.chain), func(l seedlog.Link) bool { _, ok := m.blocks[l]; return ok }); err != nil {
		return err
	}
	m.move(batch.Head)
	return nil
}

// keep takes the blocks and the state of a batch.
func (m *Memory) keep(batch Batch) {
	for _, b := range batch.Blocks {
		if m.blocks[b.Link()] == nil {
			m.blocks[b.Link()] = slices.Clone(b.Bytes())
		}
	}
	if batch.State != nil {
		m.state = slices.Clone(batch.State)
	}
}

// move changes the canonical chain.
func (m *Memory) move(head *HeadMove) {
	m.chain = append(m.chain[:head.Fork:head.Fork], head.Entries...)
	m.seals = append(m.seals[:head.Fork:head.Fork], head.Seals...)
}

// State implements [Store].
func (m *Memory) State() []byte {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.state
}

// Chain implements [Store].
func (m *Memory) Chain() (entries, seals []seedlog.Link) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Clone(m.chain), slices.Clone(m.seals)
}

// Close implements [Store].
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}
