package noise

import "testing"

func BenchmarkFillNormal(b *testing.B) {
	dst := make([]float32, 1<<14)
	b.SetBytes(4 << 14)
	for b.Loop() {
		FillNormal(dst, 1, 0)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(1<<14), "ns/sample")
}

func BenchmarkPhilox(b *testing.B) {
	var sum uint32
	for b.Loop() {
		sum += Philox([2]uint32{1, 2}, [4]uint32{sum})[0]
	}
	sinkWord = sum
}

var sinkWord uint32
