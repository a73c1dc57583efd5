// The arithmetic that runs rely on, with the bits of its results. Tests in Go compute the same (arithmetic.go).

// One NaN for all, since processors differ in its sign and payload.
static VALUE uint bits32(float x) { return x != x ? 0x7fc00000u : as_uint(x); }
static VALUE ulong bits64(double x) { return x != x ? 0x7ff8000000000000ul : as_ulong(x); }

// words holds three words for each triple and results fourteen.
__kernel void arithmetic(__global const ulong *words, __global ulong *results, int n) {
  ulong i = ITEM;
  if (i >= (ulong)n) return;
  ulong x = words[3 * i], y = words[3 * i + 1], z = words[3 * i + 2];
  __global ulong *r = results + 14 * i;
  float a = as_float((uint)x), b = as_float((uint)y), c = as_float((uint)z);
  float ab = a * b;
  r[0] = bits32(ab + c);
  r[1] = bits32(a / b);
  r[2] = bits32(ROOT32(as_float((uint)x & 0x7fffffffu)));
  r[3] = bits32(a - b);
  // Within the range of an int; NaN is 0.
  float near = a == a && a > -2147483648.0f && a < 2147483648.0f ? a : 0.0f;
  r[4] = (ulong)(long)(int)near;
  double d = as_double(x), e = as_double(y), f = as_double(z);
  double de = d * e;
  r[5] = bits64(de + f);
  r[6] = bits64(d / e);
  r[7] = bits64(go_sqrt(as_double(x & 0x7ffffffffffffffful)));
  double wide = d == d && d > -9223372036854775808.0 && d < 9223372036854775808.0 ? d : 0.0;
  r[8] = (ulong)(long)wide;
  r[9] = bits32((float)d);
  r[10] = bits64((double)(long)x + (double)a);
  r[11] = bits64(go_floor(d)) ^ bits64(go_trunc(e));
  r[12] = (x * y ^ z << (x & 63)) + (z >> (y & 63));
  r[13] = (ulong)((long)(int)x * (long)(int)y) + (ulong)((long)z >> (y & 63)) + (ulong)(uint)((uint)x * (uint)z);
}

// peak makes 8 products and sums in each round: what layers could be at most.
__kernel void peak(__global float *out, int n, int rounds) {
  ulong i = ITEM;
  if (i >= (ulong)n) return;
  float x = 0.999f, y = 0.001f * (float)(i % 64);
  float a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
  for (int k = 0; k < rounds; k++) {
    float p = a * x, q = b * x, r = c * x, s = d * x, t = e * x, u = f * x, v = g * x, w = h * x;
    a = p + y; b = q + y; c = r + y; d = s + y; e = t + y; f = u + y; g = v + y; h = w + y;
  }
  out[i] = a + b + c + d + e + f + g + h;
}

// sweep reads each four in turn, neighbors next to each other.
__kernel void sweep(__global const float4 *in, __global float *out, int n, long fours) {
  ulong i = ITEM;
  if (i >= (ulong)n) return;
  float4 sum = in[i];
  for (long k = (long)i + n; k < fours; k += n) sum += in[k];
  out[i] = sum.x + sum.y + sum.z + sum.w;
}
