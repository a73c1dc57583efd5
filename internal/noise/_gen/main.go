// Command _gen writes normal.bin, the positive half of the Gaussian table of package noise:
//
//	go run ./internal/noise/_gen   (in the module's root)
//
// Entry j, a little-endian float32, is the standard normal quantile at p = (32768 + j + 0.5) / 65536, correctly
// rounded. A guess in float64 is moved until the distribution function, summed in 192-bit arithmetic, brackets p at
// the two rounding boundaries of the float32: so the result does not depend on the guess, nor on this machine's math.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"math/big"
	"os"
)

const (
	half = 1 << 15
	prec = 192
	path = "internal/noise/normal.bin"
)

// pi to 70 digits: 230 bits, more than prec.
const piDigits = "3.141592653589793238462643383279502884197169399375105820974944592307816"

func main() {
	log.SetFlags(0)
	root := invSqrt2Pi()
	out := make([]byte, 0, 4*half)
	for j := 0; j < half; j++ {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(quantile(j, root)))
	}
	if err := os.WriteFile(path, out, 0o644); err != nil {
		log.Fatalf("noise/_gen: %v", err)
	}
	fmt.Printf("%s: sha256 %x\n", path, sha256.Sum256(out))
}

// quantile returns entry j: the float32 f with cdf(boundary below f) < p < cdf(boundary above f).
func quantile(j int, root *big.Float) float32 {
	// p - 1/2 = (2j+1)/2^17, exact in float64.
	q := float64(2*j+1) / (1 << 17)
	f := float32(math.Sqrt2 * math.Erfinv(2*q))
	want := new(big.Float).SetPrec(prec).SetFloat64(q)
	for {
		below := middle(math.Nextafter32(f, 0), f)
		above := middle(f, math.Nextafter32(f, math.MaxFloat32))
		switch {
		case cdf(below, root).Cmp(want) > 0:
			f = math.Nextafter32(f, 0)
		case cdf(above, root).Cmp(want) < 0:
			f = math.Nextafter32(f, math.MaxFloat32)
		default:
			return f
		}
	}
}

// middle is exact: two neighboring float32 have 25 bits together.
func middle(a, b float32) *big.Float {
	return new(big.Float).SetPrec(prec).SetFloat64((float64(a) + float64(b)) / 2)
}

// cdf returns Phi(x) - 1/2 = 1/sqrt(2 pi) * sum over n of (-1)^n x^(2n+1) / (2^n n! (2n+1)), for 0 <= x < 5. The
// largest term is below e^12.5 / 5, so that 20 of the 192 bits are lost at most.
func cdf(x, root *big.Float) *big.Float {
	sq := num(0).Mul(x, x)
	sq.Quo(sq, num(-2))
	power := num(0).Set(x)
	sum := num(0).Set(x)
	for n := int64(1); ; n++ {
		power.Mul(power, sq)
		power.Quo(power, num(n))
		term := num(0).Quo(power, num(2*n+1))
		if term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-prec {
			return sum.Mul(sum, root)
		}
		sum.Add(sum, term)
	}
}

func invSqrt2Pi() *big.Float {
	pi, _, err := big.ParseFloat(piDigits, 10, prec, big.ToNearestEven)
	if err != nil {
		log.Fatal(err)
	}
	pi.Mul(pi, num(2))
	pi.Sqrt(pi)
	return num(0).Quo(num(1), pi)
}

func num(n int64) *big.Float { return new(big.Float).SetPrec(prec).SetInt64(n) }
