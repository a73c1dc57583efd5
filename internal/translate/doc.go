// Package translate turns step code, the kernel subset of Go in which environments and the loop of episodes are
// written, into C99, OpenCL C 1.2 or CUDA C. The translation gives the same bits as the Go code.
//
// On no floor: only tests import it.
//
// [Load] reads packages of a module, [Program.Translate] writes the named functions and all that they call as one
// source text, and [Program.Check] only says what prevents that. What the translator cannot keep it refuses, with
// file, line and construct ([Refusal]); internal/lint calls the same code, so that step code which could not be
// translated fails there first.
//
// # What is kept
//
//   - Constants are those that go/types computed, written as hexadecimal floats of their final type.
//   - Integers are Go's: int has 64 bits everywhere, overflow wraps around, shifts have Go's result from the width on,
//     the division of the smallest integer by -1 too.
//   - Products and sums stay apart, if the compiler does not contract them (-ffp-contract=off, FP_CONTRACT OFF,
//     --fmad=false).
//   - Arrays and structs are values: an array becomes a struct with one member, so that = copies it.
//   - min, max, copy and range behave as Go defines them, for NaN, for -0 and for slices that overlap.
//
// # What is bound
//
// Step code may take [envs.Env] as a parameter and as the element of a slice. Functions that do are written once for
// each world, with its State in place of the interface.
//
// A function that the target has itself (a kernel) is declared only: [Options.Externs]. A package-level pointer is data
// that the host hands over.
//
// [envs.Env]: https://pkg.go.dev/github.com/evoswarm/evoswarm/envs#Env
package translate
