// Runs scenes in the C++ Box2D and writes each scene, what is done to it, and what comes out, as text: floats as the hex
// digits of their bits, a zero always as +0. See record.sh. Arguments: scene, first seed, seeds, or `bench SCENE SEEDS`;
// without arguments the set that is committed.
#include <Box2D/Box2D.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

static bool quiet = false;

static uint32_t bits(float f) {
	if (f == 0) return 0;
	uint32_t u;
	memcpy(&u, &f, 4);
	return u;
}

#define say(...) do { if (!quiet) printf(__VA_ARGS__); } while (0)

struct Random {
	uint64_t s;
	explicit Random(uint64_t seed) : s(seed * 2654435761u + 12345) { for (int i = 0; i < 8; i++) next(); }
	uint32_t next() {
		s = s * 6364136223846793005ull + 1442695040888963407ull;
		return uint32_t(s >> 33);
	}
	float in(float low, float high) { return low + (high - low) * (float(next() & 0xffffff) / 16777216.0f); }
	int below(int n) { return int(next() % uint32_t(n)); }
};

struct Tag {
	int fixture, body; // -1: not of that kind
	bool inContact, began;
};

struct Listener : b2ContactListener {
	void set(b2Contact* c, bool on) {
		b2Body* both[2] = {c->GetFixtureA()->GetBody(), c->GetFixtureB()->GetBody()};
		for (b2Body* b : both) {
			Tag* t = (Tag*)b->GetUserData();
			if (t->body < 0) continue;
			t->inContact = on;
			if (on) t->began = true;
		}
	}
	void BeginContact(b2Contact* c) { set(c, true); }
	void EndContact(b2Contact* c) { set(c, false); }
};

struct Nearest : b2RayCastCallback {
	float fraction = 1;
	float32 ReportFixture(b2Fixture* f, const b2Vec2&, const b2Vec2&, float32 fr) {
		if ((f->GetFilterData().categoryBits & 1) == 0) return -1;
		fraction = fr;
		return fr;
	}
};

struct Scene {
	b2World world;
	Listener listener;
	std::vector<Tag*> tags;
	std::vector<b2Body*> ground, bodies;
	std::vector<b2RevoluteJoint*> joints;
	std::vector<b2Vec2> top; // ends of the edges, for rays and legs
	int fixtures = 0, steps = 0;

	Scene(const std::string& name, float gx, float gy) : world(b2Vec2(gx, gy)) {
		world.SetContactListener(&listener);
		say("scene %s\ngravity %08x %08x\n", name.c_str(), bits(gx), bits(gy));
	}
	~Scene() {
		world.SetContactListener(NULL);
		for (Tag* t : tags) delete t;
	}
	Tag* tag(int fixture, int body) {
		Tag* t = new Tag{fixture, body, false, false};
		tags.push_back(t);
		return t;
	}
	b2Body* staticBody(int i) {
		while (int(ground.size()) <= i) {
			b2BodyDef d;
			d.userData = tag(-1, -1);
			ground.push_back(world.CreateBody(&d));
		}
		return ground[i];
	}
	void fix(b2Body* b, b2Shape* s, float density, float friction, float restitution, int category, int mask) {
		b2FixtureDef d;
		d.shape = s;
		d.density = density;
		d.friction = friction;
		d.restitution = restitution;
		d.filter.categoryBits = category;
		d.filter.maskBits = mask;
		d.userData = tag(fixtures++, -1);
		b->CreateFixture(&d);
	}
	void edge(int body, b2Vec2 a, b2Vec2 b, float friction, float restitution = 0) {
		b2EdgeShape s;
		s.Set(a, b);
		say("edge %d %08x %08x %08x %08x %08x %08x\n", body, bits(a.x), bits(a.y), bits(b.x), bits(b.y), bits(friction), bits(restitution));
		fix(staticBody(body), &s, 0, friction, restitution, 1, 0xffff);
		top.push_back(b);
	}
	void points(const std::vector<b2Vec2>& v) {
		say(" %d", int(v.size()));
		for (b2Vec2 p : v) say(" %08x %08x", bits(p.x), bits(p.y));
		say("\n");
	}
	void polygon(int body, const std::vector<b2Vec2>& v, float friction, float restitution = 0) {
		b2PolygonShape s;
		s.Set(v.data(), v.size());
		say("polygon %d %08x %08x", body, bits(friction), bits(restitution));
		points(v);
		fix(staticBody(body), &s, 0, friction, restitution, 1, 0xffff);
	}
	// A box if v has one element: its half-widths.
	int body(b2Vec2 at, float angle, const std::vector<b2Vec2>& v, float density, float friction, float restitution, b2Vec2 velocity = b2Vec2(0, 0), float spin = 0) {
		b2BodyDef d;
		d.type = b2_dynamicBody;
		d.position = at;
		d.angle = angle;
		d.userData = tag(-1, bodies.size());
		b2Body* b = world.CreateBody(&d);
		b2PolygonShape s;
		if (v.size() == 1) s.SetAsBox(v[0].x, v[0].y);
		else s.Set(v.data(), v.size());
		fix(b, &s, density, friction, restitution, 0x20, 1);
		b->SetLinearVelocity(velocity);
		b->SetAngularVelocity(spin);
		say("body %08x %08x %08x %08x %08x %08x %08x %08x %08x", bits(at.x), bits(at.y), bits(angle), bits(density), bits(friction), bits(restitution), bits(velocity.x), bits(velocity.y), bits(spin));
		points(v);
		bodies.push_back(b);
		return bodies.size() - 1;
	}
	int joint(int a, int b, b2Vec2 la, b2Vec2 lb, float ref, float lower, float upper, float speed, float torque) {
		b2RevoluteJointDef d;
		d.bodyA = bodies[a];
		d.bodyB = bodies[b];
		d.localAnchorA = la;
		d.localAnchorB = lb;
		d.referenceAngle = ref;
		d.enableLimit = d.enableMotor = true;
		d.lowerAngle = lower;
		d.upperAngle = upper;
		d.motorSpeed = speed;
		d.maxMotorTorque = torque;
		joints.push_back((b2RevoluteJoint*)world.CreateJoint(&d));
		say("joint %d %d %08x %08x %08x %08x %08x %08x %08x %08x %08x\n", a, b, bits(la.x), bits(la.y), bits(lb.x), bits(lb.y), bits(ref), bits(lower), bits(upper), bits(speed), bits(torque));
		return joints.size() - 1;
	}
	void force(int b, float x, float y) {
		say("force %d %08x %08x\n", b, bits(x), bits(y));
		bodies[b]->ApplyForceToCenter(b2Vec2(x, y), true);
	}
	void torque(int b, float t) {
		say("torque %d %08x\n", b, bits(t));
		bodies[b]->ApplyTorque(t, true);
	}
	void impulse(int b, b2Vec2 i, b2Vec2 at) {
		say("impulse %d %08x %08x %08x %08x\n", b, bits(i.x), bits(i.y), bits(at.x), bits(at.y));
		bodies[b]->ApplyLinearImpulse(i, at, true);
	}
	void motor(int j, float speed, float torque) {
		say("motor %d %08x %08x\n", j, bits(speed), bits(torque));
		joints[j]->SetMotorSpeed(speed);
		joints[j]->SetMaxMotorTorque(torque);
	}
	void ray(b2Vec2 a, b2Vec2 b) {
		Nearest n;
		world.RayCast(&n, a, b);
		say("ray %08x %08x %08x %08x %08x\n", bits(a.x), bits(a.y), bits(b.x), bits(b.y), bits(n.fraction));
	}
	void step(int velocity, int position) {
		world.Step(1.0f / 50, velocity, position);
		steps++;
		if (quiet) return;
		uint64_t h = 14695981039346656037ull;
		auto add = [&](uint32_t u) {
			for (int i = 0; i < 4; i++) h = (h ^ (u >> 8 * i & 0xff)) * 1099511628211ull;
		};
		for (b2Body* b : bodies) {
			Tag* t = (Tag*)b->GetUserData();
			add(bits(b->GetPosition().x)), add(bits(b->GetPosition().y)), add(bits(b->GetAngle()));
			add(bits(b->GetLinearVelocity().x)), add(bits(b->GetLinearVelocity().y)), add(bits(b->GetAngularVelocity()));
			add(b->IsAwake() | t->inContact << 1 | t->began << 2);
		}
		for (b2Contact* c = world.GetContactList(); c; c = c->GetNext()) {
			Tag* f = (Tag*)c->GetFixtureA()->GetUserData();
			Tag* b = (Tag*)c->GetFixtureB()->GetBody()->GetUserData();
			b2Manifold* m = c->GetManifold();
			add(f->fixture), add(b->body), add(c->IsTouching()), add(m->pointCount);
			for (int i = 0; i < m->pointCount; i++) {
				add(m->points[i].id.key), add(bits(m->points[i].normalImpulse)), add(bits(m->points[i].tangentImpulse));
			}
		}
		printf("step %d %d %016llx\n", velocity, position, (unsigned long long)h);
		if (steps % 50) return;
		printf("state");
		for (b2Body* b : bodies)
			printf(" %08x %08x %08x %08x %08x %08x", bits(b->GetPosition().x), bits(b->GetPosition().y), bits(b->GetAngle()), bits(b->GetLinearVelocity().x), bits(b->GetLinearVelocity().y), bits(b->GetAngularVelocity()));
		printf("\n");
	}
	// A chain of n edges from x0, w wide each, at heights about y that wander by up to dy. One static body, or one each.
	void chain(Random& r, int n, float x0, float w, float y, float dy, float friction, bool each) {
		b2Vec2 a(x0, y);
		for (int i = 0; i < n; i++) {
			b2Vec2 b(x0 + w * (i + 1), y + r.in(-dy, dy));
			edge(each ? int(ground.size()) : 0, a, b, friction);
			a = b;
		}
	}
};

// Up to five shapes of 3 to 8 vertices fall on a rough ground.
static int fall(uint64_t seed, int steps) {
	Random r(seed);
	Scene s("fall" + std::to_string(seed), 0, -10);
	if (seed % 3 == 1) s.polygon(0, {b2Vec2(3, -1), b2Vec2(6, -1), b2Vec2(6, 1), b2Vec2(3.5f, 2)}, 0.5f, 0.3f);
	s.chain(r, 20, -5, 1, 0, seed % 2 ? 0.5f : 0, 0.1f * r.below(10), seed % 4 < 2);
	if (seed % 3 == 2) s.edge(0, b2Vec2(-5, 0), b2Vec2(15, 0), 0.3f);
	for (int i = 0, n = 1 + r.below(5); i < n; i++) {
		std::vector<b2Vec2> v;
		if (r.below(3) == 0) v.push_back(b2Vec2(r.in(0.1f, 1), r.in(0.1f, 1)));
		else for (int k = 0, m = 3 + r.below(6); k < m; k++) {
			float a = 6.2831853f * (k + r.in(0, 0.7f)) / m;
			v.push_back(b2Vec2(r.in(0.6f, 1) * cosf(a), r.in(0.6f, 1) * sinf(a)));
		}
		s.body(b2Vec2(r.in(-4, 14), r.in(1, 6)), r.in(-3, 3), v, r.in(0.5f, 5), r.in(0, 1), r.below(2) * r.in(0, 0.9f), b2Vec2(r.in(-5, 5), r.in(-5, 5)), r.in(-5, 5));
	}
	for (int i = 0; i < steps; i++) {
		if (r.below(40) == 0) {
			int b = r.below(s.bodies.size());
			b2Vec2 c = s.bodies[b]->GetWorldCenter();
			s.impulse(b, b2Vec2(r.in(-5, 5), r.in(-5, 8)), b2Vec2(c.x + r.in(-0.5f, 0.5f), c.y + r.in(-0.5f, 0.5f)));
		}
		if (r.below(30) == 0) s.force(r.below(s.bodies.size()), r.in(-100, 100), r.in(-100, 100));
		if (r.below(30) == 0) s.torque(r.below(s.bodies.size()), r.in(-50, 50));
		for (int k = r.below(3); k > 0; k--) s.ray(b2Vec2(r.in(-6, 16), r.in(-1, 6)), b2Vec2(r.in(-6, 16), r.in(-3, 3)));
		s.step(10, 10);
	}
	return steps;
}

// Small fast bodies against thin ground: continuous collision.
static int bullet(uint64_t seed, int steps) {
	Random r(seed);
	Scene s("bullet" + std::to_string(seed), 0, -10);
	if (seed % 2) s.polygon(0, {b2Vec2(9, 0), b2Vec2(9.1f, 0), b2Vec2(9.1f, 6), b2Vec2(9, 6)}, 0.5f, 0.5f);
	s.chain(r, 20, -10, 1, 0, 1, 0.5f, seed % 3 != 0);
	s.edge(0, b2Vec2(-10, 0), b2Vec2(-10, 9), 0.5f, 0.5f);
	s.edge(seed % 3, b2Vec2(10, 0), b2Vec2(10, 9), 0.5f, 0.8f);
	for (int i = 0, n = 1 + r.below(5); i < n; i++)
		s.body(b2Vec2(r.in(-8, 8), r.in(2, 8)), r.in(-3, 3), {b2Vec2(r.in(0.05f, 0.3f), r.in(0.05f, 0.3f))}, 1, 0.3f, r.in(0, 1), b2Vec2(r.in(-90, 90), r.in(-90, 30)), r.in(-70, 70));
	for (int i = 0; i < steps; i++) {
		if (r.below(20) == 0) {
			int b = r.below(s.bodies.size());
			b2Vec2 c = s.bodies[b]->GetWorldCenter();
			if (c.y > -5) s.impulse(b, b2Vec2(r.in(-9, 9), r.in(-9, 9)), b2Vec2(c.x + r.in(-0.1f, 0.1f), c.y));
		}
		s.step(20, 10);
	}
	return steps;
}

// A chain of hinges with motors and limits, swinging over and on the ground.
static int hinge(uint64_t seed, int steps) {
	Random r(seed);
	Scene s("hinge" + std::to_string(seed), 0, -10);
	s.chain(r, 20, -10, 1, 0, 0.3f, 0.7f, true);
	int n = 2 + r.below(4);
	float h = r.in(0.2f, 0.6f);
	for (int i = 0; i < n; i++)
		s.body(b2Vec2(2 * h * i - 2, r.in(1.5f, 4)), r.in(-1, 1), {b2Vec2(h, 0.2f)}, r.in(0.5f, 3), 0.5f, 0.1f);
	for (int i = 1; i < n; i++) {
		int a = seed % 2 ? 0 : i - 1;
		float low = r.in(-2, 0);
		s.joint(a, i, b2Vec2(h, 0), b2Vec2(-h, 0), r.in(-0.2f, 0.2f), low, low + r.in(0.1f, 2), r.in(-5, 5), r.in(0, 50));
	}
	for (int i = 0; i < steps; i++) {
		if (i % 10 == 0) s.motor(r.below(n - 1), r.in(-6, 6), r.below(4) ? r.in(0, 60) : 0);
		if (r.below(50) == 0) s.torque(r.below(n), r.in(-50, 50));
		s.step(60, 20);
	}
	return steps;
}

// LunarLander's scene, with random engines.
static int lander(uint64_t seed, int steps) {
	Random r(seed);
	Scene s("lander" + std::to_string(seed), 0, -10);
	const float W = 600 / 30.0f, H = 400 / 30.0f;
	s.edge(0, b2Vec2(0, 0), b2Vec2(W, 0), 0.1f);
	float y[12];
	for (int i = 0; i < 12; i++) y[i] = r.in(0, H / 2);
	for (int i = 3; i < 8; i++) y[i] = H / 4;
	for (int i = 0; i < 10; i++) {
		float a = (i ? y[i - 1] : y[11]) + y[i] + y[i + 1], b = y[i] + y[i + 1] + y[i + 2];
		s.edge(0, b2Vec2(W / 10 * i, 0.33f * a), b2Vec2(W / 10 * (i + 1), 0.33f * b), 0.1f);
	}
	std::vector<b2Vec2> poly = {b2Vec2(-14 / 30.0f, 17 / 30.0f), b2Vec2(-17 / 30.0f, 0), b2Vec2(-17 / 30.0f, -10 / 30.0f), b2Vec2(17 / 30.0f, -10 / 30.0f), b2Vec2(17 / 30.0f, 0), b2Vec2(14 / 30.0f, 17 / 30.0f)};
	int body = s.body(b2Vec2(W / 2, H), 0, poly, 5, 0.1f, 0);
	s.force(body, r.in(-1000, 1000), r.in(-1000, 1000));
	for (int i = -1; i <= 1; i += 2) {
		int leg = s.body(b2Vec2(W / 2 - i * 20 / 30.0f, H), i * 0.05f, {b2Vec2(2 / 30.0f, 8 / 30.0f)}, 1, 0.2f, 0);
		s.joint(body, leg, b2Vec2(0, 0), b2Vec2(i * 20 / 30.0f, 18 / 30.0f), 0, i < 0 ? 0.4f : -0.9f, i < 0 ? 0.9f : -0.4f, 0.3f * i, 40);
	}
	int n = 0;
	bool gentle = seed % 2;
	for (; n < steps; n++) {
		b2Body* b = s.bodies[body];
		b2Vec2 p = b->GetPosition();
		int action = r.below(4);
		if (gentle) {
			b2Vec2 v = b->GetLinearVelocity();
			action = v.y < -0.5f - 0.1f * p.y ? 2 : b->GetAngle() > 0.1f ? 3 : b->GetAngle() < -0.1f ? 1 : 0;
		}
		float tx = b->GetTransform().q.s, ty = b->GetTransform().q.c;
		if (action == 2) s.impulse(body, b2Vec2(-tx * 0.26f, ty * 0.26f), b2Vec2(p.x + tx * r.in(0, 0.2f), p.y));
		if (action == 1 || action == 3) s.impulse(body, b2Vec2(0.02f * ty * (action - 2), 0.02f * tx * (action - 2)), b2Vec2(p.x - tx * 17 / 30.0f, p.y + ty * 14 / 30.0f));
		s.step(180, 60);
		if (!b->IsAwake() || p.x < 0 || p.x > W) break;
	}
	return n;
}

// BipedalWalker's scene, with pits, stumps and stairs if hard, and random motors.
static int walk(uint64_t seed, int steps, bool hard) {
	Random r(seed);
	Scene s((hard ? "hardcore" : "walker") + std::to_string(seed), 0, -10);
	const float L = 14 / 30.0f, Y = 400 / 30.0f / 4;
	if (hard) {
		for (int i = 24; i < 190;) {
			float x = i * L;
			int kind = r.below(3), k = 2 + r.below(2), n = int(s.ground.size());
			auto box = [&](float x0, float y0, float x1, float y1) { s.polygon(int(s.ground.size()), {b2Vec2(x0, y0), b2Vec2(x1, y0), b2Vec2(x1, y1), b2Vec2(x0, y1)}, 2.5f); };
			if (kind == 0) box(x, Y, x + k * L, Y + k * L);
			if (kind == 1) box(x, Y - 4 * L, x + L, Y), box(x + (k + 1) * L, Y - 4 * L, x + (k + 2) * L, Y);
			if (kind == 2) for (int j = 0; j < k + 1; j++) box(x + 2 * j * L, Y + (j - 1) * L, x + 2 * (j + 1) * L, Y + j * L);
			i += 8 + r.below(9);
		}
	}
	float y = Y, v = 0;
	std::vector<b2Vec2> line;
	for (int i = 0; i < 200; i++) {
		v = 0.8f * v + 0.01f * (Y > y ? 1 : -1);
		if (i > 20) v += r.in(-1, 1) / 30;
		y += v;
		line.push_back(b2Vec2(i * L, y));
	}
	for (int i = 0; i < 199; i++) s.edge(int(s.ground.size()), line[i], line[i + 1], 2.5f);
	const float H = 34 / 30.0f, W = 8 / 30.0f, D = -8 / 30.0f;
	std::vector<b2Vec2> poly = {b2Vec2(-1, 9 / 30.0f), b2Vec2(6 / 30.0f, 9 / 30.0f), b2Vec2(34 / 30.0f, 1 / 30.0f), b2Vec2(34 / 30.0f, D), b2Vec2(-1, D)};
	float x0 = L * 10, y0 = Y + 2 * H;
	if (seed % 3 == 2) x0 += L * r.below(100), y0 += 3;
	int hull = s.body(b2Vec2(x0, y0), 0, poly, 5, 0.1f, 0);
	s.force(hull, r.in(-5, 5) * (seed % 5 == 0 ? 300 : 1), 0);
	for (int i = -1; i <= 1; i += 2) {
		int leg = s.body(b2Vec2(x0, y0 - H / 2 + D), i * 0.05f, {b2Vec2(W / 2, H / 2)}, 1, 0.2f, 0);
		s.joint(hull, leg, b2Vec2(0, D), b2Vec2(0, H / 2), 0, -0.8f, 1.1f, i, 80);
		int low = s.body(b2Vec2(x0, y0 - H * 3 / 2 + D), i * 0.05f, {b2Vec2(0.8f * W / 2, H / 2)}, 1, 0.2f, 0);
		s.joint(leg, low, b2Vec2(0, -H / 2), b2Vec2(0, H / 2), 0, -1.6f, -0.1f, 1, 80);
	}
	float a[4] = {0, 0, 0, 0};
	int n = 0;
	for (; n < steps; n++) {
		for (int j = 0; j < 4; j++) {
			if (seed % 2 == 0 || n % 12 == 0) a[j] = r.in(-1, 1);
			s.motor(j, (j % 2 ? 6 : 4) * (a[j] > 0 ? 1 : a[j] < 0 ? -1 : 0), 80 * fabsf(a[j]));
		}
		s.step(180, 60);
		b2Vec2 p = s.bodies[hull]->GetPosition();
		for (int i = quiet ? 10 : n % 10; i < 10; i += 10) s.ray(p, b2Vec2(p.x + sinf(1.5f * i / 10) * 160 / 30, p.y - cosf(1.5f * i / 10) * 160 / 30));
		if (p.x < 0 || n > 60 && ((Tag*)s.bodies[hull]->GetUserData())->began && r.below(20) == 0) break;
	}
	return n;
}

static int run(const char* name, uint64_t seed, float much) {
	if (!strcmp(name, "fall")) return fall(seed, 200 * much);
	if (!strcmp(name, "bullet")) return bullet(seed, 120 * much);
	if (!strcmp(name, "hinge")) return hinge(seed, 200 * much);
	if (!strcmp(name, "lander")) return lander(seed, 600 * much);
	if (!strcmp(name, "walker")) return walk(seed, 400 * much, false);
	if (!strcmp(name, "hardcore")) return walk(seed, 400 * much, true);
	fprintf(stderr, "no scene %s\n", name);
	exit(2);
}

int main(int argc, char** argv) {
	if (argc == 4 && !strcmp(argv[1], "bench")) {
		quiet = true;
		clock_t t0 = clock();
		long n = 0;
		for (int i = 0; i < atoi(argv[3]); i++) n += run(argv[2], i, 1);
		printf("%s %ld steps %.0f steps per second of CPU time\n", argv[2], n, n / (double(clock() - t0) / CLOCKS_PER_SEC));
		return 0;
	}
	if (argc == 4) {
		for (int i = 0; i < atoi(argv[3]); i++) run(argv[1], atoi(argv[2]) + i, 1);
		return 0;
	}
	for (const char* name : {"fall", "bullet", "hinge", "lander", "walker", "hardcore"})
		for (int i = 0; i < 2; i++) run(name, i, name[0] == 'w' || name[0] == 'h' ? 0.25f : 0.5f);
	return 0;
}
