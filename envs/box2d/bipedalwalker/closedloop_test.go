package bipedalwalker

import (
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/envtest"
)

// TestClosedLoop plays Gymnasium's own controller. The expected values are those of 100 first episodes there.
func TestClosedLoop(t *testing.T) {
	for _, c := range []struct {
		spec *envs.Spec
		want envtest.Mean
	}{
		{Plain, envtest.Mean{Value: 108.0, Error: 11.9}},
		{Hardcore, envtest.Mean{Value: -57.0, Error: 2.8}},
	} {
		t.Run(c.spec.ID, func(t *testing.T) {
			envtest.ClosedLoop(t, c.spec, c.want, func() func([]float32, []float64) {
				w := walker{phase: onOneLeg, knee: supportKnee}
				return w.walk
			})
		})
	}
}

// The phases of a stride, and the angle of a knee that carries.
const (
	onOneLeg = iota
	otherDown
	pushOff

	walkSpeed   = 0.29
	supportKnee = 0.1
)

// walker is the controller of Gymnasium's bipedal_walker.py.
type walker struct {
	phase  int
	moving int
	knee   float64
	begun  bool
}

func (w *walker) walk(obs []float32, act []float64) {
	if !w.begun {
		// Gymnasium's first action is nothing.
		w.begun = true
		clear(act)
		return
	}
	var s [24]float64
	for i := range s {
		s[i] = float64(obs[i])
	}
	hips, knees := w.targets(&s)
	for leg := range 2 {
		base := 4 + 5*leg
		hip, knee := 0.0, 0.0
		if hips[leg] != 0 {
			hip = 0.9*(hips[leg]-s[base]) - 0.25*s[base+1]
		}
		if knees[leg] != 0 {
			knee = 4*(knees[leg]-s[base+2]) - 0.25*s[base+3]
		}
		hip -= 0.9*(0-s[0]) - 1.5*s[1]
		knee -= 15 * s[3]
		act[2*leg] = min(max(0.5*hip, -1), 1)
		act[2*leg+1] = min(max(0.5*knee, -1), 1)
	}
}

// targets returns the angles that hips and knees should have, 0 for any.
func (w *walker) targets(s *[24]float64) (hips, knees [2]float64) {
	moving, carrying := 4+5*w.moving, 4+5*(1-w.moving)
	m, c := w.moving, 1-w.moving
	if w.phase == onOneLeg {
		hips[m], knees[m] = 1.1, -0.6
		w.knee += 0.03
		if s[2] > walkSpeed {
			w.knee += 0.03
		}
		w.knee = min(w.knee, supportKnee)
		knees[c] = w.knee
		if s[carrying] < 0.10 {
			w.phase = otherDown
		}
	}
	if w.phase == otherDown {
		hips[m], knees[m] = 0.1, supportKnee
		knees[c] = w.knee
		if s[moving+4] != 0 {
			w.phase = pushOff
			w.knee = min(s[moving+2], supportKnee)
		}
	}
	if w.phase == pushOff {
		knees[m], knees[c] = w.knee, 1
		if s[carrying+2] > 0.88 || s[2] > 1.2*walkSpeed {
			w.phase = onOneLeg
			w.moving = 1 - w.moving
		}
	}
	return hips, knees
}
