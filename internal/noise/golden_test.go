package noise

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"testing"

	"github.com/evoswarm/evoswarm/internal/golden"
)

func TestGoldenFillNormal(t *testing.T) {
	h := sha256.New()
	eps := make([]float32, 4099)
	for _, seed := range []uint64{0, 1, 1 << 32, 0x0123456789abcdef, math.MaxUint64} {
		for _, offset := range []int{0, 3, 8, 1<<31 - 9} {
			FillNormal(eps, seed, offset)
			binary.Write(h, binary.LittleEndian, eps)
		}
	}
	golden.Check(t, "fill_normal", h.Sum(nil))
}

func TestGoldenTable(t *testing.T) {
	h := sha256.New()
	binary.Write(h, binary.LittleEndian, table[:])
	golden.Check(t, "table", h.Sum(nil))
}

func TestGoldenStream(t *testing.T) {
	h := sha256.New()
	for _, domain := range []uint32{DomainPerturb, DomainInit, DomainEpisode, DomainStrategy} {
		s := NewStream(0xfedcba9876543210, domain)
		for range 1000 {
			binary.Write(h, binary.LittleEndian, s.Uint32())
			binary.Write(h, binary.LittleEndian, s.Uniform())
			binary.Write(h, binary.LittleEndian, s.UniformIn(-0.05, 0.05))
			binary.Write(h, binary.LittleEndian, s.IntN(-3, 1<<45))
			binary.Write(h, binary.LittleEndian, s.Normal())
			binary.Write(h, binary.LittleEndian, s.Uint64())
		}
	}
	golden.Check(t, "stream", h.Sum(nil))
}
