// Package noise generates all random numbers of a run. Each is a pure function of a 64-bit seed, a domain and
// a position.
//
// Floor 0, numbers: floors 0 to 6 import it.
//
// The seed is the key of Philox4x32-10; its counter is (position low, position high, domain, 0). There are two uses:
//   - [FillNormal] generates the perturbation eps of a seed, eight Gaussian samples per block, from any offset.
//   - [Stream] draws one number after another: what an environment draws in an episode, the initial theta.
//
// Gaussian samples come from a table of 65,536 quantiles instead of logarithms and cosines, which gives the
// same bits everywhere and is six times faster than Box-Muller. Everything here is bit exact; the package
// uses no math library.
package noise
