package episode

// The parts of mem, each with a row for each lane: observations, observations as the policy sees them, and the
// outputs of the layers, which write to two buffers alternately.

// layers returns the two buffers.
func (s *Setup) layers(mem []float32) (a, b []float32) {
	at, n := 2*int(s.Lanes)*int(s.ObsDim), int(s.Lanes)*int(s.Widest)
	return mem[at : at+n], mem[at+n : at+2*n]
}

// decide chooses the next actions of the first n lanes.
func decide(s *Setup, lanes []Lane, n int, theta, norm, mem []float32, bounds, work []float64, sums []uint64) {
	obsDim, actDim := int(s.ObsDim), int(s.ActDim)
	obs, act, jitter := mem[:n*obsDim], work[:n*actDim], work[:0]
	if len(sums) > 0 {
		words := SumsLen(obsDim)
		for i := range n {
			at := int(lanes[i].index) * words
			Add(sums[at:at+words], obs[i*obsDim:(i+1)*obsDim])
		}
	}
	if s.Jitter != 0 {
		jitter = work[int(s.Lanes)*actDim : (int(s.Lanes)+n)*actDim]
		for i := range n {
			for k := range actDim {
				draw := lanes[i].draws.Normal()
				jitter[i*actDim+k] = float64(s.Jitter * float64(draw))
			}
		}
	}
	if s.Normalize {
		seen := mem[int(s.Lanes)*obsDim : (int(s.Lanes)+n)*obsDim]
		Normalize(seen, obs, norm[:obsDim], norm[obsDim:2*obsDim], s.Clip)
		obs = seen
	}
	a, b := s.layers(mem)
	s.Net.Act(theta, obs, a, b, n, act, actDim, bounds[:len(bounds)/2], bounds[len(bounds)/2:], jitter)
}

// Normalize writes (obs - mean) * scale to dst, row by row, clamped to ±clip; NaN becomes -clip.
func Normalize(dst, obs, mean, scale []float32, clip float32) {
	n := len(scale)
	for at := 0; at < len(obs); at += n {
		for i := range n {
			y := (obs[at+i] - mean[i]) * scale[i]
			if !(y > -clip) {
				y = -clip
			} else if y > clip {
				y = clip
			}
			dst[at+i] = y
		}
	}
}
