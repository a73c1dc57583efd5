package humanoid

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
	s.X = s.massCenter()
}

// Stale implements mujocoenv.State.
func (s *State) Stale(v []float64, load bool) {
	d := &s.Physics
	if load {
		s.X = v[0]
	} else {
		v[0] = s.X
	}
	v = v[1:]
	for i := 1; i < nbody; i++ {
		v = mujocoenv.Move(v, d.Cinert[i][:], load)
	}
	for i := 1; i < nbody; i++ {
		v = mujocoenv.Move(v, d.Cvel[i][:], load)
	}
	v = mujocoenv.Move(v, d.QfrcActuator[6:], load)
	for i := 1; i < nbody; i++ {
		v = mujocoenv.Move(v, d.CfrcExt[i][:], load)
	}
}

func staleNames() []string {
	names := append([]string{"xipos of the mass center"}, mujocoenv.Names("cinert", 10, 10*nbody)...)
	names = append(names, mujocoenv.Names("cvel", 6, 6*nbody)...)
	names = append(names, mujocoenv.Names("qfrc_actuator", 6, nv)...)
	return append(names, mujocoenv.Names("cfrc_ext", 6, 6*nbody)...)
}

// Geoms implements mujocoenv.State.
func (s *State) Geoms() (all []mujoco.Geom, center, axis [][3]float64) {
	return geoms[:], s.Physics.GeomXpos[:], s.Physics.GeomAxis[:]
}
