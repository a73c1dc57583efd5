// Episodes of a population: a group of work-items for each few of them, its rows. It follows the text of a world, which
// has WORLD(name), the names of the functions of its State; OWN, the memory in which episodes lie, and OF(name, letters),
// names for that memory; and OBS_DIM and ACT_DIM. The rules are those of
// internal/episode, which Go runs: this file lays out what the loop works on, since OpenCL 1.2 has no pointer into any
// address space, and shares a policy's layers among the group. A sum is one work-item's, or one chain of it.

// Layout of net, a policy.Network and what else is integer; of real; and of norm: mean, scale, clip.
#define LAYERS net[0]
#define ACTIVATION net[1]
#define BIAS net[2]
#define HEAD net[3]
#define BINS net[4]
#define HOLD net[5]
#define NORMALIZE net[6]
#define VARIANT net[7]
#define PARAMS net[8]
#define SIZES (net + 9)
#define BONUS real[0]
#define PENALTY real[1]
#define JITTER real[2]
#define LOW (real + 3)
#define HIGH (real + 3 + ACT_DIM)
#define PARAM(i) real[3 + 2 * ACT_DIM + (i)]

#define TANH 1
#define RELU 2
#define ARGMAX 0
#define BINNED 1

// An episode in progress: in local memory while its group plays, or, where it is too large for that, in a work-item's
// own; in the device's memory between launches. Its size is a multiple of eight.
typedef struct {
  WORLD(State) world;
  noise_Stream rng, draws;
  f64 act[ACT_DIM];
  f64 ret;
  i64 steps;
  f32 obs[OBS_DIM];
} Episode;

#define WORDS (int)(sizeof(Episode) / 4)
#ifdef OWN_LOCAL
#define LOCAL_BYTES (int)sizeof(Episode)
#else
#define LOCAL_BYTES 0
#endif

// episode_size gives an episode's size, and how much of it lies in local memory.
__kernel void episode_size(__global i64 *size) {
  if (ITEM != 0) return;
  size[0] = sizeof(Episode);
  size[1] = LOCAL_BYTES;
}

// What a group has in local memory, as player.local counts it: for each row its Episode if that lies there, whether it is
// in progress, and where its weights begin, in rows of dim; then vectors of width, a multiple of four, for few rows at a
// time: a layer's inputs in the first, outputs in turns in the second and the third; then a sum for each work-item, and
// weights.
typedef struct {
  __local Episode *episodes;
  __local i32 *going, *owner;
  __local f32 *x, *a, *b, *sums, *weights;
} Scratch;

INLINE Scratch scratch(__local f64 *pool, i32 rows, i32 few, i32 width) {
  Scratch s;
  s.episodes = (__local Episode *)pool;
  s.going = (__local i32 *)(pool + rows * (LOCAL_BYTES / 8));
  s.owner = s.going + rows;
  s.x = (__local f32 *)(pool + (rows * (LOCAL_BYTES + 8) + 15) / 16 * 2);
  s.a = s.x + few * width;
  s.b = s.a + few * width;
  s.sums = s.b + few * width;
  s.weights = s.sums + LANES;
  return s;
}

INLINE f32 activate(f32 y, int activation) {
  if (activation == TANH) return exact_Tanh32(y);
  return activation == RELU ? (y > 0 ? y : 0.0f) : y;
}

// SUMS defines the sums of a layer of m rows, y = activation(x*w + bias), for weights in one address space. Each output has
// four chains of sums, as kernel.Dense has them, in one work-item. In four, if the group has so many (split): then
// y gets the bias, and join adds the rest.
#define SUMS(NAME, SPACE)                                                                                              \
  INLINE void NAME(__local f32 *y, __local const f32 *x, Scratch s, int m, SPACE const f32 *w, i64 dim, int bias, int in, \
                   int out, int width, int activation, int split) {                                                    \
    for (int t = LANE; t < (split ? 4 * m * out : m * out); t += LANES) {                                               \
      int q = split ? t >> 2 : t, r = m == 1 ? 0 : q / out, o = q - r * out, i = 0;                                     \
      if (!s.going[r]) continue;                                                                                       \
      SPACE const f32 *own = w + s.owner[r] * dim, *v = own + o;                                                       \
      __local const f32 *in0 = x + r * width;                                                                          \
      f32 s0 = 0, s1 = 0, s2 = 0, s3 = 0;                                                                              \
      if (split) {                                                                                                     \
        for (i = t & 3; i < in; i += 4) s0 += in0[i] * v[i * out];                                                     \
        s.sums[t] = s0;                                                                                                \
        if (bias && (t & 3) == 0) y[r * width + o] = own[in * out + o];                                                \
        continue;                                                                                                      \
      }                                                                                                                \
      _Pragma("unroll 4") for (; i + 4 <= in; i += 4, v += 4 * out) {                                                  \
        float4 f = *(__local const float4 *)(in0 + i);                                                                 \
        s0 += f.x * v[0];                                                                                              \
        s1 += f.y * v[out];                                                                                            \
        s2 += f.z * v[2 * out];                                                                                        \
        s3 += f.w * v[3 * out];                                                                                        \
      }                                                                                                                \
      if (i < in) s0 += in0[i] * v[0];                                                                                 \
      if (i + 1 < in) s1 += in0[i + 1] * v[out];                                                                       \
      if (i + 2 < in) s2 += in0[i + 2] * v[2 * out];                                                                   \
      f32 sum = (s0 + s1) + (s2 + s3);                                                                                 \
      if (bias) sum += own[in * out + o];                                                                              \
      y[r * width + o] = activate(sum, activation);                                                                    \
    }                                                                                                                  \
  }

SUMS(sums_local, __local)
SUMS(sums_global, __global)

// join ends a layer that is split.
INLINE void join(__local f32 *y, Scratch s, int m, int bias, int out, int width, int activation) {
  int t = LANE, q = t >> 2, r = m == 1 ? 0 : q / out, o = q - r * out;
  if (t & 3 || q >= m * out || !s.going[r]) return;
  f32 sum = (s.sums[t] + s.sums[t + 1]) + (s.sums[t + 2] + s.sums[t + 3]);
  if (bias) sum += y[r * width + o];
  y[r * width + o] = activate(sum, activation);
}

// forward is policy.Network.Forward for the rows in progress, whose inputs are in s.x: the outputs are in s.a if the number
// of layers is odd, else in s.b. Weights are in local memory if held.
INLINE void forward(Scratch s, int m, __global const i32 *net, __global const f32 *theta, i64 dim, int held, int width) {
  i64 at = 0;
  for (int l = 0; l < LAYERS; l++) {
    int in = SIZES[l], out = SIZES[l + 1], activation = l == LAYERS - 1 ? 0 : ACTIVATION, split = 4 * m * out <= LANES;
    __local f32 *y = l % 2 ? s.b : s.a;
    __local const f32 *x = l == 0 ? s.x : l % 2 ? s.a : s.b;
    if (held) sums_local(y, x, s, m, s.weights + at, dim, BIAS, in, out, width, activation, split);
    else sums_global(y, x, s, m, theta + at, dim, BIAS, in, out, width, activation, split);
    BARRIER;
    if (split) join(y, s, m, BIAS, out, width, activation);
    BARRIER;
    at += in * out + (BIAS ? out : 0);
  }
}

// Candidates around a center: center + scale*eps(seed), each with its seed and scale. Without seeds there are none.
typedef struct {
  __global const f32 *center;
  __global const u64 *seeds;
  __global const f32 *scales;
  __global const f32 *table;
} Around;

// eight writes the perturbation of candidate c in eight components, which are one block of the noise.
INLINE void eight(f32 *to, Around a, i64 c, i64 block) {
  u64 seed = a.seeds[c];
  f32 scale = a.scales[c];
  tuple_u32_u32_u32_u32 r = noise_rounds((u32)seed, (u32)(seed >> 32), (u32)block, (u32)(block >> 32), 0, 0);
  u32 words[4] = {r.v0, r.v1, r.v2, r.v3};
  for (int i = 0; i < 8; i++) to[i] = scale * a.table[words[i / 2] >> i % 2 * 16 & 0xffff];
}

// hold puts the weights of m rows into local memory, each candidate's once: owner becomes its place there. They are
// computed around a center, or, if there is none, copied from theta.
INLINE void hold(Scratch s, int m, __global const f32 *theta, i64 dim, Around a) {
  int n = 0;
  for (int r = 0; r < m; r++) {
    if (r > 0 && s.owner[r] != s.owner[r - 1]) n++;
    if (r > 0 && s.owner[r] == s.owner[r - 1]) continue;
    i64 c = s.owner[r];
    __local f32 *to = s.weights + n * dim;
    if (!a.center) {
      for (i64 i = LANE; i < dim; i += LANES) to[i] = theta[c * dim + i];
      continue;
    }
    for (i64 at = 8 * LANE; at < dim; at += 8 * LANES) {
      f32 step[8];
      eight(step, a, c, at / 8);
      for (int i = 0; i < 8 && at + i < dim; i++) to[at + i] = a.center[at + i] + step[i];
    }
  }
  BARRIER;
  if (LANE == 0)
    for (int r = 0, c = s.owner[0], last = 0; r < m; r++) {
      if (s.owner[r] != c) last++;
      c = s.owner[r];
      s.owner[r] = last;
    }
  BARRIER;
}

// argmax is the lowest index of the largest value; NaN is below everything.
static VALUE int argmax(__local const f32 *y, int n) {
  int best = 0;
  for (int i = 1; i < n; i++) {
    f32 v = y[i], m = y[best];
    if (v > m || (m != m && v == v)) best = i;
  }
  return best;
}

static VALUE f64 clipped(f64 x, f64 low, f64 high) {
  if (!(x > low)) return low;
  return x > high ? high : x;
}

// see writes what the policy sees of e to x.
INLINE void see(__local f32 *x, OWN const Episode *e, __global const i32 *net, __global const f32 *norm) {
  for (int i = 0; i < OBS_DIM; i++) {
    f32 y = e->obs[i];
    if (NORMALIZE) {
      f32 clip = norm[2 * OBS_DIM];
      y = (y - norm[i]) * norm[OBS_DIM + i];
      if (!(y > -clip)) y = -clip;
      else if (y > clip) y = clip;
    }
    x[i] = y;
  }
}

// act chooses the next action of e from the outputs y of its policy.
INLINE void act(OWN Episode *e, __local const f32 *y, __global const i32 *net, __global const f64 *real, __global const f32 *table) {
  f64 jitter[ACT_DIM];
  if (JITTER != 0)
    for (int i = 0; i < ACT_DIM; i++) jitter[i] = JITTER * (f64)table[OF(noise_Stream_Uint32, l)(&e->draws) & 0xffff];
  if (HEAD == ARGMAX) {
    e->act[0] = argmax(y, SIZES[LAYERS]);
    return;
  }
  for (int i = 0; i < ACT_DIM; i++) {
    f64 low = LOW[i], high = HIGH[i];
    if (HEAD == BINNED) {
      f64 k = argmax(y + i * BINS, BINS);
      f64 span = k * (high - low);
      f64 at = low + span / (f64)(BINS - 1);
      e->act[i] = JITTER != 0 ? clipped(at + jitter[i], low, high) : at;
    } else {
      f64 at = y[i];
      e->act[i] = clipped(JITTER != 0 ? at + jitter[i] : at, low, high);
    }
  }
}

// copy and save move an episode from the device's memory, and back, by words: compilers copy a structure by bytes.
typedef u32 __attribute__((may_alias)) Word;

INLINE void copy(OWN Episode *to, __global const u32 *from, int first, int stride) {
  for (int i = first; i < WORDS; i += stride) ((OWN Word *)to)[i] = from[i];
}

INLINE void save(__global u32 *to, OWN const Episode *from, int first, int stride) {
  for (int i = first; i < WORDS; i += stride) to[i] = ((OWN const Word *)from)[i];
}

// play takes up to burst actions in each of n episodes, whose numbers are in list, and tells which are over. A group has
// up to rows of them, and at least as many work-items; it chooses the actions of few at a time.
__kernel void play(__global u32 *episodes, __global const i32 *restrict list, i32 n, i32 rows, i32 few, i32 first, i64 burst, i64 limit,
                   __global const u64 *restrict seeds, i32 each, __global const f32 *restrict theta, i64 dim, i32 held, i32 width,
                   __global const f32 *restrict center, __global const u64 *restrict keys, __global const f32 *restrict scales, i32 around,
                   __global const i32 *restrict net, __global const f64 *restrict real, __global const f32 *restrict norm,
                   __global const f32 *restrict table, __global f64 *returns, __global i64 *steps, __global i32 *over POOL) {
  POOL_HERE;
  int lane = LANE;
  i64 begin = (i64)TEAM * rows;
  if (begin >= n) return;
  int m = n - begin < rows ? n - begin : rows;
  Scratch s = scratch(pool, rows, few, width);
  // A work-item has a row, or none.
#ifdef OWN_LOCAL
  __local Episode *e = s.episodes + lane;
  for (int r = 0; r < m && !first; r++) copy(s.episodes + r, episodes + (i64)list[begin + r] * WORDS, lane, LANES);
#else
  Episode own, *e = &own;
  if (lane < m && !first) copy(e, episodes + (i64)list[begin + lane] * WORDS, 0, 1);
#endif
  OF(slice_f32, l) obs = LIT(OF(slice_f32, l), e->obs, OBS_DIM);
  OF(slice_f64, l) chosen = LIT(OF(slice_f64, l), e->act, ACT_DIM);
  i32 done = 0;
  if (lane < m) {
    i32 k = list[begin + lane];
    s.owner[lane] = k / each;
    if (first) {
      OF(WORLD(State_Choose), l)(&e->world, VARIANT);
      for (int i = 0; i < PARAMS; i++) OF(WORLD(State_Set), l)(&e->world, i, PARAM(i));
      e->rng = noise_NewStream(seeds[k], 2);
      e->draws = noise_NewStream(seeds[k], 4);
      e->ret = 0;
      e->steps = 0;
      OF(WORLD(State_Begin), lll)(&e->world, &e->rng, obs);
    }
  }
  BARRIER;
  Around a = {around ? center : 0, keys, scales, table};
  if (held) hold(s, m, theta, dim, a);
  for (i64 turn = 0;; turn++) {
    if (lane < m) s.going[lane] = !done;
    BARRIER;
    int any = 0;
    for (int r = 0; r < m; r++) any |= s.going[r];
    if (!any || turn == burst) break;
    for (int from = 0; from < m; from += few) {
      int at = lane - from, here = m - from < few ? m - from : few, mine = !done && at >= 0 && at < here;
      Scratch part = s;
      part.going += from;
      part.owner += from;
      if (mine) see(s.x + at * width, e, net, norm);
      BARRIER;
      forward(part, here, net, theta, dim, held, width);
      if (mine) act(e, (LAYERS % 2 ? s.a : s.b) + at * width, net, real, table);
    }
    if (lane >= m || done) continue;
    for (int h = 0; h < HOLD && !done; h++) {
      tuple_f64_u8 t = OF(WORLD(State_Act), llll)(&e->world, &e->rng, chosen, obs);
      f64 reward = t.v0;
      if (PENALTY != 0 && reward < -PENALTY) reward = -PENALTY;
      e->ret += reward - BONUS;
      e->steps++;
      done = t.v1 || e->steps == limit;
    }
  }
  if (lane < m) {
    i32 k = list[begin + lane];
    over[begin + lane] = done;
    if (done) {
      returns[k] = e->ret;
      steps[k] = e->steps;
    }
  }
#ifdef OWN_LOCAL
  for (int r = 0; r < m; r++)
    if (s.going[r]) save(episodes + (i64)list[begin + r] * WORDS, s.episodes + r, lane, LANES);
#else
  if (lane < m && !done) save(episodes + (i64)list[begin + lane] * WORDS, e, 0, 1);
#endif
}

// perturb writes n candidates: center + scale*eps(seed), each with its seed and scale. A group makes eight components
// of one for each work-item, which are one block of the noise, and writes them where neighbors write what is adjacent.
__kernel void perturb(__global f32 *theta, __global const f32 *center, __global const u64 *seeds, __global const f32 *scales,
                      __global const f32 *table, i64 dim, i32 n POOL) {
  POOL_HERE;
  __local f32 *part = (__local f32 *)pool;
  int lane = LANE;
  i64 groups = ((dim + 7) / 8 + LANES - 1) / LANES, c = TEAM / groups, from = TEAM % groups * LANES;
  if (c >= n) return;
  Around a = {center, seeds, scales, table};
  f32 step[8];
  if (8 * (from + lane) < dim) {
    eight(step, a, c, from + lane);
    for (int i = 0; i < 8; i++) part[9 * lane + i] = step[i];
  }
  BARRIER;
  theta += c * dim;
  for (i64 i = lane; i < 8 * (i64)LANES && 8 * from + i < dim; i += LANES) theta[8 * from + i] = center[8 * from + i] + part[9 * (i / 8) + i % 8];
}

// passes is the forward pass alone, for measuring: n candidates with weights of their own, rounds times.
__kernel void passes(__global const f32 *restrict theta, i64 dim, i32 held, i32 width, __global const i32 *restrict net, i32 n, i32 rows, i32 rounds,
                     __global f32 *outputs POOL) {
  POOL_HERE;
  i64 begin = (i64)TEAM * rows;
  if (begin >= n) return;
  int m = n - begin < rows ? n - begin : rows;
  Scratch s = scratch(pool, rows, rows, width);
  for (int r = LANE; r < m; r += LANES) {
    s.owner[r] = begin + r;
    s.going[r] = 1;
  }
  for (int i = LANE; i < m * width; i += LANES) s.x[i] = 0;
  BARRIER;
  Around none = {0, 0, 0, 0};
  if (held) hold(s, m, theta, dim, none);
  for (int i = 0; i < rounds; i++) forward(s, m, net, theta, dim, held, width);
  for (int r = LANE; r < m; r += LANES) outputs[begin + r] = s.a[r * width] + s.b[r * width];
}
