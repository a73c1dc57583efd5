/* Records what this machine's sinf and cosf return, as one hash per block of
 * 2^24 consecutive float32 bit patterns, for all 2^32 patterns, and once more
 * over the patterns that are multiples of STRIDE.
 *
 *   gcc -O2 -fno-builtin -o /tmp/glibc_sincosf testdata/glibc_sincosf.c -lm
 *   GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-AVX2 /tmp/glibc_sincosf > testdata/glibc_sincosf.txt
 *
 * The tunable makes the dynamic linker choose the variants without fused
 * multiply-add. -fno-builtin and the volatile pointers keep gcc from folding
 * or merging the calls.
 *
 * Hash: FNV-1a/64 whose unit is the 32-bit result word and not the byte, so
 * h = (h ^ bits) * 0x100000001b3 from 0xcbf29ce484222325; it depends on no byte
 * order. Every NaN counts as 0x7fc00000.
 */
#include <gnu/libc-version.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define OFFSET 0xcbf29ce484222325ULL
#define PRIME 0x100000001b3ULL
#define STRIDE 257u

static float (*volatile sin_fn)(float) = sinf;
static float (*volatile cos_fn)(float) = cosf;

static uint64_t step(uint64_t h, float y)
{
	uint32_t b;

	memcpy(&b, &y, sizeof b);
	if (y != y)
		b = 0x7fc00000u;
	return (h ^ b) * PRIME;
}

static float from_bits(uint32_t b)
{
	float x;

	memcpy(&x, &b, sizeof x);
	return x;
}

int main(void)
{
	uint64_t hs = OFFSET, hc = OFFSET;
	uint64_t i;

	printf("# glibc %s, non-FMA sinf and cosf; made by glibc_sincosf.c\n", gnu_get_libc_version());
	printf("# stride or block, FNV-1a/64 over the words of sinf, of cosf\n");
	for (i = 0; i < 1ULL << 32; i += STRIDE) {
		float x = from_bits((uint32_t)i);

		hs = step(hs, sin_fn(x));
		hc = step(hc, cos_fn(x));
	}
	printf("stride%u %016llx %016llx\n", STRIDE, (unsigned long long)hs, (unsigned long long)hc);
	for (i = 0; i < 1ULL << 32; i++) {
		float x = from_bits((uint32_t)i);

		if ((i & 0xffffff) == 0)
			hs = hc = OFFSET;
		hs = step(hs, sin_fn(x));
		hc = step(hc, cos_fn(x));
		if ((i & 0xffffff) == 0xffffff) {
			printf("%02x %016llx %016llx\n", (unsigned)(i >> 24),
			       (unsigned long long)hs, (unsigned long long)hc);
			fflush(stdout);
		}
	}
	return 0;
}
