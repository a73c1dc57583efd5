// Package rollout runs policies in environments and measures how well they do.
//
// Floor 2, learning: floors 2 to 6 import it.
//
// A [Plan] is the executable form of a run's spec: environment, policy, strategy, and the [Conditions] and
// [Observations] of its episodes, whose slots it adds to the strategy's state. An [Actor] applies a policy
// under these conditions, in training, held-out evaluation and drawing alike; docs/spec/episodes.md has the
// rules.
//
// An [Evaluator] runs episodes on one goroutine. A [Task] names candidates of a generation by their seeds, a
// [Fold] generations to apply to a state. A [Pool] evaluates tasks on all cores; a [Worker] evaluates tasks
// and applies folds, both encoded as bytes, in one Web Worker of a browser.
//
// # Determinism
//
// Fitness, returns, steps and states are bit exact: the same bits on every target and for any number of goroutines.
package rollout
