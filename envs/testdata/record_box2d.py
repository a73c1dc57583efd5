#!/usr/bin/env python3
"""Records episodes of Gymnasium's Box2D worlds, for the oracle tests.

    python3 -m venv /tmp/venv
    /tmp/venv/bin/pip install "gymnasium[box2d]==1.4.0" numpy==2.4.6   # Box2D 2.3.10
    GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-AVX2 /tmp/venv/bin/python record_box2d.py

writes box2d_<id>.jsonl.gz beside this script: JSON lines, gzipped. The first is a
header with the versions. box2d_<id>_params.jsonl.gz has the same of landers whose
constructor got other keywords than those of wind. Every other line is an episode:

  seed     of the draws: the n-th number u in [0, 1), n = 1, 2, ..., is that of SplitMix64
           (below); uniform = low + (high - low) u, integer = low + floor(u (high - low))
  policy   who acted
  wind     [wind power, turbulence power], null for none
  params   keywords of the constructor, in the files that have them
  steps    number of steps, reset not counted
  draws    number of draws, those of the reset included
  actions  base64 of one byte (discrete) or of float32 values for each step
  obs      base64 of the observations, float32: of the reset and the first 100 steps
           (walkers: 60)
  hashes   base64 of the CRC-32 of each step: observation as float32, reward as float64,
           terminated as a byte
  return   sum of the rewards
  end      [terminated, x of the last observation's body]

Binary values are little-endian. Actions are handed over as float64 arrays of float32
values. Every episode is the first one of a new environment: BipedalWalker keeps its
Box2D world across resets, so later episodes depend on earlier ones.

With --bodies FOLDER it writes there instead what the engine is told and answers, step
by step, of the first episodes of each world.
"""

import argparse
import base64
import gzip
import io
import json
import os
import pathlib
import platform
import struct
import zlib

import Box2D
import gymnasium
import numpy as np
from gymnasium.envs.box2d import bipedal_walker, lunar_lander

WORLDS = {
    "LunarLander-v3": 1000,
    "LunarLanderContinuous-v3": 1000,
    "BipedalWalker-v3": 1600,
    "BipedalWalkerHardcore-v3": 2000,
}
POLICIES = ["random", "heuristic", "hold", "heuristic", "noisy"]
EPISODES = 50
WIND_EPISODES = 10
PARAMS_EPISODES = 50
BODY_EPISODES = 5
PARAMS = [
    {"gravity": -1.62},
    {"gravity": -3.71},
    {"gravity": -11.9},
    {"gravity": -8.5, "enable_wind": True},
    {"enable_wind": True, "wind_power": 7.5},
    {"gravity": -11, "enable_wind": True, "wind_power": 20.0, "turbulence_power": 0.3},
]
MASK = (1 << 64) - 1


class Draws:
    """Stands for a numpy Generator. Its numbers are those of SplitMix64."""

    def __init__(self, seed):
        self.state, self.count = seed, 0

    def random(self):
        self.count += 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return ((z ^ (z >> 31)) >> 11) / (1 << 53)

    def uniform(self, low=0.0, high=1.0, size=None):
        if size is None:
            return low + (high - low) * self.random()
        u = np.array([self.random() for _ in range(int(np.prod(size)))])
        return (low + (high - low) * u).reshape(size)

    def integers(self, low, high):
        return np.int64(low + int(self.random() * (high - low)))


class Policy:
    """Acts by chance, holds an action for a while, follows Gymnasium's controller, or
    does so with chance in between; or it is a linear one, read from a file."""

    def __init__(self, kind, env, seed, weights):
        self.kind, self.env, self.weights = kind, env, weights
        self.chance = np.random.Generator(np.random.PCG64(seed))
        self.discrete = hasattr(env.action_space, "n")
        self.left, self.held, self.walker = 0, None, None
        if isinstance(env.unwrapped, bipedal_walker.BipedalWalker):
            self.walker = bipedal_walker.BipedalWalkerHeuristics()

    def sample(self):
        """A random action; real ones go beyond the bounds at times."""
        if self.discrete:
            return int(self.chance.integers(self.env.action_space.n))
        return self.chance.uniform(-1.2, 1.2, self.env.action_space.shape)

    def hold(self, longest):
        if self.left == 0:
            self.left, self.held = int(self.chance.integers(1, longest)), self.sample()
        self.left -= 1
        return self.held

    def heuristic(self, obs):
        if self.walker:
            return self.walker.step_heuristic(obs)
        return lunar_lander.heuristic(self.env, obs)

    def linear(self, obs):
        out = np.array(self.weights["weights"]) @ obs.astype(np.float64) + np.array(self.weights["bias"])
        return int(np.argmax(out)) if self.discrete else np.clip(out, -1, 1)

    def __call__(self, obs):
        if self.kind == "random":
            action = self.sample()
        elif self.kind == "hold":
            action = self.hold(40)
        elif self.kind == "trained":
            action = self.linear(obs)
        else:
            action = self.heuristic(obs)
            if self.kind == "noisy" and self.chance.random() < 0.15:
                action = self.sample()
        if self.discrete:
            return int(action)
        return np.asarray(action, dtype=np.float32).astype(np.float64)


def make(name, wind, params=None):
    options = params or {}
    if wind:
        options = {"enable_wind": True, "wind_power": wind[0], "turbulence_power": wind[1]}
    return gymnasium.make(name, disable_env_checker=True, **options)


def plan(name, trained):
    """The episodes of a world: seed, policy, wind, weights."""
    number = list(WORLDS).index(name) + 1
    kinds = [POLICIES[i % len(POLICIES)] for i in range(EPISODES)]
    weights = trained.get(name, [])
    for i in range(len(weights) and 10):
        kinds[5 * i + 2] = "trained" if i % 2 else "hold"
        kinds[5 * i + 3] = "trained"
    for i, kind in enumerate(kinds):
        own = weights[i % len(weights)] if kind == "trained" else None
        yield 1000 * number + i, kind, None, own
    if name.startswith("Lunar"):
        for i in range(WIND_EPISODES):
            yield 1000 * number + 500 + i, POLICIES[i % len(POLICIES)], [2.0 * (i + 1), 0.2 * (i + 1)], None


def plan_params(name):
    """The episodes of a lander with other parameters."""
    number = list(WORLDS).index(name) + 1
    for i in range(PARAMS_EPISODES):
        yield 1000 * number + 600 + i, POLICIES[i % len(POLICIES)], None, None, PARAMS[i % len(PARAMS)]


def play(name, seed, kind, wind, weights, params=None, watch=None):
    """Plays one episode and yields what the record needs of each step."""
    env = make(name, wind, params)
    world = env.unwrapped
    world._np_random = Draws(seed)
    if watch:
        watch.begin(world)
    obs, _ = env.reset()
    policy = Policy(kind, env, seed, weights)
    yield None, obs, 0.0, False, world
    for _ in range(WORLDS[name]):
        action = policy(obs)
        obs, reward, terminated, truncated, _ = env.step(action)
        yield action, obs, float(reward), bool(terminated), world
        if terminated or truncated:
            break
    env.close()


def text(data):
    return base64.b64encode(data).decode()


def episode(name, seed, kind, wind, weights, params=None):
    actions, seen, hashes, total = b"", b"", b"", 0.0
    steps = -1
    for action, obs, reward, terminated, world in play(name, seed, kind, wind, weights, params):
        steps += 1
        raw = obs.astype("<f4").tobytes()
        if steps <= (100 if name.startswith("Lunar") else 60):
            seen += raw
        if action is None:
            continue
        total += reward
        actions += bytes([action]) if isinstance(action, int) else action.astype("<f4").tobytes()
        hashes += struct.pack("<I", zlib.crc32(raw + struct.pack("<d?", reward, terminated)))
    body = world.lander if name.startswith("Lunar") else world.hull
    return {
        "seed": seed, "policy": kind, "wind": wind, **({"params": {k: float(v) for k, v in params.items()}} if params else {}), "steps": steps, "draws": world._np_random.count,
        "actions": text(actions), "obs": text(seen), "hashes": text(hashes),
        "return": total, "end": [terminated, float(body.position.x)],
    }  # fmt: skip


class Watch:
    """Writes down what the engine is told and answers."""

    def __init__(self):
        self.lines, self.calls, self.world = [], [], None
        for cls, call in [
            (Box2D.b2Body, "ApplyForceToCenter"),
            (Box2D.b2Body, "ApplyLinearImpulse"),
            (Box2D.b2Body, "ApplyTorque"),
        ]:
            setattr(cls, call, self.told(call, getattr(cls, call)))
        torque = Box2D.b2RevoluteJoint.maxMotorTorque
        Box2D.b2RevoluteJoint.maxMotorTorque = property(None, lambda joint, value: self.told_torque(torque, joint, value))
        step = Box2D.b2World.Step
        Box2D.b2World.Step = lambda world, *args: self.step(step, world, args)

    def told(self, name, real):
        def call(body, *args):
            flat = np.ravel([np.asarray(tuple(a) if hasattr(a, "__len__") else a, dtype=float) for a in args[:-1]])
            self.calls.append([name, self.index(body), *flat.tolist()])
            return real(body, *args)

        return call

    def told_torque(self, real, joint, value):
        self.calls.append(["maxMotorTorque", list(self.world.world.joints).index(joint), value])
        real.fset(joint, value)

    def begin(self, world):
        self.lines, self.calls, self.world = [], [], world

    def bodies(self):
        """Moving bodies, in the order of their creation."""
        return [b for b in list(self.world.world.bodies) if b.type == Box2D.b2_dynamicBody]

    def index(self, body):
        return self.bodies().index(body)

    def setup(self):
        bodies = list(self.world.world.bodies)
        joints = list(self.world.world.joints)
        return {
            "bodies": [{
                "type": b.type, "position": list(b.position), "angle": b.angle, "mass": b.mass, "inertia": b.inertia,
                "center": list(b.localCenter),
                "fixtures": [{"vertices": [list(v) for v in f.shape.vertices], "density": f.density, "friction": f.friction,
                              "restitution": f.restitution, "category": f.filterData.categoryBits, "mask": f.filterData.maskBits}
                             for f in b.fixtures],
            } for b in bodies],
            "joints": [{"a": bodies.index(j.bodyA), "b": bodies.index(j.bodyB), "lower": j.lowerLimit, "upper": j.upperLimit} for j in joints],
        }  # fmt: skip

    def step(self, real, world, args):
        if not self.lines:
            self.lines.append(self.setup())
        speeds = [j.motorSpeed for j in world.joints]
        real(world, *args)
        bodies = list(world.bodies)
        contacts = []
        for c in world.contacts:
            a, b, m = c.fixtureA, c.fixtureB, c.manifold
            contacts.append([
                bodies.index(a.body), list(a.body.fixtures).index(a), bodies.index(b.body), list(b.body.fixtures).index(b), c.touching,
                [[p.localPoint[0], p.localPoint[1], p.normalImpulse, p.tangentImpulse, p.id.key] for p in m.points[: m.pointCount]],
            ])  # fmt: skip
        self.lines.append({
            "calls": self.calls, "speeds": speeds, "contacts": contacts,
            "bodies": [[*b.position, b.angle, *b.linearVelocity, b.angularVelocity, *b.worldCenter, b.awake] for b in self.bodies()],
        })  # fmt: skip
        self.calls = []
        return None


def header(name):
    return {
        "id": name,
        "python": platform.python_version(),
        "gymnasium": gymnasium.__version__,
        "box2d": Box2D.__version__,
        "numpy": np.__version__,
        "libc": " ".join(platform.libc_ver()),
        "machine": platform.machine(),
        "glibc_tunables": os.environ.get("GLIBC_TUNABLES", ""),
    }


def compress(path, lines):
    out = io.StringIO()
    for line in lines:
        out.write(json.dumps(line, separators=(",", ":")) + "\n")
    path.write_bytes(gzip.compress(out.getvalue().encode(), 9, mtime=0))


def record(name, path, episodes):
    lines = [header(name)] + [episode(name, *p) for p in episodes]
    compress(path, lines)
    steps = sum(line.get("steps", 0) for line in lines)
    print(f"{path.name}: {len(lines) - 1} episodes, {steps} steps, {path.stat().st_size} bytes", flush=True)


def record_bodies(name, folder, trained):
    watch = Watch()
    for p in list(plan(name, trained))[:BODY_EPISODES]:
        observations = [[float(x) for x in s[1]] for s in play(name, *p, watch=watch)]
        path = folder / f"{name}_{p[0]}_{p[1]}.jsonl.gz"
        compress(path, [*watch.lines, {"obs": observations}])
        print(path, len(watch.lines) - 1, "steps", flush=True)


def main():
    parser = argparse.ArgumentParser(description="records Gymnasium's Box2D worlds")
    parser.add_argument("--bodies", metavar="FOLDER", help="write engine-level records there instead")
    parser.add_argument("worlds", nargs="*", default=list(WORLDS))
    args = parser.parse_args()
    here = pathlib.Path(__file__).resolve().parent
    path = here / "box2d_policies.json"
    trained = json.loads(path.read_text()) if path.exists() else {}
    for name in args.worlds:
        if args.bodies:
            record_bodies(name, pathlib.Path(args.bodies), trained)
        else:
            record(name, here / f"box2d_{name}.jsonl.gz", plan(name, trained))
            if name.startswith("Lunar"):
                record(name, here / f"box2d_{name}_params.jsonl.gz", plan_params(name))


if __name__ == "__main__":
    main()
