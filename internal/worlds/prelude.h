// What the translation of step code takes for granted: types, bit casts, the exact functions of Go's package math, and
// Go's shifts, divisions, conversions, min and max. It precedes the text that internal/translate writes, in C99, C++17
// (CUDA) and OpenCL C 1.2. Compile without contraction: -ffp-contract=off, --fmad=false.
#ifndef EVOSWARM_PRELUDE
#define EVOSWARM_PRELUDE
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
typedef uchar u8;
typedef ushort u16;
typedef int i32;
typedef uint u32;
typedef long i64;
typedef ulong u64;
typedef float f32;
typedef double f64;
#define FN static
#define ROOT
#define EXTERN
#define INLINE static inline
#define LIT(T, ...) ((T){__VA_ARGS__})
#define ZERO(T) ((T){0})
#define go_sqrt(x) sqrt((f64)(x))
#define go_floor(x) floor((f64)(x))
#define go_trunc(x) trunc((f64)(x))
#define go_abs(x) fabs((f64)(x))
#define go_copysign(x, y) copysign((f64)(x), (f64)(y))
#define go_f32bits(x) as_uint((f32)(x))
#define go_f32from(x) as_float((u32)(x))
#define go_f64bits(x) as_ulong((f64)(x))
#define go_f64from(x) as_double((u64)(x))
#define go_panic() ((void)0)
#else
#if defined(__clang__) && !defined(__CUDA__)
#pragma STDC FP_CONTRACT OFF
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error "this target computes floats with more precision than their types have"
#endif
#ifdef __FAST_MATH__
#error "fast math changes bits"
#endif
typedef unsigned char u8;
typedef unsigned short u16;
typedef int i32;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
#if defined(__CUDA__) || defined(__CUDACC__)
#ifndef __CUDACC_RTC__
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __global__ __attribute__((global))
#endif
#define FN static __device__
#define ROOT __device__
#define EXTERN extern __device__
#define INLINE static inline __device__
#define LIT(T, ...) (T{__VA_ARGS__})
#define ZERO(T) (T{})
// Of the device library: correctly rounded, like the instructions they stand for.
extern "C" __device__ double __nv_sqrt(double);
extern "C" __device__ double __nv_floor(double);
extern "C" __device__ double __nv_trunc(double);
#define go_sqrt __nv_sqrt
#define go_floor __nv_floor
#define go_trunc __nv_trunc
#else
#define FN static inline
#define ROOT
#define EXTERN extern
#define INLINE static inline
#define LIT(T, ...) ((T){__VA_ARGS__})
#define ZERO(T) ((T){0})
#define go_sqrt __builtin_sqrt
#define go_floor __builtin_floor
#define go_trunc __builtin_trunc
#endif
#define go_abs __builtin_fabs
#define go_copysign __builtin_copysign
#define go_panic() __builtin_trap()
INLINE u32 go_f32bits(f32 x) { u32 u; __builtin_memcpy(&u, &x, 4); return u; }
INLINE f32 go_f32from(u32 x) { f32 u; __builtin_memcpy(&u, &x, 4); return u; }
INLINE u64 go_f64bits(f64 x) { u64 u; __builtin_memcpy(&u, &x, 8); return u; }
INLINE f64 go_f64from(u64 x) { f64 u; __builtin_memcpy(&u, &x, 8); return u; }
#endif

INLINE f64 go_inf(i64 sign) { return go_f64from(sign >= 0 ? (u64)0x7ff << 52 : (u64)0xfff << 52); }

// Shifts by any number: Go's result from the width on is 0, or -1 for a negative number shifted to the right. A negative
// count is a panic.
INLINE u64 go_count(i64 n) { if (n < 0) go_panic(); return (u64)n; }
#define SHIFTS(T, U, W) \
  INLINE T go_shl_##T(T x, u64 n) { return n < W ? (T)((U)x << n) : (T)0; } \
  INLINE T go_shr_##T(T x, u64 n) { return n < W ? (T)(x >> n) : (T)(x < 0 ? -1 : 0); }
#define UNSIGNED_SHIFTS(T, W) \
  INLINE T go_shl_##T(T x, u64 n) { return n < W ? (T)(x << n) : (T)0; } \
  INLINE T go_shr_##T(T x, u64 n) { return n < W ? (T)(x >> n) : (T)0; }
SHIFTS(i32, u32, 32)
SHIFTS(i64, u64, 64)
UNSIGNED_SHIFTS(u16, 16)
UNSIGNED_SHIFTS(u32, 32)
UNSIGNED_SHIFTS(u64, 64)

// Division: 0 is a panic, and the smallest integer by -1 is itself.
#define INTEGERS(T, U) \
  INLINE T go_div_##T(T x, T y) { if (y == 0) go_panic(); return y == -1 ? (T)(0 - (U)x) : x / y; } \
  INLINE T go_rem_##T(T x, T y) { if (y == 0) go_panic(); return y == -1 ? 0 : x % y; } \
  INLINE T go_min_##T(T x, T y) { return x < y ? x : y; } \
  INLINE T go_max_##T(T x, T y) { return x > y ? x : y; }
#define UNSIGNED_INTEGERS(T) \
  INLINE T go_div_##T(T x, T y) { if (y == 0) go_panic(); return x / y; } \
  INLINE T go_rem_##T(T x, T y) { if (y == 0) go_panic(); return x % y; } \
  INLINE T go_min_##T(T x, T y) { return x < y ? x : y; } \
  INLINE T go_max_##T(T x, T y) { return x > y ? x : y; }
INTEGERS(i32, u32)
INTEGERS(i64, u64)
UNSIGNED_INTEGERS(u32)
UNSIGNED_INTEGERS(u64)

// Go's min and max of floats: NaN if one is NaN, and -0 below +0.
#define FLOATS(T, BITS) \
  INLINE T go_min_##T(T x, T y) { if (x != x) return x; if (x == 0 && y == 0) return (BITS(x) >> (8 * sizeof(T) - 1)) ? x : y; return x < y ? x : y; } \
  INLINE T go_max_##T(T x, T y) { if (x != x) return x; if (x == 0 && y == 0) return (BITS(x) >> (8 * sizeof(T) - 1)) ? y : x; return x > y ? x : y; }
FLOATS(f32, go_f32bits)
FLOATS(f64, go_f64bits)

// Floats to integers. Step code holds them to the range of the integer first.
#define go_u8_f64(x) ((u8)(i64)(x))
#define go_u16_f64(x) ((u16)(i64)(x))
#define go_i32_f64(x) ((i32)(x))
#define go_u32_f64(x) ((u32)(i64)(x))
#define go_i64_f64(x) ((i64)(x))
#define go_u64_f64(x) ((u64)(x))
#define go_u16_f32(x) ((u16)(i64)(x))
#define go_i32_f32(x) ((i32)(x))
#define go_u32_f32(x) ((u32)(i64)(x))
#define go_i64_f32(x) ((i64)(x))
#define go_u64_f32(x) ((u64)(x))

// For tests: an index out of its range stops the program; and a hash of numbers.
INLINE i64 go_check(i64 i, i64 n) { if ((u64)i >= (u64)n) go_panic(); return i; }
INLINE u64 go_mix(u64 h, u64 x) { h ^= x; h *= ((u64)0x100 << 32) | 0x1b3; return h ^ h >> 29; }
#endif
