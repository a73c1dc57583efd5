// Package kernel holds the inner loops of a run: dense layers, activations, perturbing parameters,
// accumulating updates.
//
// Floor 0, numbers: floors 0 to 6 import it.
//
// Each function is defined down to the last bit: every product is rounded before it is added, and the comment
// fixes the order of every sum. The Portable kernel, in plain Go, is the reference. Faster kernels must give
// the same bits, which [SelfTest] checks: assembly for SSE2, AVX2 and AVX-512 (amd64) and for NEON (arm64),
// and for js/wasm a WebAssembly module with SIMD128, if the host provides it (border.mjs). The programs in
// _gen generate them; the build tag purego leaves them out. A program chooses a kernel at its start with
// [UseFastest] or [Use]; until then Portable is active.
//
// The functions of this package are intrinsics of the kernel subset of Go: step code may call them, but never
// chooses the kernel. None allocates, keeps its arguments or makes them escape to the heap. Slices that are
// written must not overlap others unless a comment allows it. Wrong lengths panic. Everything is bit exact
// except the sign and the payload of a NaN, which differ between processors; a NaN never leaves an
// evaluation.
package kernel

//go:generate go -C _gen run ./amd64 -pkg kernel -out ../asm_amd64.s -stubs ../asm_amd64.go
//go:generate go -C _gen run ./arm64 -out ..
//go:generate go -C _gen run ./simd128 -out ..
