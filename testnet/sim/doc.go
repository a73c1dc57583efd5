// Package sim runs whole swarms of coordinators in virtual time, with a network and disks that fail as a seed says.
//
// Everything is real but the fitness, which is a hash of the perturbation seed: blocks, signatures, strategies,
// election, fork choice, proofs. A run is a function of its [Options], so a failure is reproduced by one line:
//
//	go test ./testnet/sim -run TestSeeds -sim.seed 0x2a
package sim
