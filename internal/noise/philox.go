package noise

// Constants of Philox4x32 (Salmon et al. 2011, table 2): the two multipliers and the two Weyl steps of the key.
const (
	mul0  = 0xD2511F53
	mul1  = 0xCD9E8D57
	weyl0 = 0x9E3779B9
	weyl1 = 0xBB67AE85
)

// Philox returns block ctr of the stream key: Philox4x32-10, a bijection of the counter for every key. Bit exact.
//
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011); Random123's known
// answers are its test.
func Philox(key [2]uint32, ctr [4]uint32) [4]uint32 {
	w0, w1, w2, w3 := rounds(key[0], key[1], ctr[0], ctr[1], ctr[2], ctr[3])
	return [4]uint32{w0, w1, w2, w3}
}

// rounds is Philox on plain words with its ten rounds unrolled, since Go keeps words in registers, but not arrays.
func rounds(k0, k1, c0, c1, c2, c3 uint32) (w0, w1, w2, w3 uint32) {
	c0, c1, c2, c3 = round(k0, k1, c0, c1, c2, c3)
	k0, k1 = k0+weyl0, k1+weyl1
	c0, c1, c2, c3 = round(k0, k1, c0, c1, c2, c3)
	k0, k1 = k0+weyl0, k1+weyl1
	c0, c1, c2, c3 = round(k0, k1, c0, c1, c2, c3)
	k0, k1 = k0+weyl0, k1+weyl1
	c0, c1, c2, c3 = round(k0, k1, c0, c1, c2, c3)
	k0, k1 = k0+weyl0, k1+weyl1
	c0, c1, c2, c3 = round(k0, k1, c0, c1, c2, c3)
	k0, k1 = k0+weyl0, k1+weyl1
	c0, c1, c2, c3 = round(k0, k1, c0, c1, c2, c3)
	k0, k1 = k0+weyl0, k1+weyl1
	c0, c1, c2, c3 = round(k0, k1, c0, c1, c2, c3)
	k0, k1 = k0+weyl0, k1+weyl1
	c0, c1, c2, c3 = round(k0, k1, c0, c1, c2, c3)
	k0, k1 = k0+weyl0, k1+weyl1
	c0, c1, c2, c3 = round(k0, k1, c0, c1, c2, c3)
	k0, k1 = k0+weyl0, k1+weyl1
	return round(k0, k1, c0, c1, c2, c3)
}

// rounds2 writes blocks n and n+1 of (seed, domain) to w. Their rounds are interleaved, since they are independent.
func rounds2(w *[8]uint32, seed, n uint64, domain uint32) {
	k0, k1 := uint32(seed), uint32(seed>>32)
	a0, a1, a2, a3 := uint32(n), uint32(n>>32), domain, uint32(0)
	b0, b1, b2, b3 := uint32(n+1), uint32((n+1)>>32), domain, uint32(0)
	a0, a1, a2, a3 = round(k0, k1, a0, a1, a2, a3)
	b0, b1, b2, b3 = round(k0, k1, b0, b1, b2, b3)
	k0, k1 = k0+weyl0, k1+weyl1
	a0, a1, a2, a3 = round(k0, k1, a0, a1, a2, a3)
	b0, b1, b2, b3 = round(k0, k1, b0, b1, b2, b3)
	k0, k1 = k0+weyl0, k1+weyl1
	a0, a1, a2, a3 = round(k0, k1, a0, a1, a2, a3)
	b0, b1, b2, b3 = round(k0, k1, b0, b1, b2, b3)
	k0, k1 = k0+weyl0, k1+weyl1
	a0, a1, a2, a3 = round(k0, k1, a0, a1, a2, a3)
	b0, b1, b2, b3 = round(k0, k1, b0, b1, b2, b3)
	k0, k1 = k0+weyl0, k1+weyl1
	a0, a1, a2, a3 = round(k0, k1, a0, a1, a2, a3)
	b0, b1, b2, b3 = round(k0, k1, b0, b1, b2, b3)
	k0, k1 = k0+weyl0, k1+weyl1
	a0, a1, a2, a3 = round(k0, k1, a0, a1, a2, a3)
	b0, b1, b2, b3 = round(k0, k1, b0, b1, b2, b3)
	k0, k1 = k0+weyl0, k1+weyl1
	a0, a1, a2, a3 = round(k0, k1, a0, a1, a2, a3)
	b0, b1, b2, b3 = round(k0, k1, b0, b1, b2, b3)
	k0, k1 = k0+weyl0, k1+weyl1
	a0, a1, a2, a3 = round(k0, k1, a0, a1, a2, a3)
	b0, b1, b2, b3 = round(k0, k1, b0, b1, b2, b3)
	k0, k1 = k0+weyl0, k1+weyl1
	a0, a1, a2, a3 = round(k0, k1, a0, a1, a2, a3)
	b0, b1, b2, b3 = round(k0, k1, b0, b1, b2, b3)
	k0, k1 = k0+weyl0, k1+weyl1
	a0, a1, a2, a3 = round(k0, k1, a0, a1, a2, a3)
	b0, b1, b2, b3 = round(k0, k1, b0, b1, b2, b3)
	w[7], w[6], w[5], w[4] = a0, a1, a2, a3 // one by one: an array would be made elsewhere and copied
	w[3], w[2], w[1], w[0] = b0, b1, b2, b3
}

// round is one round, small enough to be inlined.
func round(k0, k1, c0, c1, c2, c3 uint32) (w0, w1, w2, w3 uint32) {
	p := uint64(c0) * mul0
	q := uint64(c2) * mul1
	return uint32(q>>32) ^ (c1 ^ k0), uint32(q), uint32(p>>32) ^ (c3 ^ k1), uint32(p)
}

// keyOf splits a 64-bit seed into Philox's key, low word first.
func keyOf(seed uint64) [2]uint32 {
	return [2]uint32{uint32(seed), uint32(seed >> 32)}
}
