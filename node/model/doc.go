// Package model holds trained policies outside of their logs: written as safetensors, npz or JSON for others
// to use, and read back to be evaluated.
//
// A file names the environment, the policy, and the run and entry that the parameters come from, so that it
// is complete by itself. docs/spec/model.md describes the formats. The same model gives the same bytes in
// every format, and reading gives back the same bits.
//
// Files may come from strangers: no memory is allocated for what a header merely states.
package model
