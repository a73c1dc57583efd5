// Package gpu computes on devices: GPUs and others that OpenCL drivers offer, and NVIDIA's through CUDA's driver.
//
// Floor 4, adapters: floors 5 and 6 import it.
//
// It needs no cgo, no toolkit and nothing at build time: it opens libOpenCL.so.1 and libcuda.so.1 where the computer
// has them (Linux on amd64 and arm64; the build tag nogpu leaves them out). The programs for devices are text that
// OpenCL drivers compile, and PTX made from the same text for CUDA.
//
// A device is used only while it gives the bits of Go: [Open] tests its arithmetic, and what it computes later is
// checked again and again. Every error says in words what is wrong; the cores compute then.
package gpu
