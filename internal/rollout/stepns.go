package rollout

import "github.com/evoswarm/evoswarm/envs"

// leastStepNS is what a step of a world takes that does not say so itself, and of the loop around it.
const leastStepNS = 100

// StepNS is roughly how long a step of a world takes on one core, in nanoseconds.
func StepNS(env *envs.Spec) int { return max(env.StepNS, leastStepNS) }
