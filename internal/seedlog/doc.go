// Package seedlog defines the seed log: the blocks of a run, the rules that make one valid,
// the file that holds them, and replay, which folds them back into the model.
//
// Floor 2, learning: floors 2 to 6 import it.
//
// Every block is one canonical DAG-CBOR item named by its CID (v1, dag-cbor, sha2-256). The bytes are
// specified, with an example, in docs/spec/seedlog.md. A run is a chain:
//
//	genesis (the [Spec]) <- entry 1 <- entry 2 <- ...
//
// and every [Entry] links the [Claim] blocks that its update was computed from. A [Seal] makes an entry
// valid, but no link names it, so signing again cannot change a parent, a seed or a draw.
//
// All of the package is bit exact or canonical: the same bytes in give the same bytes out on every target.
package seedlog
