// Episodes of a population: one work-item for each episode. It follows the text of a world, which has WORLD(name), the
// names of the functions of its State, and OBS_DIM and ACT_DIM. The rules are those of internal/episode, which Go
// runs: this file only lays out what the loop works on, since OpenCL 1.2 has no pointer into any address space.

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

// An episode in progress, as it waits in the device's memory between launches.
typedef struct {
  WORLD(State) world;
  noise_Stream rng, draws;
  f64 act[ACT_DIM];
  f64 ret;
  i64 steps;
  f32 obs[OBS_DIM];
  i32 held;
} Episode;

__kernel void episode_size(__global i64 *size) {
  if (ITEM == 0) size[0] = sizeof(Episode);
}

// Vectors of several work-items are stored in tiles, element by element, so that neighbors read what is adjacent:
// element i of a vector is at i*tile. Layers are those of kernel.Dense: four sums per output, in this order.
#define ADD(k, o) s##k##o += x##k * w##k[(o)*tile]
INLINE void layer(__global f32 *y, __global const f32 *w, __global const f32 *b, __global const f32 *x, int in, int out, i64 tile) {
  int o = 0;
  for (; o + 4 <= out; o += 4) {
    f32 s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;
    f32 s20 = 0, s21 = 0, s22 = 0, s23 = 0, s30 = 0, s31 = 0, s32 = 0, s33 = 0;
    int i = 0;
    for (; i + 4 <= in; i += 4) {
      f32 x0 = x[i * tile], x1 = x[(i + 1) * tile], x2 = x[(i + 2) * tile], x3 = x[(i + 3) * tile];
      __global const f32 *w0 = w + ((i64)i * out + o) * tile, *w1 = w0 + out * tile, *w2 = w1 + out * tile, *w3 = w2 + out * tile;
      ADD(0, 0); ADD(0, 1); ADD(0, 2); ADD(0, 3);
      ADD(1, 0); ADD(1, 1); ADD(1, 2); ADD(1, 3);
      ADD(2, 0); ADD(2, 1); ADD(2, 2); ADD(2, 3);
      ADD(3, 0); ADD(3, 1); ADD(3, 2); ADD(3, 3);
    }
    __global const f32 *w0 = w + ((i64)i * out + o) * tile, *w1 = w0 + out * tile, *w2 = w1 + out * tile;
    if (i < in) { f32 x0 = x[i * tile]; ADD(0, 0); ADD(0, 1); ADD(0, 2); ADD(0, 3); }
    if (i + 1 < in) { f32 x1 = x[(i + 1) * tile]; ADD(1, 0); ADD(1, 1); ADD(1, 2); ADD(1, 3); }
    if (i + 2 < in) { f32 x2 = x[(i + 2) * tile]; ADD(2, 0); ADD(2, 1); ADD(2, 2); ADD(2, 3); }
    y[o * tile] = (s00 + s10) + (s20 + s30);
    y[(o + 1) * tile] = (s01 + s11) + (s21 + s31);
    y[(o + 2) * tile] = (s02 + s12) + (s22 + s32);
    y[(o + 3) * tile] = (s03 + s13) + (s23 + s33);
  }
  for (; o < out; o++) {
    f32 s00 = 0, s10 = 0, s20 = 0, s30 = 0;
    int i = 0;
    for (; i + 4 <= in; i += 4) {
      f32 x0 = x[i * tile], x1 = x[(i + 1) * tile], x2 = x[(i + 2) * tile], x3 = x[(i + 3) * tile];
      __global const f32 *w0 = w + ((i64)i * out + o) * tile, *w1 = w0 + out * tile, *w2 = w1 + out * tile, *w3 = w2 + out * tile;
      ADD(0, 0); ADD(1, 0); ADD(2, 0); ADD(3, 0);
    }
    __global const f32 *w0 = w + ((i64)i * out + o) * tile, *w1 = w0 + out * tile, *w2 = w1 + out * tile;
    if (i < in) { f32 x0 = x[i * tile]; ADD(0, 0); }
    if (i + 1 < in) { f32 x1 = x[(i + 1) * tile]; ADD(1, 0); }
    if (i + 2 < in) { f32 x2 = x[(i + 2) * tile]; ADD(2, 0); }
    y[o * tile] = (s00 + s10) + (s20 + s30);
  }
  if (b)
    for (o = 0; o < out; o++) y[o * tile] += b[o * tile];
}

// forward is policy.Network.Forward: the outputs are in a if the number of layers is odd, else in b.
INLINE void forward(__global const i32 *net, __global const f32 *theta, __global const f32 *x, __global f32 *a, __global f32 *b, i64 tile) {
  for (int l = 0; l < LAYERS; l++) {
    int in = SIZES[l], out = SIZES[l + 1];
    __global f32 *y = l % 2 ? b : a;
    if (l > 0) x = l % 2 ? a : b;
    __global const f32 *bias = BIAS ? theta + (i64)in * out * tile : 0;
    layer(y, theta, bias, x, in, out, tile);
    theta += ((i64)in * out + (BIAS ? out : 0)) * tile;
    if (l == LAYERS - 1) break;
    if (ACTIVATION == TANH)
      for (int o = 0; o < out; o++) y[o * tile] = exact_Tanh32(y[o * tile]);
    else if (ACTIVATION == RELU)
      for (int o = 0; o < out; o++) y[o * tile] = y[o * tile] > 0 ? y[o * tile] : 0.0f;
  }
}

// argmax is the lowest index of the largest value; NaN is below everything.
static VALUE int argmax(__global const f32 *y, int n, i64 tile) {
  int best = 0;
  for (int i = 1; i < n; i++) {
    f32 v = y[i * tile], m = y[best * tile];
    if (v > m || (m != m && v == v)) best = i;
  }
  return best;
}

static VALUE f64 clipped(f64 x, f64 low, f64 high) {
  if (!(x > low)) return low;
  return x > high ? high : x;
}

// act chooses the next action of e.
INLINE void act(Episode *e, __global const i32 *net, __global const f64 *real, __global const f32 *norm, __global const f32 *table,
                __global const f32 *theta, __global f32 *mem, i64 width, i64 tile) {
  f64 jitter[ACT_DIM];
  if (JITTER != 0)
    for (int i = 0; i < ACT_DIM; i++) jitter[i] = JITTER * (f64)table[noise_Stream_Uint32(&e->draws) & 0xffff];
  for (int i = 0; i < OBS_DIM; i++) {
    f32 y = e->obs[i];
    if (NORMALIZE) {
      f32 clip = norm[2 * OBS_DIM];
      y = (y - norm[i]) * norm[OBS_DIM + i];
      if (!(y > -clip)) y = -clip;
      else if (y > clip) y = clip;
    }
    mem[i * tile] = y;
  }
  __global f32 *a = mem + width * tile, *b = a + width * tile;
  forward(net, theta, mem, a, b, tile);
  __global const f32 *y = LAYERS % 2 ? a : b;
  if (HEAD == ARGMAX) {
    e->act[0] = argmax(y, SIZES[LAYERS], tile);
    return;
  }
  for (int i = 0; i < ACT_DIM; i++) {
    f64 low = LOW[i], high = HIGH[i];
    if (HEAD == BINNED) {
      f64 k = argmax(y + i * BINS * tile, BINS, tile);
      f64 span = k * (high - low);
      f64 at = low + span / (f64)(BINS - 1);
      e->act[i] = JITTER != 0 ? clipped(at + jitter[i], low, high) : at;
    } else {
      f64 at = y[i * tile];
      e->act[i] = clipped(JITTER != 0 ? at + jitter[i] : at, low, high);
    }
  }
}

// play takes up to burst env-steps in each of n episodes, whose numbers are in list, and tells which are over.
__kernel void play(__global Episode *episodes, __global const i32 *list, i32 n, i32 first, i64 burst, i64 limit, __global const u64 *seeds,
                   i32 each, __global const f32 *theta, i64 dim, __global f32 *mem, i64 width, i64 tile, __global const i32 *net,
                   __global const f64 *real, __global const f32 *norm, __global const f32 *table, __global f64 *returns,
                   __global i64 *steps, __global i32 *over) {
  u64 at = ITEM;
  if (at >= (u64)n) return;
  i32 k = list[at];
  Episode e;
  slice_f32 obs = LIT(slice_f32, e.obs, OBS_DIM);
  slice_f64 chosen = LIT(slice_f64, e.act, ACT_DIM);
  if (first) {
    WORLD(State_Choose)(&e.world, VARIANT);
    for (int i = 0; i < PARAMS; i++) WORLD(State_Set)(&e.world, i, PARAM(i));
    e.rng = noise_NewStream(seeds[k], 2);
    e.draws = noise_NewStream(seeds[k], 4);
    e.ret = 0;
    e.steps = 0;
    e.held = 0;
    WORLD(State_Begin)(&e.world, &e.rng, obs);
  } else {
    e = episodes[k];
  }
  i64 c = k / each;
  theta += c / tile * dim * tile + c % tile;
  mem += (i64)at / tile * 3 * width * tile + (i64)at % tile;
  i32 done = 0;
  for (i64 i = 0; i < burst && !done; i++) {
    if (e.held == 0) {
      act(&e, net, real, norm, table, theta, mem, width, tile);
      e.held = HOLD;
    }
    e.held--;
    tuple_f64_u8 r = WORLD(State_Act)(&e.world, &e.rng, chosen, obs);
    f64 reward = r.v0;
    if (PENALTY != 0 && reward < -PENALTY) reward = -PENALTY;
    e.ret += reward - BONUS;
    e.steps++;
    done = r.v1 || e.steps == limit;
  }
  over[at] = done;
  if (done) {
    returns[k] = e.ret;
    steps[k] = e.steps;
  } else {
    episodes[k] = e;
  }
}

// perturb writes n candidates: center + scale*eps(seed), each with its seed and scale. A work-item makes eight
// components, which are one block of the noise.
__kernel void perturb(__global f32 *theta, __global const f32 *center, __global const u64 *seeds, __global const f32 *scales,
                      __global const f32 *table, i64 dim, i64 tile, i32 n) {
  i64 at = ITEM, blocks = (dim + 7) / 8;
  i64 block = at / tile % blocks, c = at / tile / blocks * tile + at % tile;
  if (c >= n) return;
  u64 seed = seeds[c];
  f32 scale = scales[c];
  tuple_u32_u32_u32_u32 r = noise_rounds((u32)seed, (u32)(seed >> 32), (u32)block, (u32)(block >> 32), 0, 0);
  u32 words[4] = {r.v0, r.v1, r.v2, r.v3};
  theta += c / tile * dim * tile + c % tile;
  for (i64 i = 8 * block; i < dim && i < 8 * block + 8; i++) {
    f32 step = scale * table[words[i % 8 / 2] >> i % 2 * 16 & 0xffff];
    theta[i * tile] = center[i] + step;
  }
}

// passes is the forward pass alone, for measuring: n candidates with weights of their own, rounds times.
__kernel void passes(__global const f32 *theta, i64 dim, __global f32 *mem, i64 width, i64 tile, __global const i32 *net, i32 n, i32 rounds) {
  i64 c = ITEM;
  if (c >= n) return;
  theta += c / tile * dim * tile + c % tile;
  mem += c / tile * 3 * width * tile + c % tile;
  for (int i = 0; i < rounds; i++) forward(net, theta, mem, mem + width * tile, mem + 2 * width * tile, tile);
}
