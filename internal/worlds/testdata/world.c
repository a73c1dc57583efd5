// A world of this module as a module of WebAssembly by the World ABI (docs/spec/worlds.md). STATE(name) is the name of a
// function of the world, STATE() that of its State; OBS is the length of an observation, and ACT, ACTIONS and STEPS list
// the numbers of its variants, PARAMS is that of its parameters.
#include "../prelude.h"
#undef ROOT
#define ROOT static // the others need not be compiled
#include "../worlds.c"

#define EXPORT(name) __attribute__((export_name(#name))) name
enum { PAGE = 65536, LONGEST = 17 }; // LONGEST action of any world

// The table of normals, which some worlds draw from: the test writes it.
static array65536_f32 gauss = {{
#include "gauss.h"
}};
array65536_f32 *noise_table = &gauss;

// The compiler calls these for large structs.
void *memset(void *p, int c, unsigned long n) { return __builtin_memset(p, c, n); }
void *memcpy(void *p, const void *q, unsigned long n) { return __builtin_memcpy(p, q, n); }
void *memmove(void *p, const void *q, unsigned long n) { return __builtin_memmove(p, q, n); }

extern u8 __heap_base;

i32 EXPORT(abi)(void) { return 2; }
i64 EXPORT(revision)(void) { return 1; }

static const i32 lengths[] = {ACT}, actions[] = {ACTIONS}, steps[] = {STEPS};
enum { VARIANTS = sizeof lengths / sizeof *lengths };

i32 EXPORT(sizes)(i32 which, i32 variant) {
  if (variant < 0 || variant >= VARIANTS) return 0;
  const i32 all[] = {(sizeof(STATE()) + 7) & ~7, OBS, lengths[variant], actions[variant], steps[variant], VARIANTS, PARAMS};
  return which >= 0 && which < 7 ? all[which] : 0;
}

i32 EXPORT(reserve)(i32 n) {
  u64 at = ((u64)(unsigned long)&__heap_base + 15) & ~(u64)15, end = at + (u32)n, have = (u64)__builtin_wasm_memory_size(0) * PAGE;
  if (end > have && __builtin_wasm_memory_grow(0, (u32)((end - have + PAGE - 1) / PAGE)) == (unsigned long)-1) return 0;
  return (i32)at;
}

void EXPORT(choose)(STATE() *state, i32 variant) { STATE(_Choose)(state, variant); }
void EXPORT(set)(STATE() *state, i32 param, f64 value) { STATE(_Set)(state, param, value); }
void EXPORT(begin)(STATE() *state, noise_Stream *rng, f32 *obs) { STATE(_Begin)(state, rng, (slice_f32){obs, OBS}); }

i32 EXPORT(act)(STATE() *state, noise_Stream *rng, f64 *act, f32 *obs, f64 *reward) {
  tuple_f64_u8 r = STATE(_Act)(state, rng, (slice_f64){act, LONGEST}, (slice_f32){obs, OBS});
  *reward = r.v0;
  return r.v1;
}
