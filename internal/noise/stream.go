package noise

// wordMax is 2^32, float64.
const wordMax = 1 << 32

// Stream draws numbers one after another from (seed, domain). It is a flat value without pointers: a copy made
// with = continues independently from the same position. Environments receive a pointer as a parameter and
// never keep it. The zero Stream is the stream of seed 0 and [DomainPerturb]; use [NewStream] or [Scripted]. One
// goroutine may use a stream at a time. Bit exact.
type Stream struct {
	seed   uint64
	block  uint64    // number of the next block, or of the script's next draw
	words  [8]uint32 // two blocks: side by side they take little longer than one
	domain uint32
	left   uint32 // words not yet used; 0 of a script
	script uint32 // which script it reads, 0 for none
}

// NewStream returns the stream of seed in domain, at its beginning. Its words are those of the Philox blocks with key
// (low, high word of seed) and counters (n low, n high, domain, 0) for n = 0, 1, 2, ..., word 0 first.
func NewStream(seed uint64, domain uint32) Stream {
	return Stream{seed: seed, domain: domain}
}

// Uint32 returns the next word, uniformly distributed. Scripted: floor(u * 2^32).
func (s *Stream) Uint32() uint32 {
	if s.left == 0 {
		return s.firstWord()
	}
	s.left--
	return s.words[s.left&7]
}

// firstWord is Uint32 when no word is left. It is separate so that Uint32 is small enough to be inlined.
func (s *Stream) firstWord() uint32 {
	if s.scripted() {
		return uint32(float64(s.next() * wordMax))
	}
	s.refill()
	s.left--
	return s.words[7]
}

// Uint64 returns the next two words, uniformly distributed, the first one as the low half. Scripted: floor(u *
// 2^64), from one number.
func (s *Stream) Uint64() uint64 {
	if s.scripted() {
		// Round before converting: compilers convert to uint64 with a subtraction, into which they would fuse
		// the product.
		return uint64(float64(s.next()*(1<<53))) << 11
	}
	lo := s.Uint32()
	return uint64(s.Uint32())<<32 | uint64(lo)
}

// Uniform returns u in [0, 1), a multiple of 2^-53: the upper 27 bits of the next word are its upper bits, the upper
// 26 bits of the word after it its lower bits. Scripted: u.
func (s *Stream) Uniform() float64 {
	if s.scripted() {
		return s.next()
	}
	hi := s.Uint32() >> 5
	lo := s.Uint32() >> 6
	return float64(float64(int64(hi)<<26|int64(lo)) * (1.0 / (1 << 53)))
}

// UniformIn returns low + u (high - low) with u from [Stream.Uniform]: in [low, high] for low <= high, where
// only rounding can give high itself. Both bounds and high - low must be finite.
func (s *Stream) UniformIn(low, high float64) float64 {
	return low + float64(s.Uniform()*(high-low))
}

// IntN returns low + floor(u (high - low)) with u from [Stream.Uniform]: an integer in [low, high), high excluded.
// It panics unless high - low is in 1 .. 2^53.
func (s *Stream) IntN(low, high int64) int64 {
	n := high - low
	if low >= high || n <= 0 || n > 1<<53 {
		panic("noise: IntN needs low < high <= low + 2^53")
	}
	// u <= 1 - 2^-53 keeps the rounded product below n; it is not negative, so the conversion is the floor.
	return low + int64(s.Uniform()*float64(n))
}

// Normal returns a sample of N(0, 1) from the Gaussian table; its index is the low half of the next word, whose high
// half is not used. Scripted: the entry floor(u * 65536).
func (s *Stream) Normal() float32 {
	if s.scripted() {
		return Quantile(uint16(float64(s.next() * TableSize)))
	}
	return Quantile(uint16(s.Uint32()))
}

func (s *Stream) refill() {
	rounds2(&s.words, s.seed, s.block, s.domain)
	s.left = 8
	s.block += 2
}
