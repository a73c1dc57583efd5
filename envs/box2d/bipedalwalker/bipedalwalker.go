// Package bipedalwalker is Gymnasium's BipedalWalker-v3 and BipedalWalkerHardcore-v3: a hull on two legs with
// four motors has to walk to the end of the ground, in the second one over stumps, stairs and pits.
package bipedalwalker

import (
	"strings"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/noise"
)

const doc = `A hull with two legs of two parts each has to walk to the right%GROUND%. It feels its joints and
feet, and sees the ground before it with a lidar, but does not know where it is.

## Action space

Box(4), held to [-1, 1]. The sign is the direction of a motor, which runs at its full speed; the
magnitude is the share of its 80 N m that it may use.

| Index | Motor | Speed |
|---|---|---|
| 0 | first hip | 4 rad/s |
| 1 | first knee | 6 rad/s |
| 2 | second hip | 4 rad/s |
| 3 | second knee | 6 rad/s |

## Observation space

Box(24), float32.

| Index | Observation | Low | High | Unit |
|---|---|---|---|---|
| 0 | angle of the hull | -3.14 | 3.14 | rad |
| 1 | its angular velocity | -5 | 5 | 25 rad/s |
| 2 | horizontal velocity | -5 | 5 | 8.33 m/s |
| 3 | vertical velocity | -5 | 5 | 12.5 m/s |
| 4 | angle of the first hip | -3.14 | 3.14 | rad |
| 5 | its speed | -5 | 5 | 4 rad/s |
| 6 | angle of the first knee, plus 1 | -3.14 | 3.14 | rad |
| 7 | its speed | -5 | 5 | 6 rad/s |
| 8 | first foot touches the ground | 0 | 1 | |
| 9 to 13 | the same of the second leg | | | |
| 14 to 23 | lidar, from straight down to nearly level ahead: distance | 0 | 1 | 5.33 m |

Values beyond these bounds occur.

## Rewards

The change of 130/30 times the position, less 5 times the magnitude of the hull's angle: 300 and
more up to the end. -0.028 times the magnitude of each action. The step in which the hull touches
the ground, or leaves it at the left, gives -100 instead.

## Starting state

The walker stands at the left end. Its hull is pushed for one step by a horizontal force drawn
uniformly from [-5, 5) N. The ground is drawn too.

## Episode end

Terminated when the hull touches the ground or leaves it at the left, and when it comes to the end,
88.67 m from the left. Truncated after %STEPS% steps. Solved at a mean return of 300.

## Version history

- Revision 1: Gymnasium 1.4, version 3 of the world, on a port of Box2D 2.3. Every episode is as
  the first one of Gymnasium, which keeps its engine from episode to episode.

## Source

O. Klimov, in OpenAI Gym (2016). The engine is that of E. Catto, Box2D 2.3.
`

// Plain describes BipedalWalker-v3.
var Plain = spec("BipedalWalker-v3", "Bipedal Walker", " over slightly uneven ground", "1600", 1600, plain)

// Hardcore describes BipedalWalkerHardcore-v3.
var Hardcore = spec("BipedalWalkerHardcore-v3", "Bipedal Walker, hardcore", " over stumps, stairs and pits", "2000", 2000, hardcore)

func init() {
	envs.Register(Plain)
	envs.Register(Hardcore)
}

func spec(id, title, ground, limit string, steps int, variant int32) *envs.Spec {
	s := &envs.Spec{
		ID:           id,
		Revision:     1,
		Title:        title,
		Doc:          strings.NewReplacer("%GROUND%", ground, "%STEPS%", limit).Replace(doc),
		ObsDim:       24,
		Action:       envs.BoxSpace(4, -1, 1),
		State:        vars(variant == hardcore),
		MaxSteps:     steps,
		SolvedReturn: 300,
		View:         envs.Bounds{MinX: 0, MinY: 0, MaxX: viewWidth, MaxY: viewHeight},
		FPS:          fps,
		StepNS:       20_000,
	}
	for _, high := range []float64{pi, 5, 5, 5, pi, 5, pi, 5, 5, pi, 5, pi, 5, 5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1} {
		s.ObsLow, s.ObsHigh = append(s.ObsLow, -high), append(s.ObsHigh, high)
	}
	s.New = func() envs.Env {
		e := &env{spec: s}
		e.s.Choose(variant)
		return e
	}
	return s
}

const pi = 3.141592653589793

// env implements envs.Env.
type env struct {
	spec *envs.Spec
	s    State
}

func (e *env) Spec() *envs.Spec { return e.spec }

func (e *env) Reset(rng *noise.Stream, obs []float32) { e.s.Begin(rng, obs) }

func (e *env) Step(rng *noise.Stream, act []float64, obs []float32) (float64, bool) {
	return e.s.Act(rng, act, obs)
}
