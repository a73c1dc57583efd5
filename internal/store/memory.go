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
	chain  []pair
	height map[seedlog.Link]uint64 // of the entries of chain
	closed bool

	summaries memorySummaries
}

// pair is an entry and its seal.
type pair struct{ entry, seal seedlog.Link }

// NewMemory returns a Memory that holds the genesis block of a run and nothing else.
func NewMemory(spec *seedlog.Spec) *Memory {
	genesis := seedlog.Encode(spec)
	return &Memory{blocks: map[seedlog.Link][]byte{seedlog.LinkOf(genesis): genesis}, height: map[seedlog.Link]uint64{}}
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
	if err := batch.Head.check(uint64(len(m.chain)), func(l seedlog.Link) bool { _, ok := m.blocks[l]; return ok }); err != nil {
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
	for _, p := range m.chain[head.Fork:] {
		delete(m.height, p.entry)
	}
	m.chain = m.chain[:head.Fork]
	for i, entry := range head.Entries {
		m.chain = append(m.chain, pair{entry, head.Seals[i]})
		m.height[entry] = uint64(len(m.chain))
	}
}

// State implements [Store].
func (m *Memory) State() []byte {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.state
}

// Length implements [Store].
func (m *Memory) Length() uint64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return uint64(len(m.chain))
}

// First implements [Store].
func (m *Memory) First() uint64 { return 1 }

// At implements [Store].
func (m *Memory) At(height uint64) (entry, seal seedlog.Link, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if height == 0 || height > uint64(len(m.chain)) {
		return entry, seal, false
	}
	p := m.chain[height-1]
	return p.entry, p.seal, true
}

// Height implements [Store].
func (m *Memory) Height(entry seedlog.Link) (height uint64, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	height, ok = m.height[entry]
	return height, ok
}

// memoryBudget is how many bytes of summaries are kept in memory.
const memoryBudget = 16 << 20

// SaveSummary implements [Store].
func (m *Memory) SaveSummary(height uint64, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	m.summaries.put(height, data, memoryBudget)
	return nil
}

// Summary implements [Store].
func (m *Memory) Summary(most uint64) (height uint64, data []byte, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.summaries.get(most)
}

// Close implements [Store].
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}
