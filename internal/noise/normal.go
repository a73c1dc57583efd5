package noise

import (
	_ "embed"
	"encoding/binary"
)

// TableSize is the number of entries of the Gaussian table, which are all values that a sample can take.
const TableSize = 1 << 16

// TableSHA256 is the digest of normal.bin, the little-endian float32 of the positive half of the Gaussian table. A
// translation of the table for another device (OpenCL, C) checks its copy against it.
const TableSHA256 = "6621a18f629e82396c088501c1095eae46f6d8033b42db7b4158e0f4cf34a0ce"

// normalHalf holds entry 32768+j as a little-endian float32. The program in _gen generates it.
//
//go:generate go -C ../.. run ./internal/noise/_gen
//go:embed normal.bin
var normalHalf string

// table is the whole Gaussian table: entry i is the standard normal quantile at (i + 0.5) / 65536, correctly rounded,
// and entry 65535-i is its negative. It takes 256 KiB, is computed once at start and never changes.
var table = expand(normalHalf)

func expand(half string) *[TableSize]float32 {
	const n = TableSize / 2
	positive := make([]float32, n)
	if _, err := binary.Decode([]byte(half), binary.LittleEndian, positive); err != nil || len(half) != 4*n {
		panic("noise: normal.bin is damaged")
	}
	t := new([TableSize]float32)
	for j, v := range positive {
		t[n+j] = v
		t[n-1-j] = -v
	}
	return t
}

// Quantile returns entry i of the Gaussian table: the standard normal quantile at (i + 0.5) / 65536, in [-4.3269,
// 4.3269], correctly rounded; Quantile(65535-i) is -Quantile(i). Bit exact.
func Quantile(i uint16) float32 { return table[i] }

// Table returns the Gaussian table, entry i at index i, for kernels in assembly. Callers must not change it.
func Table() *[TableSize]float32 { return table }

// NormalAt returns component i >= 0 of the perturbation for seed, the value that [FillNormal] writes there.
// It is slow. Component i is lane i mod 8 of block i / 8. A block is Philox with key (low, high word of seed)
// and counter (low, high word of the block's number, DomainPerturb, 0); its lanes are the low and the high
// half of word 0, the low and the high half of word 1, and so on, each an index into the Gaussian table. Bit
// exact.
func NormalAt(seed uint64, i int) float32 {
	block := uint64(i) / 8
	lane := i % 8
	words := Philox(keyOf(seed), [4]uint32{uint32(block), uint32(block >> 32), DomainPerturb, 0})
	return Quantile(uint16(words[lane/2] >> (16 * (lane % 2))))
}

// FillNormal writes components offset .. offset+len(dst)-1 of the perturbation eps ~ N(0, I) for seed to dst.
// offset >= 0 needs no alignment, so a long vector can be generated in parts, in any order, with the same
// values. Mean 0 by symmetry, variance 0.99998, kurtosis 2.9992, 65,536 distinct values. dst is owned by the
// caller; FillNormal does not allocate. Bit exact.
func FillNormal(dst []float32, seed uint64, offset int) {
	if offset < 0 {
		panic("noise: negative offset")
	}
	for len(dst) > 0 && offset%8 != 0 {
		dst[0] = NormalAt(seed, offset)
		dst = dst[1:]
		offset++
	}
	k0, k1 := uint32(seed), uint32(seed>>32)
	block := uint64(offset) / 8
	for ; len(dst) >= 8; block++ {
		w0, w1, w2, w3 := rounds(k0, k1, uint32(block), uint32(block>>32), DomainPerturb, 0)
		fillBlock((*[8]float32)(dst), w0, w1, w2, w3)
		dst = dst[8:]
	}
	for i := range dst {
		dst[i] = NormalAt(seed, int(block*8)+i)
	}
}

// fillBlock writes the eight samples of one block.
func fillBlock(d *[8]float32, w0, w1, w2, w3 uint32) {
	t := table
	d[0] = t[uint16(w0)]
	d[1] = t[w0>>16]
	d[2] = t[uint16(w1)]
	d[3] = t[w1>>16]
	d[4] = t[uint16(w2)]
	d[5] = t[w2>>16]
	d[6] = t[uint16(w3)]
	d[7] = t[w3>>16]
}
