// Package sim runs whole swarms of coordinators in virtual time, with a network, machines and disks that fail, and with
// adversaries that attack, as a seed says.
//
// Everything is real but the fitness, which is a hash of the perturbation seed: blocks, signatures, strategies,
// election, fork choice, proofs. A run is a function of its [Options], so a failure is reproduced by one line:
//
//	go test ./testnet/sim -run TestSeeds -sim.seed 0x2a
//
// With -sim.trace it tells what happened, tick by tick. Invariants that hold at every step are checked at every step
// (online.go); those of the whole, after a time of calm (invariants.go). A test makes a swarm with [New] and does to it
// what it wants ([Swarm.Kill], [Swarm.Split], ...), or lets [Run] draw when the faults of its options happen.
package sim
