package translate

import "strings"

// What differs between the targets, besides address spaces.

// longSuffix marks a constant of 64 bits.
func (t *translation) longSuffix() string {
	if t.Target == OpenCL {
		return "l" // the language has no long long; long has 64 bits
	}
	return "ll"
}

// tableWords precede a package-level table.
func (t *translation) tableWords() string {
	switch t.Target {
	case OpenCL:
		return "__constant "
	case CUDA:
		return "static __constant__ const "
	}
	return "static const "
}

// reserved are names that a target has taken: keywords, types of prelude.h, functions of its library.
var reserved = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`auto break case char const continue default do double else enum extern float for goto if inline int long
		register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
		half bool uint uchar ulong ushort kernel global local constant private sampler_t image2d_t event_t
		min max clamp step mix sign select dot cross length normalize distance round abs mad fma rotate any all exp log tanh sin cos sqrt
		fract sub add shuffle degrees radians smoothstep ceil floor trunc fabs pow
		i32 u32 i64 u64 f32 f64 u8 u16 main near far time y0 y1 j0 j1 index
		this new delete class template operator virtual public protected namespace using typename friend catch try throw
		float2 float3 float4 int2 int3 int4 asm typeof`) {
		m[w] = true
	}
	return m
}()

// safe returns a name that no target has taken.
func safe(s string) string {
	if reserved[s] {
		return s + "_"
	}
	return s
}
