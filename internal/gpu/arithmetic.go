package gpu

import (
	"encoding/binary"
	"fmt"
	"math"

	_ "embed"

	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/worlds"
)

// The self-test of a device's arithmetic: a million triples, in pieces.
const (
	arithmeticTriples = 1 << 20
	arithmeticPiece   = 1 << 16
	arithmeticResults = 14 // words per triple
	groupSize         = 64 // work-items of a group, if nothing else is said
)

//go:generate go -C ../.. run ./internal/gpu/_gen

//go:embed device.cl
var deviceSource string

//go:embed arithmetic.cl
var arithmeticSource string

func arithmeticProgram() program {
	return program{name: "arithmetic", source: worlds.Prelude + deviceSource + arithmeticSource, ptx: func() string { return unpack("arithmetic") }, kernels: []string{"arithmetic", "peak", "sweep"}}
}

// operations names what each result of a triple is, for messages.
var operations = [arithmeticResults]string{
	"float32 x*y + z", "float32 x/y", "float32 sqrt(|x|)", "float32 x - y", "int32(float32 x)",
	"float64 x*y + z", "float64 x/y", "float64 sqrt(|x|)", "int64(float64 x)",
	"float32(float64 x)", "float64(int64 x) + float64(float32 x)", "float64 floor(x), trunc(y)",
	"uint64 x*y, shifts", "int64 x*y, shifts",
}

// testArithmetic compares a device's arithmetic with Go's. Errors that wrap ErrDiffers say what differed.
func testArithmetic(s session) error {
	if err := s.build(arithmeticProgram()); err != nil {
		return err
	}
	in, err := s.alloc(24 * arithmeticPiece)
	if err != nil {
		return err
	}
	defer s.free(in)
	out, err := s.alloc(8 * arithmeticResults * arithmeticPiece)
	if err != nil {
		return err
	}
	defer s.free(out)
	words, draws := make([]byte, 24*arithmeticPiece), noise.NewStream(1, noise.DomainRandom)
	got := make([]byte, 8*arithmeticResults*arithmeticPiece)
	for range arithmeticTriples / arithmeticPiece {
		for at := 0; at < len(words); at += 8 {
			binary.LittleEndian.PutUint64(words[at:], operand(&draws))
		}
		if err := s.write(in, 0, words); err != nil {
			return err
		}
		if err := s.run("arithmetic", arithmeticPiece, groupSize, in, out, int32(arithmeticPiece)); err != nil {
			return err
		}
		if err := s.read(out, 0, got); err != nil {
			return err
		}
		if err := compareArithmetic(words, got); err != nil {
			return err
		}
	}
	return nil
}

// operand draws a word that is interesting as an integer, as a float32 in its low half, or as a float64. An eighth each
// are any bits at all, denormal numbers, and special values; the rest have exponents near each other, so that
// sums round.
func operand(draws *noise.Stream) uint64 {
	w, kind := draws.Uint64(), draws.Uint32()
	switch kind & 7 {
	case 0:
		return w
	case 1: // denormal as float32 and as float64
		return w & 0x800fffff_807fffff
	case 2:
		special := [8]uint64{0, 0x80000000_80000000, 0x7ff00000_7f800000, 0xfff00000_ff800000, 0x7ff80000_7fc00000, 0x00100000_00800000, 0x7fefffff_7f7fffff, 0x3ff00000_3f800000}
		return special[kind>>3&7]
	}
	const exponents = 0x7ff00000_7f800000
	near := uint64(1015+kind>>3&15)<<52 | uint64(119+kind>>7&15)<<23
	return w&^exponents | near
}

// compareArithmetic compares the results of triples with Go's.
func compareArithmetic(words, got []byte) error {
	le := binary.LittleEndian
	for i := range len(words) / 24 {
		x, y, z := le.Uint64(words[24*i:]), le.Uint64(words[24*i+8:]), le.Uint64(words[24*i+16:])
		want := arithmetic(x, y, z)
		for k, w := range want {
			if g := le.Uint64(got[8*(arithmeticResults*i+k):]); g != w {
				return fmt.Errorf("%w: %s of %#x, %#x, %#x is %#x, want %#x; the CPU's cores compute", ErrDiffers, operations[k], x, y, z, g, w)
			}
		}
	}
	return nil
}

// arithmetic is what arithmetic.cl computes of a triple. Explicit conversions keep Go from contracting products.
func arithmetic(x, y, z uint64) (r [arithmeticResults]uint64) {
	a, b, c := math.Float32frombits(uint32(x)), math.Float32frombits(uint32(y)), math.Float32frombits(uint32(z))
	r[0] = bits32(float32(a*b) + c)
	r[1] = bits32(a / b)
	r[2] = bits32(float32(math.Sqrt(math.Abs(float64(a))))) // rounding twice gives the nearest float32, too
	r[3] = bits32(a - b)
	if a > -(1<<31) && a < 1<<31 {
		r[4] = uint64(int64(int32(a)))
	}
	d, e, f := math.Float64frombits(x), math.Float64frombits(y), math.Float64frombits(z)
	r[5] = bits64(float64(d*e) + f)
	r[6] = bits64(d / e)
	r[7] = bits64(math.Sqrt(math.Abs(d)))
	if d > -(1<<63) && d < 1<<63 {
		r[8] = uint64(int64(d))
	}
	r[9] = bits32(float32(d))
	r[10] = bits64(float64(int64(x)) + float64(a))
	r[11] = bits64(math.Floor(d)) ^ bits64(math.Trunc(e))
	r[12] = (x*y ^ z<<(x&63)) + z>>(y&63)
	r[13] = uint64(int64(int32(x))*int64(int32(y))) + uint64(int64(z)>>(y&63)) + uint64(uint32(x)*uint32(z))
	return r
}

// bits32 has one NaN for all.
func bits32(x float32) uint64 {
	if x != x {
		return 0x7fc00000
	}
	return uint64(math.Float32bits(x))
}

func bits64(x float64) uint64 {
	if x != x {
		return 0x7ff8000000000000
	}
	return math.Float64bits(x)
}
