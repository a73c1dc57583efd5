// Package bench measures this computer: kernels, environments, rollouts and replays, next to what they could
// be at most.
package bench
