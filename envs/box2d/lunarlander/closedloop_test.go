package lunarlander

import (
	"math"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/envtest"
)

// TestClosedLoop plays Gymnasium's own controller. The values wanted are those that it had in 300 episodes there.
func TestClosedLoop(t *testing.T) {
	wind := envs.Params{"enable_wind": 1}
	for _, c := range []struct {
		name   string
		spec   *envs.Spec
		params envs.Params
		want   envtest.Mean
	}{
		{"discrete", Discrete4, nil, envtest.Mean{Value: 232.1, Error: 6.7}},
		{"discrete in wind", Discrete4, wind, envtest.Mean{Value: 106.8, Error: 9.5}},
		{"continuous", Continuous2, nil, envtest.Mean{Value: 283.1, Error: 1.1}},
		{"continuous in wind", Continuous2, wind, envtest.Mean{Value: 206.4, Error: 7.9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec, err := c.spec.With(c.params)
			if err != nil {
				t.Fatal(err)
			}
			envtest.ClosedLoop(t, spec, c.want, func() func([]float32, []float64) {
				return func(obs []float32, act []float64) { steer(c.spec, obs, act) }
			})
		})
	}
}

// steer is the controller of Gymnasium's lunar_lander.py: it leans towards the pad and brakes.
func steer(spec *envs.Spec, obs []float32, act []float64) {
	var s [8]float64
	for i := range s {
		s[i] = float64(obs[i])
	}
	lean := min(max(s[0]*0.5+s[2], -0.4), 0.4)
	turn := (lean-s[4])*0.5 - s[5]
	rise := (0.55*math.Abs(s[0])-s[1])*0.5 - s[3]*0.5
	if s[6] != 0 || s[7] != 0 {
		turn, rise = 0, -s[3]*0.5
	}
	if !spec.Action.Discrete {
		act[0], act[1] = min(max(rise*20-1, -1), 1), min(max(-turn*20, -1), 1)
		return
	}
	switch {
	case rise > math.Abs(turn) && rise > 0.05:
		act[0] = 2
	case turn < -0.05:
		act[0] = 3
	case turn > 0.05:
		act[0] = 1
	default:
		act[0] = 0
	}
}
