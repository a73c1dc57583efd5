// Package model holds trained policies outside of their logs: written as safetensors, npz or JSON for others to use, and
// read back to be evaluated.
//
// A file names the world, the policy, and the run and entry that the parameters come from, so that it needs nothing
// beside it. What the formats look like is written down in docs/spec/model.md. The same model gives the same bytes in
// every format, and reading gives back the same bits.
//
// Files may come from anybody: nothing is allocated for what a header merely states.
package model
