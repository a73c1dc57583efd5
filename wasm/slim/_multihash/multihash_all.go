// Package all takes the place of multihash's, which registers BLAKE2, BLAKE3, Murmur3 and SHA-3, in the tab's program
// alone (wasm/slim). Links of runs are SHA-256 (docs/spec/seedlog.md), which multihash has without it.
package all
