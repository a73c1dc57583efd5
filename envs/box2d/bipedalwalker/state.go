package bipedalwalker

import (
	"fmt"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/box2d"
)

// vars describes the state vector: the environment's own values, then the engine's.
func vars(hardcore bool) []envs.Var {
	v := []envs.Var{{Name: "shaping", Unit: "", Low: -1e6, High: 1e6}}
	for i := range points {
		v = append(v, envs.Var{Name: fmt.Sprintf("height of point %d", i), Unit: "m", Low: -100, High: 100})
	}
	if hardcore {
		v = append(v, envs.Var{Name: "obstacles", Unit: "", Low: 0, High: maxBoxes})
		for i := range maxBoxes {
			name := fmt.Sprintf("obstacle %d ", i)
			v = append(v,
				envs.Var{Name: name + "left", Unit: "m", Low: 0, High: 120}, envs.Var{Name: name + "right", Unit: "m", Low: 0, High: 120},
				envs.Var{Name: name + "first height", Unit: "m", Low: -100, High: 100}, envs.Var{Name: name + "second height", Unit: "m", Low: -100, High: 100})
		}
	}
	bodies := []string{"hull", "first leg", "first lower leg", "second leg", "second lower leg"}
	joints := []string{"first hip", "first knee", "second hip", "second knee"}
	reach := envs.Bounds{MinX: -10, MinY: -200, MaxX: 120, MaxY: 200}
	return append(v, box2d.StateVars(bodies, joints, box2d.MaxContacts, reach)...)
}

// State implements envs.Env.
func (e *env) State() []float64 {
	s := &e.s
	v := make([]float64, 0, len(e.spec.State))
	v = append(v, s.Shaping)
	for i := range int32(points) {
		v = append(v, float64(s.height(i)))
	}
	if s.Hardcore {
		v = append(v, float64(s.Boxes))
		for i := range s.Box {
			var b Obstacle
			if int32(i) < s.Boxes {
				b = s.Box[i]
			}
			v = append(v, float64(b.Left), float64(b.Right), float64(b.Y0), float64(b.Y1))
		}
	}
	return s.World.AppendState(v, s.Contacts[:], box2d.MaxContacts)
}

// SetState implements envs.Env.
func (e *env) SetState(state []float64, obs []float32) error {
	if err := envs.CheckState(e.spec, state); err != nil {
		return err
	}
	s := State{Hardcore: e.s.Hardcore, Shaping: state[0], Started: true}
	state = state[1:]
	var heights [points]float32
	for i := range heights {
		heights[i] = float32(state[i])
	}
	state = state[points:]
	if s.Hardcore {
		if err := s.setBoxes(state[0], state[1:][:4*maxBoxes]); err != nil {
			return err
		}
		state = state[1+4*maxBoxes:]
	}
	s.raise(&heights)
	s.build()
	m := materials()
	if err := s.World.SetState(s.Ground[:s.Boxes+slopes], m[:], s.Contacts[:], dt, state, box2d.MaxContacts); err != nil {
		return err
	}
	s.scan()
	e.s = s
	e.s.Observe(obs)
	return nil
}

// height returns the height of a point of the ground [m].
func (s *State) height(i int32) float32 {
	if i == slopes {
		_, end := s.Ground[s.Boxes+i-1].Ends()
		return end.Y
	}
	start, _ := s.Ground[s.Boxes+i].Ends()
	return start.Y
}

// setBoxes takes the obstacles, four values each.
func (s *State) setBoxes(n float64, v []float64) error {
	if n != float64(int32(n)) {
		return fmt.Errorf("%w: %v obstacles, want an integer", envs.ErrState, n)
	}
	for i := range int32(maxBoxes) {
		left, right, y0, y1 := v[4*i], v[4*i+1], v[4*i+2], v[4*i+3]
		if i >= int32(n) {
			if left != 0 || right != 0 || y0 != 0 || y1 != 0 {
				return fmt.Errorf("%w: values of obstacle %d, which is none", envs.ErrState, i)
			}
			continue
		}
		dx, dy := right-left, y1-y0
		if dx < stride/2 || dx > 20*stride || dy*dy < stride*stride/4 || dy*dy > 100*stride*stride {
			return fmt.Errorf("%w: obstacle %d is %v m by %v m", envs.ErrState, i, dx, dy)
		}
		if i > 0 && float32(left) < s.Box[i-1].Left {
			return fmt.Errorf("%w: obstacle %d is left of the one before", envs.ErrState, i)
		}
		s.put(left, right, y0, y1)
	}
	return nil
}
