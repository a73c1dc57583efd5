package peer

import "time"

const (
	meterSpan = 10 * time.Second
	meterStep = 500 * time.Millisecond
)

// meter counts what happened in the last 10 s.
type meter struct{ samples []sample }

type sample struct {
	at time.Time
	n  uint64
}

// meters are those of a peer.
type meters struct {
	mine  meter
	run   meter
	total uint64 // evaluations of the run when last seen
	known bool   // whether total is set

	published time.Time // when the status was renewed
}

// add counts n now.
func (m *meter) add(now time.Time, n uint64) {
	if k := len(m.samples); k > 0 && now.Sub(m.samples[k-1].at) < meterStep {
		m.samples[k-1].n += n
		return
	}
	m.samples = append(m.samples, sample{now, n})
}

// rate is per second over the last 10 s, or since begun if that is shorter.
func (m *meter) rate(now, begun time.Time) float64 {
	for len(m.samples) > 0 && now.Sub(m.samples[0].at) > meterSpan {
		m.samples = m.samples[1:]
	}
	var n uint64
	for _, s := range m.samples {
		n += s.n
	}
	span := min(meterSpan, max(now.Sub(begun), time.Second))
	return float64(n) / span.Seconds()
}

// see notes the run's total. What comes in while catching up was not evaluated now and is not counted.
func (m *meters) see(now time.Time, total uint64, syncing bool) {
	if m.known && total > m.total && !syncing {
		m.run.add(now, total-m.total)
	}
	m.total, m.known = total, true
}
