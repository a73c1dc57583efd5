package store

import (
	"encoding/binary"
	"sync"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// memoryRows are the rows of a run where the browser stores nothing: they last as long as the page.
type memoryRows struct {
	mu        sync.Mutex
	hard      []byte
	beginning []byte
	low, high uint64            // heights of links
	links     map[uint64][]byte // the chain
	whole     map[uint64][]byte // generations
	places    map[float64]uint64
	kept      map[seedlog.Link][]byte
	sums      map[int][]byte
}

// NewUnsaved returns a BrowserRun that lasts as long as the page. The older part of its chain goes as
// [BrowserRun.Bound] says; all else is in memory.
func NewUnsaved(rules *seedlog.Rules) (*BrowserRun, error) {
	return openBrowserRun(rules, newMemoryRows())
}

func newMemoryRows() *memoryRows {
	return &memoryRows{low: 1, links: make(map[uint64][]byte), whole: make(map[uint64][]byte), places: make(map[float64]uint64), kept: make(map[seedlog.Link][]byte), sums: make(map[int][]byte)}
}

func (m *memoryRows) state() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.hard, nil
}

func (m *memoryRows) base() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.beginning, nil
}

func (m *memoryRows) ends() (low, high, whole uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.high == 0 {
		return 0, 0, 0, nil
	}
	for whole = m.low; whole <= m.high && m.whole[whole] == nil; {
		whole++
	}
	return m.low, m.high, whole, nil
}

func (m *memoryRows) chain(low, high uint64) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return between(m.links, low, high), nil
}

func (m *memoryRows) generations(low, high uint64) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return between(m.whole, low, high), nil
}

func between(all map[uint64][]byte, low, high uint64) (rows [][]byte) {
	for ; low <= high; low++ {
		if row := all[low]; row != nil {
			rows = append(rows, row)
		}
	}
	return rows
}

func (m *memoryRows) find(l seedlog.Link) (data []byte, heights []uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if height, ok := m.places[rowTag(l)]; ok {
		heights = append(heights, height)
	}
	return m.kept[l], heights, nil
}

func (m *memoryRows) blocks(links []seedlog.Link) (all [][]byte, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range links {
		all = append(all, m.kept[l])
	}
	return all, nil
}

func (m *memoryRows) own(after seedlog.Link) (links []seedlog.Link, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if after.Defined() {
		return nil, nil // all were given at once
	}
	for l := range m.kept { //lint:sorted a set
		links = append(links, l)
	}
	return links, nil
}

func (m *memoryRows) summaries() (heights [summarySlots]uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for slot, data := range m.sums { //lint:sorted each slot on its own
		heights[slot] = binary.LittleEndian.Uint64(data)
	}
	return heights, nil
}

func (m *memoryRows) summary(slot int) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sums[slot], nil
}

func (m *memoryRows) write(c *change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range c.put {
		m.kept[b.link] = b.data
	}
	for _, l := range c.drop {
		delete(m.kept, l)
	}
	if c.state != nil {
		m.hard = c.state
	}
	if c.base != nil {
		m.beginning = c.base
	}
	for _, slot := range c.dropSums {
		delete(m.sums, slot)
	}
	if c.sum != nil {
		m.sums[c.slot] = c.sum
	}
	m.writeChain(c)
	return nil
}

// writeChain writes the rows of the chain.
func (m *memoryRows) writeChain(c *change) {
	if c.moved {
		for ; m.high > c.fork; m.high-- {
			m.remove(m.high)
		}
		for i, row := range c.chain {
			m.high = c.fork + uint64(i) + 1
			m.links[m.high], m.whole[m.high] = row.encode(m.high), c.generations[i].encode()
			for _, b := range c.generations[i].blocks {
				m.places[rowTag(b.link)] = m.high
			}
		}
	}
	for ; m.low <= c.below; m.low++ {
		m.remove(m.low)
	}
}

// remove removes a height.
func (m *memoryRows) remove(height uint64) {
	for _, b := range decodeGeneration(m.whole[height]) {
		if tag := rowTag(b.link); m.places[tag] == height {
			delete(m.places, tag)
		}
	}
	delete(m.links, height)
	delete(m.whole, height)
}
