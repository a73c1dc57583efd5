// Package evoswarm trains reinforcement-learning policies by evolution strategies, and finds the maximum of
// functions with the same strategies. It is the command evonode as a library, without the network.
//
// # Ask and tell
//
// [New] makes an [Optimizer] of any strategy. [Optimizer.Ask] names candidates, the caller measures them as
// it likes, and [Optimizer.Tell] says how good they are. Fitness is maximized.
//
// # Training
//
// [Train] trains a policy in an environment, on all cores, until it is solved. Everything that a run depends
// on, every default included, is in the first block of its seed log, and what follows depends on nothing
// else: the same [Options] give the same bits on every machine, with any number of workers, in one go or
// resumed. The log holds seeds and fitness values instead of weights; [Replay] rebuilds the policy from it
// and checks it on the way.
//
// # Environments
//
// [Envs] lists the environments there are. One of your own implements
// [github.com/evoswarm/evoswarm/envs.Env]; [github.com/evoswarm/evoswarm/envs.Add] registers it, and then
// Train takes its id. examples/hover is a complete one to copy.
//
// # Determinism
//
// Everything that these functions compute, except times, is bit exact. They are safe for concurrent use
// unless their comments say otherwise.
package evoswarm
