// Package noise is every random number of a run: a pure function of a 64-bit seed, a domain and a position.
//
// Floor 0, numbers: floors 0 to 6 import it.
//
// Philox4x32-10 is keyed by the seed; its counter is (position low, position high, domain, 0). Two uses of it exist:
//   - [FillNormal] makes the perturbation eps of a seed, eight Gaussian samples a block, from any offset on.
//   - [Stream] draws one number after another: what a world draws in an episode, the initial theta.
//
// Gaussian samples come from a table of 65,536 quantiles instead of logarithms and cosines: the same bits everywhere,
// and six times faster than Box-Muller. Everything here is bit exact; the package uses no math library at all.
package noise
