// Package mujocoenv is what the MuJoCo worlds have in common, as mujoco_env.py is in Gymnasium: the description, the
// state vector and the drawing of a world (env.go, state.go, draw.go), and the sums of its step code (step.go).
package mujocoenv

import (
	"strings"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/mujoco"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// State is a pointer to the State of a world: the World ABI, and what is needed to look into it.
type State[T any] interface {
	*T
	Choose(variant int32)
	Set(i int32, x float64)
	Begin(rng *noise.Stream, obs []float32)
	Act(rng *noise.Stream, act []float64, obs []float32) (reward float64, over bool)

	// Carried returns the arrays of the engine that carry over to the next step.
	Carried() (qpos, qvel, warmstart []float64)
	// Resume makes these the state, with derived values that belong to them.
	Resume(qpos, qvel, warmstart []float64)
	// Stale copies the derived values of the last evaluation that an observation or the next reward reads to v, or from
	// there if load is true.
	Stale(v []float64, load bool)
	// Observe writes the observation.
	Observe(obs []float32)
	// Geoms returns the geoms, their centers and their z axes.
	Geoms() (geoms []mujoco.Geom, center, axis [][3]float64)
}

// World describes a world.
type World struct {
	ID, Title, Doc string
	Obs            int    // length of an observation
	Parts          []Part // what parameters add to it, or take from it
	Actions        int
	Bound          float64 // of actions, up and down
	Params         []envs.Param
	Qpos, Qvel     []string // names of the coordinates, which are those of the joints
	Stale          []string // names of what State.Stale copies
	Free           bool     // the first joint is free: qpos 3 to 6 are a quaternion
	MaxSteps       int
	SolvedReturn   float64
	SolvedOurs     bool
	FPS            int
	StepNS         int
	Camera         Camera
}

// Part is a part of an observation that depends on a parameter.
type Part struct {
	Param  int // index of the parameter, which is true or false
	Values int // how many values more an observation has where it is true
}

// length returns the length of an observation where the parameters have these values.
func (w *World) length(values []float64) int {
	n := w.Obs
	for _, p := range w.Parts {
		n += p.Values * int(values[p.Param]-w.Params[p.Param].Default)
	}
	return n
}

// Spec returns the description of a world whose State is T.
func Spec[T any, P State[T]](w World) *envs.Spec {
	s := &envs.Spec{
		ID: w.ID, Revision: 1, Title: w.Title, Doc: strings.TrimLeft(w.Doc, "\n"), ObsDim: w.Obs,
		Action: envs.BoxSpace(w.Actions, -w.Bound, w.Bound), Params: w.Params, State: vars(&w),
		MaxSteps: w.MaxSteps, SolvedReturn: w.SolvedReturn, SolvedOurs: w.SolvedOurs,
		View: form, FPS: w.FPS, StepNS: w.StepNS,
	}
	s.ObsBounds = func(values []float64) (low, high []float64) {
		for range w.length(values) {
			low, high = append(low, -envs.Unbounded), append(high, envs.Unbounded)
		}
		return low, high
	}
	s.ObsLow, s.ObsHigh = s.ObsBounds(s.Values())
	s.New = func() envs.Env {
		e := &Env[T, P]{spec: s, world: &w}
		P(&e.S).Choose(0)
		return e
	}
	return s
}

// Env implements envs.Stateful and envs.Drawer with a State.
type Env[T any, P State[T]] struct {
	S     T
	spec  *envs.Spec
	world *World
}

// Spec implements envs.Env.
func (e *Env[T, P]) Spec() *envs.Spec { return e.spec }

// SetParam implements envs.Parametric.
func (e *Env[T, P]) SetParam(i int, value float64) { P(&e.S).Set(int32(i), value) }

// Reset implements envs.Env.
func (e *Env[T, P]) Reset(rng *noise.Stream, obs []float32) { P(&e.S).Begin(rng, obs) }

// Step implements envs.Env.
func (e *Env[T, P]) Step(rng *noise.Stream, act []float64, obs []float32) (float64, bool) {
	return P(&e.S).Act(rng, act, obs)
}
