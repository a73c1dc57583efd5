package gpu

// memory is a piece of a device's memory that batches use one after the other: to reserve gigabytes for each would
// take as long as a small batch.
type memory struct {
	b    buffer
	size int
}

// What a batch has on the device.
const (
	thetaMemory = iota
	centerMemory
	keysMemory
	scalesMemory
	episodesMemory
	listMemory
	seedsMemory
	returnsMemory
	stepsMemory
	overMemory
	memories
)

// reserve has memory for a batch of n candidates and items episodes, but for theta.
func (p *player) reserve(n, items int) error {
	dim := p.plan.Policy.Dim()
	for i, size := range [memories]int{
		thetaMemory: 4, centerMemory: 4 * dim, keysMemory: 8 * n, scalesMemory: 4 * n, episodesMemory: p.episode * items,
		listMemory: 4 * items, seedsMemory: 8 * items, returnsMemory: 8 * items, stepsMemory: 8 * items, overMemory: 4 * items,
	} {
		if err := p.memories[i].grow(p.s, size); err != nil {
			return err
		}
	}
	return nil
}

// grow makes m at least size bytes, with undefined contents.
func (m *memory) grow(s session, size int) (err error) {
	if m.size >= size {
		return nil
	}
	m.drop(s)
	if m.b, err = s.alloc(size); err == nil {
		m.size = size
	}
	return err
}

// drop gives it back.
func (m *memory) drop(s session) {
	if m.size > 0 {
		s.free(m.b)
	}
	*m = memory{}
}
