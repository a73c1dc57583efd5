// Package kernel is the inner loops of a run: dense layers, activations, perturbing parameters, accumulating updates.
//
// Floor 0, numbers: floors 0 to 6 import it.
//
// Each function has one meaning down to the last bit: every product is rounded before it is added, and the
// order of every sum is pinned by its comment. The Portable kernel, plain Go, defines it. Faster ones must
// give the same bits, which [SelfTest] checks: assembly for SSE2, AVX2 and AVX-512 (amd64) and for NEON
// (arm64), and for js/wasm a module of WebAssembly with SIMD128, if the host gives it to the program
// (border.mjs). The programs of _gen make them; the tag purego leaves them out. One is chosen at the start of
// a program, by [UseFastest] or [Use]; until then it is Portable.
//
// The functions of this package are intrinsics of the kernel subset of Go: step code may call them, but never chooses
// among them. None allocates, keeps its arguments or makes them escape to the heap. Slices that are written must not
// overlap others unless a comment allows it. Wrong lengths panic. All is bit exact, but for the sign and the payload
// of a NaN, which differ between processors; a NaN never leaves an evaluation.
package kernel

//go:generate go -C _gen run ./amd64 -pkg kernel -out ../asm_amd64.s -stubs ../asm_amd64.go
//go:generate go -C _gen run ./arm64 -out ..
//go:generate go -C _gen run ./simd128 -out ..
