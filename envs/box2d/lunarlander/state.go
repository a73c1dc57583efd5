package lunarlander

import (
	"fmt"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/box2d"
)

// vars describes the state vector: the environment's own values, then the engine's.
func vars() []envs.Var {
	v := []envs.Var{
		{Name: "shaping", Unit: "", Low: -1e6, High: 1e6},
		{Name: "main engine", Unit: "", Low: 0, High: 1},
		{Name: "side engine", Unit: "", Low: -1, High: 1},
		{Name: "windy", Unit: "", Low: 0, High: 1},
		{Name: "wind power", Unit: "N", Low: 0, High: maxWind},
		{Name: "turbulence", Unit: "N m", Low: 0, High: maxSwirl},
		{Name: "wind index", Unit: "", Low: -windIndex, High: 1 << 40},
		{Name: "turbulence index", Unit: "", Low: -windIndex, High: 1 << 40},
	}
	for i := range chunks {
		v = append(v, envs.Var{Name: fmt.Sprintf("height at %d m", 2*i), Unit: "m", Low: 0, High: halfHeight})
	}
	reach := envs.Bounds{MinX: -5, MinY: -5, MaxX: width + 5, MaxY: 1000}
	return append(v, box2d.StateVars([]string{"lander", "left leg", "right leg"}, []string{"left joint", "right joint"}, maxPairs, reach)...)
}

// State implements envs.Env.
func (e *env) State() []float64 {
	s := &e.s
	v := make([]float64, 0, len(e.spec.State))
	wind, swirl := s.Wind, s.Swirl
	if !s.Windy {
		wind, swirl = 0, 0
	}
	v = append(v, s.Shaping, s.Main, s.Side, flag(s.Windy), wind, swirl, float64(s.WindAt), float64(s.SwirlAt))
	v = append(v, s.Height[:]...)
	return s.World.AppendState(v, s.Contacts[:], maxPairs)
}

// SetState implements envs.Env. A state has its own wind, for later episodes too; gravity stays.
func (e *env) SetState(state []float64, obs []float32) error {
	if err := envs.CheckState(e.spec, state); err != nil {
		return err
	}
	s := State{
		Continuous: e.s.Continuous, Gravity: e.s.Gravity, Shaping: state[0], Started: true, Main: state[1], Side: state[2], Windy: state[3] == 1,
		Wind: state[4], Swirl: state[5], WindAt: int64(state[6]), SwirlAt: int64(state[7]),
	}
	if state[3] != flag(s.Windy) || state[6] != float64(s.WindAt) || state[7] != float64(s.SwirlAt) {
		return fmt.Errorf("%w: windy is %v, the indices of the wind are %v and %v, want 0 or 1 and integers", envs.ErrState, state[3], state[6], state[7])
	}
	state = state[8:]
	copy(s.Height[:], state[:chunks])
	s.raise()
	s.build()
	m := materials()
	if err := s.World.SetState(s.Ground[:], m[:], s.Contacts[:], dt, state[chunks:], maxPairs); err != nil {
		return err
	}
	e.s = s
	e.s.Observe(obs)
	return nil
}
