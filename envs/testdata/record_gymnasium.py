#!/usr/bin/env python3
"""Records what Gymnasium's classic control worlds do, for the oracle tests.

    python3 -m venv /tmp/venv
    /tmp/venv/bin/pip install gymnasium==1.4.0 numpy==2.4.6
    GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-AVX2 /tmp/venv/bin/python record_gymnasium.py

writes gymnasium_<id>.jsonl.gz beside this script: JSON lines, gzipped. The first
is a header with the versions. gymnasium_<id>_params.jsonl.gz has the same for worlds
whose constructor got keywords: a header for each, with "params". Then, by their field
"kind":

  reset    draws (the numbers u in [0, 1) behind every draw, in order), state, obs
  step     state, wide (the state is of dtype float64), action, next, obs, reward,
           terminated
  episode  draws, and for each step actions, states, rewards, terminated

States are the world's own float64 or float32 values, observations are float32; both
are written with the digits that give them back exactly. Actions of continuous worlds
are handed over as float64 arrays and go beyond their bounds at times.
"""

import gzip
import io
import json
import math
import os
import pathlib
import platform

import gymnasium
import numpy as np

SEED = 20260901
STEPS = 1000
RESETS = 100
EPISODES = 8
EPISODE_STEPS = 200
WORLDS = [
    "Acrobot-v1",
    "CartPole-v1",
    "MountainCar-v0",
    "MountainCarContinuous-v0",
    "Pendulum-v1",
]
PARAMS = {
    "CartPole-v1": [{"sutton_barto_reward": True}],
    "MountainCar-v0": [{"goal_velocity": 0.02}, {"goal_velocity": 0.045}],
    "MountainCarContinuous-v0": [{"goal_velocity": 0.02}, {"goal_velocity": 0.045}, {"goal_velocity": 0.07}],
    "Pendulum-v1": [{"g": 9.81}, {"g": 1.62}, {"g": 27.3}],
}


class Recorder:
    """A numpy Generator that keeps the numbers in [0, 1) behind its draws."""

    def __init__(self, seed):
        self.generator = np.random.Generator(np.random.PCG64(seed))
        self.draws = []

    def uniform(self, low=0.0, high=1.0, size=None):
        twin = np.random.Generator(np.random.PCG64())
        twin.bit_generator.state = self.generator.bit_generator.state
        value = self.generator.uniform(low, high, size)
        u = twin.random(np.shape(value))
        assert np.array_equal(low + (high - low) * u, value)
        self.draws.extend(np.ravel(u).tolist())
        return value


class World:
    """One world, its time limit removed, its randomness recorded."""

    def __init__(self, name, seed, params=None):
        self.name = name
        self.env = gymnasium.make(name, **(params or {})).unwrapped
        self.recorder = Recorder(seed)
        self.env._np_random = self.recorder
        self.actions = np.random.Generator(np.random.PCG64(seed + 1))
        self.hold, self.held, self.style = 0, 0.0, 0

    def reset(self):
        self.recorder.draws = []
        obs, _ = self.env.reset()
        self.hold = 0
        self.style = int(self.actions.integers(3))
        return obs

    def state(self):
        return numbers(self.env.state)

    def wide(self):
        return bool(np.asarray(self.env.state).dtype == np.float64)

    def action(self):
        """Style 0 is pure chance, 1 holds an action for a while, 2 works with the
        motion (or against the fall), so that all of the state space is visited."""
        if self.hold == 0:
            self.hold = 1 if self.style != 1 else int(self.actions.integers(1, 30))
            self.held = float(self.actions.uniform(-1.25, 1.25))
        self.hold -= 1
        x = self.held
        if self.style == 2 and self.actions.random() < 0.9:
            state = np.asarray(self.env.state, dtype=np.float64)
            lean = state[-1]
            if self.name == "CartPole-v1":
                lean = state[2] + 0.3 * state[3]
            x = math.copysign(float(self.actions.uniform(0.3, 1.25)), lean)
        space = self.env.action_space
        if hasattr(space, "n"):
            n = int(space.n)
            return min(n - 1, max(0, int((x + 1) * n / 2)))
        return x * float(space.high[0])

    def step(self, action):
        if not hasattr(self.env.action_space, "n"):
            action = np.array([action], dtype=np.float64)
        obs, reward, terminated, _, _ = self.env.step(action)
        return obs, float(reward), bool(terminated)


def numbers(values):
    """The values as JSON numbers that read back as the same doubles."""
    return [float(v) for v in np.asarray(values, dtype=np.float64)]


def singles(values):
    """float32 values as JSON numbers that read back as the same float32 ones."""
    assert values.dtype == np.float32
    return [float(str(v)) for v in values]


def resets(world, number):
    for _ in range(number):
        obs = world.reset()
        yield {
            "kind": "reset",
            "draws": list(world.recorder.draws),
            "state": world.state(),
            "obs": singles(obs),
        }


def steps(world, most):
    """One in about five steps of long episodes, and the first of each."""
    count = 0
    while count < most:
        world.reset()
        for t in range(EPISODE_STEPS):
            if count == most:
                return
            before, wide, action = world.state(), world.wide(), world.action()
            obs, reward, terminated = world.step(action)
            if t == 0 or terminated or world.actions.random() < 0.2:
                count += 1
                yield {
                    "kind": "step",
                    "state": before,
                    "wide": wide,
                    "action": action,
                    "next": world.state(),
                    "obs": singles(obs),
                    "reward": reward,
                    "terminated": terminated,
                }
            if terminated:
                break


def episodes(world, number):
    for _ in range(number):
        world.reset()
        record = {"kind": "episode", "draws": list(world.recorder.draws)}
        record.update(actions=[], states=[], rewards=[], terminated=False)
        for _ in range(EPISODE_STEPS):
            action = world.action()
            _, reward, terminated = world.step(action)
            record["actions"].append(action)
            record["states"].append(world.state())
            record["rewards"].append(reward)
            record["terminated"] = terminated
            if terminated:
                break
        yield record


def header(name, params=None):
    return {
        "kind": "header",
        "id": name,
        **({"params": {k: float(v) for k, v in params.items()}} if params else {}),
        "python": platform.python_version(),
        "gymnasium": gymnasium.__version__,
        "numpy": np.__version__,
        "libc": " ".join(platform.libc_ver()),
        "machine": platform.machine(),
        "glibc_tunables": os.environ.get("GLIBC_TUNABLES", ""),
        "seed": SEED,
    }


def record(name, params=None, parts=1):
    world = World(name, SEED, params)
    counts = [-(-n // parts) for n in (RESETS, STEPS, EPISODES)]
    return [header(name, params), *resets(world, counts[0]), *steps(world, counts[1]), *episodes(world, counts[2])]


def write(path, lines):
    text = io.StringIO()
    for line in lines:
        text.write(json.dumps(line, separators=(",", ":")) + "\n")
    path.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))
    ends = sum(line.get("terminated", False) for line in lines)
    print(f"{path.name}: {len(lines)} lines, {ends} terminated, {path.stat().st_size} bytes")


def main():
    folder = pathlib.Path(__file__).resolve().parent
    for name in WORLDS:
        write(folder / f"gymnasium_{name}.jsonl.gz", record(name))
        if name in PARAMS:
            sets = PARAMS[name]
            write(folder / f"gymnasium_{name}_params.jsonl.gz", [line for p in sets for line in record(name, p, len(sets))])


if __name__ == "__main__":
    main()
