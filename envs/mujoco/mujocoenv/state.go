package mujocoenv

import (
	"fmt"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/exact"
)

// Ranges of a state vector. Episodes stay well within; the engine's own bound is 1e10.
const (
	farthest  = 1e4  // positions and angles [m, rad]
	fastest   = 1e4  // velocities
	strongest = 1e10 // accelerations, and derived values such as forces
)

// vars describes the state vector of a world.
func vars(w *World) []envs.Var {
	var v []envs.Var
	add := func(prefix string, names []string, bound float64) {
		for _, name := range names {
			v = append(v, envs.Var{Name: prefix + name, Low: -bound, High: bound})
		}
	}
	add("qpos ", w.Qpos, farthest)
	add("qvel ", w.Qvel, fastest)
	add("qacc_warmstart ", w.Qvel, strongest)
	add("", w.Stale, strongest)
	return v
}

// State implements envs.Stateful: qpos, qvel, qacc_warmstart, and what is stale.
func (e *Env[T, P]) State() []float64 {
	qpos, qvel, warmstart := P(&e.S).Carried()
	v := make([]float64, len(e.spec.State))
	rest := Move(Move(Move(v, qpos, false), qvel, false), warmstart, false)
	P(&e.S).Stale(rest, false)
	return v
}

// SetState implements envs.Stateful.
func (e *Env[T, P]) SetState(state []float64, obs []float32) error {
	if err := e.check(state); err != nil {
		return err
	}
	nq, nv := len(e.world.Qpos), len(e.world.Qvel)
	P(&e.S).Resume(state[:nq], state[nq:nq+nv], state[nq+nv:nq+2*nv])
	P(&e.S).Stale(state[nq+2*nv:], true)
	P(&e.S).Observe(obs)
	return nil
}

// SetMotion implements envs.Mechanical.
func (e *Env[T, P]) SetMotion(qpos, qvel, warmstart []float64, obs []float32) error {
	nq, nv := len(e.world.Qpos), len(e.world.Qvel)
	if len(qpos) != nq || len(qvel) != nv || len(warmstart) != nv && len(warmstart) != 0 {
		return fmt.Errorf("%w: %s has %d values of qpos, %d of qvel and %d or none of warmstart, got %d, %d and %d", envs.ErrState,
			e.spec.ID, nq, nv, nv, len(qpos), len(qvel), len(warmstart))
	}
	state := make([]float64, len(e.spec.State))
	Move(Move(Move(state, qpos, false), qvel, false), warmstart, false)
	if err := e.check(state); err != nil {
		return err
	}
	P(&e.S).Resume(state[:nq], state[nq:nq+nv], state[nq+nv:nq+2*nv])
	P(&e.S).Observe(obs)
	return nil
}

// check returns an error that wraps envs.ErrState unless SetState takes the state.
func (e *Env[T, P]) check(state []float64) error {
	if err := envs.CheckState(e.spec, state); err != nil || !e.world.Free {
		return err
	}
	return checkTurn(state[3:7])
}

// Move copies x to the beginning of v, or from there if load is true, and returns the rest of v.
func Move(v, x []float64, load bool) []float64 {
	if load {
		copy(x, v)
	} else {
		copy(v, x)
	}
	return v[len(x):]
}

// Names returns names numbered from the first to one before the end, such as "cinert 13".
func Names(name string, first, end int) []string {
	var all []string
	for i := first; i < end; i++ {
		all = append(all, fmt.Sprintf("%s %d", name, i))
	}
	return all
}

// checkTurn refuses a quaternion that is far from a rotation. The engine normalizes what it gets: a reset adds noise to
// each component.
func checkTurn(q []float64) error {
	norm := exact.Sqrt(float64(q[0]*q[0]) + float64(q[1]*q[1]) + float64(q[2]*q[2]) + float64(q[3]*q[3]))
	if !(norm >= 0.1 && norm <= 4) {
		return fmt.Errorf("%w: the quaternion of the free joint (values 3 to 6) has a norm of %v, not in [0.1, 4]", envs.ErrState, norm)
	}
	return nil
}
