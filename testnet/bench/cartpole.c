// CartPole-v1 as envs/classic/cartpole and cartpole/main.go compute it: Gymnasium's constants and order, our
// generator for first states and actions, episodes of at most 500 steps, observations written in every step. It prints,
// for cartpole-c.sh: steps, episodes, a checksum over the bits in which the episodes end, and the nanoseconds of a step in
// the fastest window of 100,000. Its argument is the number of windows.
//
//   gcc -O3 -march=native -ffp-contract=off                the bits of the Go program
//   gcc -O3 -march=native                                  what gcc makes of it: multiply and add fused
//   gcc -O3 -march=native -DLIBM ... -lm                   the C library's sin and cos, as Gymnasium's in C would have
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Philox4x32-10 and the stream of internal/noise.
typedef struct {
	uint64_t seed, block;
	uint32_t words[4], domain, left;
} stream;

enum { domain_episode = 2, domain_action = 4 };

static stream new_stream(uint64_t seed, uint32_t domain) {
	stream s = {.seed = seed, .domain = domain};
	return s;
}

static void refill(stream *s) {
	uint32_t k0 = (uint32_t)s->seed, k1 = (uint32_t)(s->seed >> 32);
	uint32_t c0 = (uint32_t)s->block, c1 = (uint32_t)(s->block >> 32), c2 = s->domain, c3 = 0;
	for (int i = 0; i < 10; i++) {
		uint64_t p = (uint64_t)c0 * 0xD2511F53, q = (uint64_t)c2 * 0xCD9E8D57;
		c0 = (uint32_t)(q >> 32) ^ c1 ^ k0, c1 = (uint32_t)q;
		c2 = (uint32_t)(p >> 32) ^ c3 ^ k1, c3 = (uint32_t)p;
		k0 += 0x9E3779B9, k1 += 0xBB67AE85;
	}
	s->words[0] = c0, s->words[1] = c1, s->words[2] = c2, s->words[3] = c3;
	s->left = 4;
	s->block++;
}

static inline uint32_t word(stream *s) {
	if (s->left == 0) refill(s);
	return s->words[4 - s->left--];
}

static inline double uniform(stream *s, double low, double high) {
	uint64_t hi = word(s) >> 5, lo = word(s) >> 6;
	return low + (double)(hi << 26 | lo) * (1.0 / (1ull << 53)) * (high - low);
}

// sin and cos for |x| <= pi/4 as internal/exact has them (fdlibm's polynomials); beyond, which CartPole reaches in no
// step, the C library's.
#ifdef LIBM
#define sine sin
#define cosine cos
#else
static inline double sine(double x) {
	if (fabs(x) > 7.85398163397448278999e-01) return sin(x);
	if (fabs(x) < 0x1p-27) return x;
	double z = x * x, v = z * x;
	double p = 2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10);
	p = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * p);
	return x + (z * (v * p) + v * -1.66666666666666324348e-01);
}

static inline double cosine(double x) {
	if (fabs(x) > 7.85398163397448278999e-01) return cos(x);
	double z = x * x;
	double p = -2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11);
	p = z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * p)));
	double half = 0.5 * z, w = 1 - half;
	return w + (((1 - w) - half) + z * p);
}
#endif

typedef struct {
	double x, x_dot, theta, theta_dot;
} cartpole;

static void reset(cartpole *s, stream *rng) {
	s->x = uniform(rng, -0.05, 0.05);
	s->x_dot = uniform(rng, -0.05, 0.05);
	s->theta = uniform(rng, -0.05, 0.05);
	s->theta_dot = uniform(rng, -0.05, 0.05);
}

static inline int step(cartpole *s, int action) {
	const double gravity = 9.8, mass_pole = 0.1, mass_total = 1.1, half_length = 0.5, pole_mass_length = 0.05, tau = 0.02;
	double force = action == 1 ? 10.0 : -10.0;
	double sin_theta = sine(s->theta), cos_theta = cosine(s->theta);
	double temp = (force + pole_mass_length * (s->theta_dot * s->theta_dot) * sin_theta) / mass_total;
	double theta_acc = (gravity * sin_theta - cos_theta * temp) /
		(half_length * (4.0 / 3.0 - mass_pole * (cos_theta * cos_theta) / mass_total));
	double x_acc = temp - pole_mass_length * theta_acc * cos_theta / mass_total;
	s->x += tau * s->x_dot;
	s->x_dot += tau * x_acc;
	s->theta += tau * s->theta_dot;
	s->theta_dot += tau * theta_acc;
	return s->x < -2.4 || s->x > 2.4 || s->theta < -0.20943951023931953 || s->theta > 0.20943951023931953;
}

static void observe(const cartpole *s, volatile float *obs) {
	obs[0] = (float)s->x, obs[1] = (float)s->x_dot, obs[2] = (float)s->theta, obs[3] = (float)s->theta_dot;
}

static uint64_t mix(uint64_t sum, double v) {
	uint64_t bits;
	memcpy(&bits, &v, sizeof bits);
	return (sum ^ bits) * 0x100000001b3;
}

// play takes at least limit steps, until an episode is over, and goes on where it was.
static uint64_t steps, episodes, sum = 0xcbf29ce484222325;
static stream actions;

static void play(uint64_t limit) {
	volatile float obs[4];
	for (limit += steps; steps < limit;) {
		cartpole s;
		stream rng = new_stream(episodes++, domain_episode);
		reset(&s, &rng);
		observe(&s, obs);
		for (int i = 0, over = 0; i < 500 && !over; i++) {
			over = step(&s, word(&actions) >> 31);
			observe(&s, obs);
			steps++;
		}
		sum = mix(mix(mix(mix(sum, s.x), s.x_dot), s.theta), s.theta_dot);
	}
}

int main(int argc, char **argv) {
	int windows = argc > 1 ? atoi(argv[1]) : 100;
	double best = 1e9;
	actions = new_stream(1, domain_action);
	for (int i = 0; i < windows; i++) {
		struct timespec begin, end;
		uint64_t before = steps;
		clock_gettime(CLOCK_MONOTONIC, &begin);
		play(100000);
		clock_gettime(CLOCK_MONOTONIC, &end);
		double ns = ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) / (steps - before);
		if (ns < best) best = ns;
	}
	printf("%llu %llu %016llx %.2f\n", (unsigned long long)steps, (unsigned long long)episodes, (unsigned long long)sum, best);
	return 0;
}
