package coordinator

import "github.com/evoswarm/evoswarm/internal/seedlog"

// memoSize bounds how many claims are remembered.
const memoSize = 1 << 14

// Memo remembers claims that were decoded and whose signature was verified, so that each costs once.
// The zero Memo is ready to use. It is not safe for concurrent use.
type Memo struct {
	claims map[seedlog.Link]*seedlog.Claim
	order  []seedlog.Link // oldest first
}

// claim decodes and checks data, or finds it among what was checked before.
func (m *Memo) claim(rules *seedlog.Rules, data []byte) (*seedlog.Claim, seedlog.Link, error) {
	link := seedlog.LinkOf(data)
	if c, ok := m.claims[link]; ok {
		return c, link, nil
	}
	c, err := seedlog.DecodeClaim(data)
	if err != nil {
		return nil, link, err
	}
	if err := rules.CheckClaim(c); err != nil {
		return nil, link, err
	}
	m.remember(link, c)
	return c, link, nil
}

func (m *Memo) remember(link seedlog.Link, c *seedlog.Claim) {
	if m.claims == nil {
		m.claims = make(map[seedlog.Link]*seedlog.Claim)
	}
	if len(m.order) >= memoSize {
		delete(m.claims, m.order[0])
		m.order = m.order[1:]
	}
	m.claims[link] = c
	m.order = append(m.order, link)
}
