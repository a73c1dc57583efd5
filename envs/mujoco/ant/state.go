package ant

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
	s.Physics.Init(int32(s.Param[mujocoRules]))
	s.Physics.SetState(qpos, qvel, warmstart)
}

// Stale implements mujocoenv.State.
func (s *State) Stale(v []float64, load bool) {
	v = mujocoenv.Move(v, s.Physics.Xpos[int(s.Param[mainBody])][:1], load)
	for i := 1; i < nbody; i++ {
		v = mujocoenv.Move(v, s.Physics.CfrcExt[i][:], load)
	}
}

// Geoms implements mujocoenv.State.
func (s *State) Geoms() (all []mujoco.Geom, center, axis [][3]float64) {
	return geoms[:], s.Physics.GeomXpos[:], s.Physics.GeomAxis[:]
}
