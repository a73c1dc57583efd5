// Package coordinator is the swarm's state machine: claims, generations, election, fork choice, checking and sync.
//
// Floor 3, protocol: floors 3 to 6 import it.
//
// It is pure. [Coordinator.Step] takes the time in ticks and one [Event] and returns [Actions]; there is no
// goroutine, clock, network, disk, logger or randomness inside, so whole swarms run under a simulator with seeds that
// reproduce. Signing is Ed25519, which is deterministic. The rules are written down in docs/spec/protocol.md.
//
// Votes serve liveness and few forks; they never decide which block is valid. Consistency comes from fork choice
// over work that anybody can run again.
package coordinator
