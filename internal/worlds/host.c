//go:build ignore

/* What the translated step code needs in a browser, and what a module of worlds exports: docs/spec/worlds.md, "The tab's
   worlds". _gen compiles it for each module of table.go: BUILD names the sources, WORLDS(WORLD) is WORLD(package) for each
   world of the module, in the order of the numbers that play takes.
   Layers and activations are the kernels of internal/kernel/simd128.wasm on this module's memory, since clang does not
   reach their speed from C. */
#include "prelude.h"
#undef ROOT
#define ROOT static /* worlds of other modules need not be compiled */
#include "worlds.c"

#define EXPORT(name) __attribute__((export_name(#name)))
#define KERNEL(name) __attribute__((import_module("kernel"), import_name(#name)))

KERNEL(dense) void simd_dense(f32 *y, f32 *w, f32 *b, f32 *x, i32 outputs, i32 inputs, i32 biases);
KERNEL(denseBatch) void simd_denseBatch(f32 *y, f32 *w, f32 *b, f32 *x, i32 outputs, i32 inputs, i32 biases, i32 n);
KERNEL(tanh) void simd_tanh(f32 *y, i32 n);
KERNEL(relu) void simd_relu(f32 *y, i32 n);

void kernel_Dense(slice_f32 y, slice_f32 w, slice_f32 b, slice_f32 x) {
  simd_dense(y.p, w.p, b.p, x.p, (i32)y.n, (i32)x.n, (i32)b.n);
}

void kernel_DenseBatch(slice_f32 y, slice_f32 w, slice_f32 b, slice_f32 x, i64 n) {
  simd_denseBatch(y.p, w.p, b.p, x.p, (i32)y.n / (i32)n, (i32)x.n / (i32)n, (i32)b.n, (i32)n);
}

void kernel_Tanh(slice_f32 y) { simd_tanh(y.p, (i32)y.n); }

void kernel_Relu(slice_f32 y) { simd_relu(y.p, (i32)y.n); }

/* The compiler calls these for large structs. */
void *memset(void *p, int c, unsigned long n) { return __builtin_memset(p, c, n); }
void *memcpy(void *p, const void *q, unsigned long n) { return __builtin_memcpy(p, q, n); }
void *memmove(void *p, const void *q, unsigned long n) { return __builtin_memmove(p, q, n); }

enum { LANES = 16, PAGE = 65536 };

static array65536_f32 gauss;
array65536_f32 *noise_table = &gauss;
static episode_Lane lanes[LANES];
#define STATES(W) W##_State W[LANES];
static union {
  WORLDS(STATES)
} states; /* one world plays at a time */

extern u8 __heap_base;

EXPORT(abi) i32 abi(void) { return 2; }

/* build names the sources and the module: internal/worlds/build.go. */
EXPORT(build) u64 build(void) { return BUILD; }

/* table is where the host puts the Gaussian table, 65,536 values, before it calls play. */
EXPORT(table) f32 *table(void) { return gauss.a; }

/* reserve returns the address of at least size bytes, which stay there until the next call, or 0 without memory. */
EXPORT(reserve) u8 *reserve(u32 size) {
  u64 at = ((u64)(u32)(unsigned long)&__heap_base + 15) & ~(u64)15, end = at + size;
  u64 have = (u64)__builtin_wasm_memory_size(0) * PAGE;
  if (end > have) {
    u32 more = (u32)((end - have + PAGE - 1) / PAGE);
    if (__builtin_wasm_memory_grow(0, more) == (unsigned long)-1) return 0;
  }
  return (u8 *)(unsigned long)at;
}

/* What describes an evaluation: the fields of episode.Setup. */
typedef struct {
  i64 layers, sizes[10], activation, bias, head, bins, obsDim, actDim, widest, lanes, hold, limit, normalize;
} integers;
typedef struct {
  f64 clip, penalty, bonus, jitter;
} reals;

/* play plays an episode for each seed in variant of world. What reserve returned, at, holds the integers, the reals, the
   seeds, the bounds, the world's parameters, room for a return for each seed, the sums, the policy's parameters, and mean
   and scale of observations, without gaps; seeds, bounds, params, sums, theta and norm are their numbers. play writes
   returns and sums, and returns the number of env-steps, or -1 if there is no memory or no such world. */
EXPORT(play) f64 play(i32 world, i32 variant, u8 *at, i32 seeds, i32 bounds, i32 params, i32 sums, i32 theta, i32 norm) {
  integers *n = (integers *)at;
  reals *r = (reals *)(n + 1);
  slice_u64 seed = {(u64 *)(r + 1), seeds};
  slice_f64 bound = {(f64 *)(seed.p + seeds), bounds}, param = {bound.p + bounds, params}, result = {param.p + params, seeds};
  slice_u64 sum = {(u64 *)(result.p + seeds), sums};
  slice_f32 weights = {(f32 *)(sum.p + sums), theta}, scale = {weights.p + theta, norm};
  u8 *end = (u8 *)(((unsigned long)(scale.p + norm) + 15) & ~15ul);
  slice_f64 work = {(f64 *)end, 2 * n->lanes * n->actDim};
  slice_f32 mem = {(f32 *)(work.p + work.n), 2 * n->lanes * (n->obsDim + n->widest)};
  u64 size = (u64)(end - at) + 8 * (u64)work.n + 4 * (u64)mem.n;
  if (size > 0xffffffff || !reserve((u32)size)) return -1;

  episode_Setup s = ZERO(episode_Setup);
  s.Net.Layers = (i32)n->layers;
  for (int k = 0; k < 10; k++) s.Net.Sizes.a[k] = (i32)n->sizes[k];
  s.Net.Activation = (i32)n->activation, s.Net.Bias = n->bias != 0;
  s.Net.Head = (i32)n->head, s.Net.Bins = (i32)n->bins;
  s.ObsDim = (i32)n->obsDim, s.ActDim = (i32)n->actDim, s.Widest = (i32)n->widest;
  s.Lanes = (i32)n->lanes, s.Hold = (i32)n->hold, s.Limit = n->limit, s.Normalize = n->normalize != 0;
  s.Clip = (f32)r->clip, s.Penalty = r->penalty, s.Bonus = r->bonus, s.Jitter = r->jitter;

  i32 i = 0;
#define PLAY(W) \
  if (world == i++) { \
    for (int k = 0; k < n->lanes && k < seeds; k++) { \
      W##_State_Choose(&states.W[k], variant); \
      for (int p = 0; p < params; p++) W##_State_Set(&states.W[k], p, param.p[p]); \
    } \
    slice_##W##_State worlds = {states.W, LANES}; \
    slice_episode_Lane all = {lanes, LANES}; \
    return (f64)episode_Play_##W(&s, worlds, all, seed, weights, scale, mem, bound, work, result, sum); \
  }
  WORLDS(PLAY)
  return -1;
}
