package reacher

import (
	"github.com/evoswarm/evoswarm/envs/mujoco"
	"github.com/evoswarm/evoswarm/envs/mujoco/mujocoenv"
)

// Carried implements mujocoenv.State.
func (s *State) Carried() (qpos, qvel, warmstart []float64) {
	d := &s.Physics
	return d.Qpos[:], d.Qvel[:], d.QaccWarmstart[:]
}

// Resume implements mujocoenv.State.
func (s *State) Resume(qpos, qvel, warmstart []float64) {
	s.Physics.Init(mujoco.Rules40)
	s.Physics.SetState(qpos, qvel, warmstart)
}

// Stale implements mujocoenv.State.
func (s *State) Stale(v []float64, load bool) {
	v = mujocoenv.Move(v, s.Physics.Xpos[bodyFingertip][:], load)
	mujocoenv.Move(v, s.Physics.Xpos[bodyTarget][:], load)
}

// Geoms implements mujocoenv.State.
func (s *State) Geoms() (all []mujoco.Geom, center, axis [][3]float64) {
	return geoms[:], s.Physics.GeomXpos[:], s.Physics.GeomAxis[:]
}
