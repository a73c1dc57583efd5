package peer

import "time"

const (
	meterSpan = 10 * time.Second
	meterStep = 500 * time.Millisecond
	// meterMost and meterLeast bound what slowRate covers: a generation may take longer than meterSpan.
	meterMost  = 5 * time.Minute
	meterLeast = 3 // samples
)

// meter counts what happened of late.
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
	m.forget(now.Add(-meterSpan))
	return perSecond(m.samples, min(meterSpan, now.Sub(begun)))
}

// slowRate is rate for events that are far apart: it covers at least the last few of them, so that it is not
// 0 in between.
func (m *meter) slowRate(now, begun time.Time) float64 {
	m.forget(now.Add(-meterMost))
	for len(m.samples) > meterLeast && now.Sub(m.samples[0].at) > meterSpan {
		m.samples = m.samples[1:]
	}
	if len(m.samples) == 0 {
		return 0
	}
	first := now.Sub(m.samples[0].at)
	switch {
	case first <= meterSpan:
		return perSecond(m.samples, min(meterSpan, now.Sub(begun)))
	case len(m.samples) == 1:
		return perSecond(m.samples, first)
	}
	return perSecond(m.samples[1:], first) // the first sample counts what was done before it
}

// forget drops what happened before a time.
func (m *meter) forget(before time.Time) {
	for len(m.samples) > 0 && m.samples[0].at.Before(before) {
		m.samples = m.samples[1:]
	}
}

// perSecond is the sum of samples over a time, of at least a second.
func perSecond(samples []sample, span time.Duration) float64 {
	var n uint64
	for _, s := range samples {
		n += s.n
	}
	return float64(n) / max(span, time.Second).Seconds()
}

// see notes the run's total. What comes in while catching up was not evaluated now and is not counted.
func (m *meters) see(now time.Time, total uint64, syncing bool) {
	if m.known && total > m.total && !syncing {
		m.run.add(now, total-m.total)
	}
	m.total, m.known = total, true
}
