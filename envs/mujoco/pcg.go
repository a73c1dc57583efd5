package mujoco

// Pcg returns the next state of the generator PCG32 with increment 1. It shuffles the order in which projected
// Gauss-Seidel visits constraints.
func Pcg(state uint64) uint64 { return state*6364136223846793005 + 1 }

// PcgWord returns the word that the generator gives in the given state.
func PcgWord(state uint64) uint32 {
	x := uint32(((state >> 18) ^ state) >> 27)
	turn := uint32(state >> 59)
	return x>>turn | x<<((32-turn)&31)
}
