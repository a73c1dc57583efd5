// Plays what Go asks for on standard input and prints hashes: the translated worlds against their source, see
// compiled_test.go. WORLDS is the translation, HASHES are the hash functions of its states.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include WORLDS
#include HASHES

// The loop of episodes may be that of another translation, whose names end with SUFFIX: in CUDA C, or in OpenCL C,
// where the table is its last argument.
#ifdef SUFFIX
#define JOIN_(W, S) episode_Play_##W##S
#define JOIN(W, S) JOIN_(W, S)
#ifdef TABLE_LAST
#define PLAY(W, ...) JOIN(W, SUFFIX)(__VA_ARGS__, noise_table)
#define TABLE , array65536_f32 *
#else
#define PLAY(W, ...) JOIN(W, SUFFIX)(__VA_ARGS__)
#define TABLE
#endif
#define DECLARE(W) \
  i64 JOIN(W, SUFFIX)(episode_Setup *, slice_##W##_State, slice_episode_Lane, slice_u64, slice_f32, slice_f32, slice_f32, slice_f64, slice_f64, \
                      slice_f64, slice_u64 TABLE);
#else
#define PLAY(W, ...) episode_Play_##W(__VA_ARGS__)
#define DECLARE(W)
#endif

static array65536_f32 table;
array65536_f32 *noise_table = &table;

static void get(void *p, size_t n) {
  if (fread(p, 1, n, stdin) != n) {
    fprintf(stderr, "the input ends early\n");
    exit(1);
  }
}

static void *room(i64 n) {
  void *p = calloc((size_t)(n > 0 ? n : 1), 1);
  if (!p) abort();
  return p;
}

// A request: an episode of actions, or the loop of episodes, in a world.
typedef struct {
  i32 kind, world, variant, obs, act, steps;
  u64 seed;
  i64 params;
  f64 values[32];
} request;

static u64 see(u64 h, slice_f32 obs) {
  for (i64 i = 0; i < obs.n; i++) h = go_mix(h, go_f32bits(obs.p[i]));
  return h;
}

// What one world needs: an episode of given actions, and episodes of a policy.
#define WORLD(W) \
  DECLARE(W) \
  static void act_##W(request *r) { \
    W##_State *s = room(sizeof(W##_State)); \
    noise_Stream rng = noise_NewStream(r->seed, 2); \
    slice_f32 obs = {room(4 * r->obs), r->obs}; \
    slice_f64 act = {room(8 * r->act), r->act}; \
    W##_State_Choose(s, r->variant); \
    for (i32 i = 0; i < r->params; i++) W##_State_Set(s, i, r->values[i]); \
    W##_State_Begin(s, &rng, obs); \
    u64 h = see(1, obs); \
    for (i32 i = 0; i < r->steps; i++) { \
      get(act.p, 8 * (size_t)r->act); \
      tuple_f64_u8 over = W##_State_Act(s, &rng, act, obs); \
      h = see(go_mix(go_mix(h, go_f64bits(over.v0)), over.v1), obs); \
    } \
    printf("%016llx %016llx\n", h, hash_##W##_State(hash_noise_Stream(1, &rng), s)); \
    free(s); \
    free(obs.p); \
    free(act.p); \
  } \
  static void play_##W(request *r) { \
    i64 n[6]; \
    episode_Setup setup; \
    get(&setup, sizeof setup); \
    get(n, sizeof n); \
    slice_u64 seeds = {room(8 * n[0]), n[0]}, sums = {room(8 * n[3]), n[3]}; \
    slice_f32 theta = {room(4 * n[1]), n[1]}, norm = {room(4 * n[2]), n[2]}, mem = {room(4 * n[5]), n[5]}; \
    slice_f64 bounds = {room(8 * n[4]), n[4]}, work = {room(16 * r->act * setup.Lanes), 2 * r->act * setup.Lanes}; \
    slice_f64 returns = {room(8 * n[0]), n[0]}; \
    slice_##W##_State worlds = {room(sizeof(W##_State) * setup.Lanes), setup.Lanes}; \
    slice_episode_Lane all = {room(sizeof(episode_Lane) * setup.Lanes), setup.Lanes}; \
    get(seeds.p, 8 * (size_t)seeds.n); \
    get(theta.p, 4 * (size_t)theta.n); \
    get(norm.p, 4 * (size_t)norm.n); \
    get(bounds.p, 8 * (size_t)bounds.n); \
    for (i64 i = 0; i < worlds.n; i++) { \
      W##_State_Choose(&worlds.p[i], r->variant); \
      for (i32 p = 0; p < r->params; p++) W##_State_Set(&worlds.p[i], p, r->values[p]); \
    } \
    i64 steps = PLAY(W, &setup, worlds, all, seeds, theta, norm, mem, bounds, work, returns, sums); \
    u64 h = go_mix(1, (u64)steps); \
    for (i64 i = 0; i < returns.n; i++) h = go_mix(h, go_f64bits(returns.p[i])); \
    u64 k = 1; \
    for (i64 i = 0; i < sums.n; i++) k = go_mix(k, sums.p[i]); \
    printf("%016llx %016llx\n", h, k); \
    free(seeds.p), free(sums.p), free(theta.p), free(norm.p), free(mem.p), free(bounds.p), free(work.p), free(returns.p); \
    free(worlds.p), free(all.p); \
  }
WORLD(acrobot)
WORLD(ant)
WORLD(bipedalwalker)
WORLD(cartpole)
WORLD(halfcheetah)
WORLD(hopper)
WORLD(humanoid)
WORLD(inverteddoublependulum)
WORLD(invertedpendulum)
WORLD(lunarlander)
WORLD(mountaincar)
WORLD(mountaincarcontinuous)
WORLD(pendulum)
WORLD(reacher)
WORLD(swimmer)
WORLD(walker2d)

#define ROW(W) {#W, act_##W, play_##W, sizeof(W##_State)}
static struct {
  const char *name;
  void (*act)(request *);
  void (*play)(request *);
  size_t size;
} worlds[] = {
  ROW(acrobot), ROW(ant), ROW(bipedalwalker), ROW(cartpole), ROW(halfcheetah), ROW(hopper),
  ROW(humanoid), ROW(inverteddoublependulum), ROW(invertedpendulum), ROW(lunarlander), ROW(mountaincar),
  ROW(mountaincarcontinuous), ROW(pendulum), ROW(reacher), ROW(swimmer), ROW(walker2d)};

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "sizes")) {
    printf("Setup %zu\nLane %zu\nStream %zu\n", sizeof(episode_Setup), sizeof(episode_Lane), sizeof(noise_Stream));
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) printf("%s %zu\n", worlds[i].name, worlds[i].size);
    return 0;
  }
  get(table.a, sizeof table);
  request r;
  while (fread(&r, sizeof r, 1, stdin) == 1) (r.kind ? worlds[r.world].play : worlds[r.world].act)(&r);
  return 0;
}
