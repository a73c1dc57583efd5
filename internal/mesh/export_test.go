package mesh

// PartBytes is how many bytes of messages have come in part.
func (m *Mesh) PartBytes() uint64 {
	m.parts.mu.Lock()
	defer m.parts.mu.Unlock()
	return m.parts.bytes.Used()
}

// MaxPartsOf is how many of them one block of addresses may have.
const MaxPartsOf = maxPartsOf

// Proven lists the hubs that this peer dialed.
func (m *Mesh) Proven() int { return len(m.linkedHubs()) }

// Learn has the book know of a hub, as another peer would tell of it.
func (m *Mesh) Learn(addr string) error {
	info, err := parseAddr(addr)
	if err == nil {
		m.book.add(*info, block{}, false)
	}
	return err
}
