#!/usr/bin/env python3
"""Env-steps per second of the Box2D worlds beside Gymnasium's and EnvPool's, on one core.

    python3 -m venv /tmp/venv
    /tmp/venv/bin/pip install "gymnasium[box2d]==1.4.0" numpy==2.4.6 envpool==1.2.5
    taskset -c 0 /tmp/venv/bin/python docs/bench/box2d.py [ROUNDS]

Random actions, resets included. EnvPool runs 64 worlds in one thread, so that Python's share is small. Ours is the
benchmark BenchmarkStep of each world. Each round measures all of them one after another; the best of the rounds counts,
since other work on the machine can only slow one down.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import time

import envpool
import gymnasium
import numpy as np

WORLDS = {
    "LunarLander-v3": "lunarlander",
    "LunarLanderContinuous-v3": "lunarlander",
    "BipedalWalker-v3": "bipedalwalker",
    "BipedalWalkerHardcore-v3": "bipedalwalker",
}
WINDOW = 1.0  # seconds
COUNT = 64  # EnvPool's worlds
ROOT = pathlib.Path(__file__).resolve().parents[2]


def actions(space, rng, shape):
    if hasattr(space, "n"):
        return rng.integers(0, space.n, size=shape)
    return rng.uniform(-1, 1, size=shape + space.shape).astype(np.float32)


def gym(name, rng):
    env = gymnasium.make(name, disable_env_checker=True)
    acts = actions(env.action_space, rng, (5000,))
    env.reset(seed=1)
    steps, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < WINDOW:
        for a in acts[:500]:
            _, _, terminated, truncated, _ = env.step(a)
            if terminated or truncated:
                env.reset()
        steps += 500
    return steps / (time.perf_counter() - begin)


def pool(name, rng):
    """EnvPool has the LunarLanders as version 2 too; the physics is the same."""
    if name not in envpool.list_all_envs():
        name = name.replace("-v3", "-v2")
    env = envpool.make(name, env_type="gymnasium", num_envs=COUNT, batch_size=COUNT, num_threads=1, seed=1)
    acts = actions(env.action_space, rng, (100, COUNT))
    if acts.dtype != np.float32:
        acts = acts.astype(np.int32)
    env.reset()
    steps, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < WINDOW:
        for a in acts[:20]:
            env.step(a)
        steps += 20 * COUNT
    return steps / (time.perf_counter() - begin)


def ours(binary, name):
    command = [binary, "-test.run", "NONE", "-test.bench", f"Step/{name}$", "-test.benchtime", f"{WINDOW}s", "-test.cpu", "1"]
    out = subprocess.run(command, check=True, capture_output=True, text=True, cwd=pathlib.Path(binary).parent).stdout
    return float(re.search(r"([\d.e+]+) steps/s", out).group(1))


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        binaries = {}
        for package in set(WORLDS.values()):
            binaries[package] = f"{folder}/{package}.test"
            subprocess.run(["go", "test", "-c", "-o", binaries[package], f"./envs/box2d/{package}"], check=True, cwd=ROOT)
        print("| world | Gymnasium | EnvPool | here | times EnvPool |\n|---|---|---|---|---|")
        for name, package in WORLDS.items():
            best = [0.0, 0.0, 0.0]
            for _ in range(rounds):
                now = gym(name, rng), pool(name, rng), ours(binaries[package], name)
                best = [max(b, n) for b, n in zip(best, now)]
            print(f"| {name} | {best[0]:,.0f} | {best[1]:,.0f} | {best[2]:,.0f} | {best[2] / best[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
