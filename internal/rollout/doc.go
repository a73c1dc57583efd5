// Package rollout runs policies in worlds and says how well they did.
//
// A [Plan] is what a run makes of its spec: world, policy, strategy, and the
// [Conditions] and [Observations] of its episodes, whose slots it adds to the
// strategy's state. An [Actor] is a policy as it acts under them, the one type for
// training, held-out episodes and drawing; docs/spec/episodes.md has the rules.
//
// An [Evaluator] runs episodes on one goroutine. A [Task] names candidates of a
// generation by their seeds; a [Pool] evaluates a task on all cores and a [Worker]
// does so on one, from bytes, for the browser's Web Workers. A [Preset] holds the
// settings with which a world is known to be learnt.
//
// # Determinism
//
// Fitness, returns and steps are bit exact: the same bits on every target and for
// any number of goroutines.
package rollout
