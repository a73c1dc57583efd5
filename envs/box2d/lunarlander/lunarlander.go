// Package lunarlander is Gymnasium's LunarLander-v3 and LunarLanderContinuous-v3: a lander with three engines
// has to come down gently between two flags.
package lunarlander

import (
	"strings"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/noise"
)

const doc = `A lander comes in over uneven ground, pushed at random. It has to come to rest on its two
legs, best on the pad between the flags at (0, 0), and to spend little fuel.

## Action space

%ACTIONS%

The engines push a little at random: two numbers are drawn in every step.

## Observation space

Box(8), float32.

| Index | Observation | Low | High | Unit |
|---|---|---|---|---|
| 0 | position, pad at 0, right end of the world at 1 | -2.5 | 2.5 | 10 m |
| 1 | height over the pad | -2.5 | 2.5 | 6.67 m |
| 2 | horizontal velocity | -10 | 10 | 5 m/s |
| 3 | vertical velocity | -10 | 10 | 7.5 m/s |
| 4 | angle | -6.28 | 6.28 | rad |
| 5 | angular velocity | -10 | 10 | 2.5 rad/s |
| 6 | left leg touches the ground | 0 | 1 | |
| 7 | right leg touches the ground | 0 | 1 | |

Values beyond these bounds occur.

## Rewards

The change of -100 times the distance from the pad, -100 times the speed, -100 times the angle
(as observed) and 10 for each leg that touches the ground; -0.3 for a step of the main engine at
full power and -0.03 for one of a side engine. The step that ends the episode gives -100 instead,
or 100 if the lander has come to rest.

## Starting state

The lander starts at the top, in the middle, and is pushed for one step by a force whose components
are drawn uniformly from [-1000, 1000) N. The heights of the ground are drawn too.

## Episode end

Terminated when the lander's hull touches the ground, when it leaves the world at the left or the
right, or when it has come to rest (Box2D puts it to sleep). Truncated after 1000 steps. Solved at a
mean return of 200.

## Wind

None, unless the parameter enable_wind is true: a force of at most wind_power and a torque of at
most turbulence_power that change slowly, as long as no leg touches the ground.

## Version history

- Revision 1: Gymnasium 1.4, version 3 of the world, on a port of Box2D 2.3.

## Source

O. Klimov, in OpenAI Gym (2016). The engine is that of E. Catto, Box2D 2.3.
`

const discreteDoc = `Discrete(4).

| Action | Meaning |
|---|---|
| 0 | nothing |
| 1 | left engine |
| 2 | main engine |
| 3 | right engine |`

const continuousDoc = `Box(2), held to [-1, 1].

| Index | Action |
|---|---|
| 0 | main engine: off up to 0, from there on with 50 to 100 % of its power |
| 1 | side engines: the left one below -0.5, the right one above 0.5, with that share of its power |`

// Discrete4 describes LunarLander-v3.
var Discrete4 = spec("LunarLander-v3", "Lunar Lander", discreteDoc, discrete, envs.DiscreteSpace(4))

// Continuous2 describes LunarLanderContinuous-v3.
var Continuous2 = spec("LunarLanderContinuous-v3", "Lunar Lander, continuous", continuousDoc, continuous, envs.BoxSpace(2, -1, 1))

func init() {
	envs.Register(Discrete4)
	envs.Register(Continuous2)
}

// The largest wind and turbulence: Gymnasium warns beyond them.
const (
	maxWind  = 20
	maxSwirl = 2
)

// params are those of both worlds, in the order of [State.Set].
var params = []envs.Param{
	{Name: "gravity", Kind: envs.RealParam, Default: defaultGravity, Low: -12, High: 0, Open: true, Unit: "m/s^2", Doc: "acceleration upwards"},
	{Name: "enable_wind", Kind: envs.BoolParam, High: 1, Doc: "whether wind blows"},
	{Name: "wind_power", Kind: envs.RealParam, Default: defaultWind, High: maxWind, Unit: "N", Doc: "largest force of the wind"},
	{Name: "turbulence_power", Kind: envs.RealParam, Default: defaultSwirl, High: maxSwirl, Unit: "N m", Doc: "largest torque of the turbulence"},
}

func spec(id, title, actions string, variant int32, space envs.Space) *envs.Spec {
	s := &envs.Spec{
		ID:           id,
		Revision:     1,
		Title:        title,
		Doc:          strings.Replace(doc, "%ACTIONS%", actions, 1),
		ObsDim:       8,
		ObsLow:       []float64{-2.5, -2.5, -10, -10, -6.283185307179586, -10, -1, -1},
		ObsHigh:      []float64{2.5, 2.5, 10, 10, 6.283185307179586, 10, 1, 1},
		Action:       space,
		Params:       params,
		State:        vars(),
		MaxSteps:     1000,
		SolvedReturn: 200,
		View:         envs.Bounds{MinX: 0, MinY: 0, MaxX: width, MaxY: height},
		FPS:          fps,
		StepNS:       7_000,
	}
	s.New = func() envs.Env {
		e := &env{spec: s}
		e.s.Choose(variant)
		return e
	}
	return s
}

// env implements envs.Env.
type env struct {
	spec *envs.Spec
	s    State
}

func (e *env) Spec() *envs.Spec { return e.spec }

// SetParam implements envs.Parametric.
func (e *env) SetParam(i int, value float64) { e.s.Set(int32(i), value) }

func (e *env) Reset(rng *noise.Stream, obs []float32) { e.s.Begin(rng, obs) }

func (e *env) Step(rng *noise.Stream, act []float64, obs []float32) (float64, bool) {
	return e.s.Act(rng, act, obs)
}
