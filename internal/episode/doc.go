// Package episode is the loop of episodes: a policy acts in environments, several of them in lockstep, and their
// returns are summed up. It is step code (docs/spec/worlds.md): internal/rollout runs it as Go, and its translation
// runs in browsers and on GPUs, with the same bits.
//
// Floor 2, learning: floors 2 to 6 import it.
package episode
