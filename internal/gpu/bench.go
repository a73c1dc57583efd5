package gpu

import (
	"fmt"
	"time"

	"github.com/evoswarm/evoswarm/internal/rollout"
)

// Measure times what a device does, for evonode bench: best of a few launches, each long enough that starting it does
// not count.
const (
	measureTime = 50 * time.Millisecond
	measureRuns = 5
)

// Noise returns how long a component of a perturbation takes on the device, for candidates around the state of t.
func (d *Device) Noise(t rollout.Task) (perSample time.Duration, samples int, err error) {
	err = d.measure(t, func(p *player, o *rollout.Offload, n int) (time.Duration, error) {
		samples = n * p.plan.Policy.Dim()
		begin := time.Now()
		center, _, _, _ := o.Around(0)
		err := p.perturb(center, make([]uint64, n), make([]float32, n))
		return time.Since(begin), err
	}, &perSample)
	return perSample, samples, err
}

// Passes returns how long a forward pass of all candidates of t takes on the device, each with weights of its own,
// which are read from its memory.
func (d *Device) Passes(t rollout.Task) (all time.Duration, err error) {
	rounds := int32(1)
	err = d.measure(t, func(p *player, o *rollout.Offload, n int) (time.Duration, error) {
		l := p.layout
		l.held, l.rows, l.few = false, 1, 1
		for {
			begin := time.Now()
			if err := p.s.run("passes", l.items(n), l.lanes, p.memories[thetaMemory].b, int64(p.plan.Policy.Dim()), flag(l.held), int32(l.width), p.net,
				int32(n), int32(l.rows), rounds, p.memories[returnsMemory].b, local(p.local(l))); err != nil {
				return 0, err
			}
			took := time.Since(begin)
			if took >= measureTime || rounds >= 1<<20 {
				return took / time.Duration(rounds), nil
			}
			rounds *= 2
		}
	}, &all)
	return all, err
}

// measure puts the candidates of t on the device and runs once for each of measureRuns; least gets the shortest time.
func (d *Device) measure(t rollout.Task, once func(p *player, o *rollout.Offload, n int) (time.Duration, error), least *time.Duration) error {
	if err := d.plan.Check(t); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return d.err
	}
	p, o := d.player, d.plan.Offload(t)
	if _, _, _, ok := o.Around(0); !ok {
		return fmt.Errorf("%w: a strategy that does not perturb", rollout.ErrTask)
	}
	if err := p.describe(o); err != nil {
		return err
	}
	n := o.Items()
	if err := p.reserve(n, n); err != nil {
		return err
	}
	held := p.layout.held
	defer func() { p.layout.held = held }()
	p.layout.held = false
	if err := p.candidates(o, 0, n); err != nil {
		return err
	}
	for range measureRuns {
		took, err := once(p, o, n)
		if err != nil {
			return err
		}
		if *least == 0 || took < *least {
			*least = took
		}
	}
	return nil
}

// Limits returns what a device can do at most: pairs of unfused float32 multiplications and additions in a second, and
// bytes that it reads from its memory in a second.
func Limits(info Info) (pairs, bytes float64, err error) {
	if info.Err != nil {
		return 0, 0, info.Err
	}
	s, err := info.open()
	if err != nil {
		return 0, 0, err
	}
	defer s.close()
	if err := s.build(arithmeticProgram()); err != nil {
		return 0, 0, err
	}
	const items = 1 << 18
	size := int(min(1<<30, info.Largest/4) &^ 15)
	out, err := s.alloc(4 * items)
	if err != nil {
		return 0, 0, err
	}
	defer s.free(out)
	in, err := s.alloc(size)
	if err != nil {
		return 0, 0, err
	}
	defer s.free(in)
	took := func(run func() error) (least time.Duration) {
		for range measureRuns {
			begin := time.Now()
			if e := run(); e != nil {
				err = e
			}
			if d := time.Since(begin); least == 0 || d < least {
				least = d
			}
		}
		return least
	}
	for rounds := 64; rounds < 1<<24; rounds *= 2 {
		d := took(func() error { return s.run("peak", items, groupSize, out, int32(items), int32(rounds)) })
		pairs = 8 * items * float64(rounds) / d.Seconds()
		if d >= measureTime || err != nil {
			break
		}
	}
	d := took(func() error { return s.run("sweep", items, groupSize, in, out, int32(items), int64(size/16)) })
	return pairs, float64(size) / d.Seconds(), err
}
