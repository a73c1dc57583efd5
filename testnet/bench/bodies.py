#!/usr/bin/env python3
"""Env-steps per CPU second of the environments with bodies here, in Gymnasium and in EnvPool, on one core.

    python3 -m venv /tmp/venv
    /tmp/venv/bin/pip install "gymnasium[box2d,mujoco]==1.4.0" mujoco==4.0.0 numpy==2.4.6 envpool==1.2.5
    taskset -c 0 /tmp/venv/bin/python testnet/bench/bodies.py box2d|mujoco [ROUNDS]

Random actions, resets included. EnvPool runs 64 environments in one thread, so that Python's share is small. Ours is the
benchmark BenchmarkStep of each environment, without the start of its program. It counts CPU seconds, not wall time, so
that other work on the machine matters less, although it still takes caches and clock rate. Each round measures all of them one
after another; the best of the rounds counts, since other work can only slow one down.
"""

import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import envpool
import gymnasium
import numpy as np

WORLDS = {  # of each family: their packages, and env-steps of a run of the benchmark
    "box2d": {
        "LunarLander-v3": ("lunarlander", 50_000),
        "LunarLanderContinuous-v3": ("lunarlander", 50_000),
        "BipedalWalker-v3": ("bipedalwalker", 20_000),
        "BipedalWalkerHardcore-v3": ("bipedalwalker", 20_000),
    },
    "mujoco": {
        "Hopper-v5": ("hopper", 20_000),
        "HalfCheetah-v5": ("halfcheetah", 20_000),
        "Walker2d-v5": ("walker2d", 20_000),
        "Ant-v5": ("ant", 10_000),
        "Humanoid-v5": ("humanoid", 5_000),
        "Swimmer-v5": ("swimmer", 50_000),
        "InvertedPendulum-v5": ("invertedpendulum", 50_000),
        "InvertedDoublePendulum-v5": ("inverteddoublependulum", 50_000),
        "Reacher-v5": ("reacher", 50_000),
    },
}
WINDOW = 0.7  # seconds of CPU time
COUNT = 64  # EnvPool's worlds
ROOT = pathlib.Path(__file__).resolve().parents[2]


def actions(space, rng, shape):
    if hasattr(space, "n"):
        return rng.integers(0, space.n, size=shape)
    return rng.uniform(space.low, space.high, size=shape + space.shape).astype(space.dtype)


def gym(name, rng):
    env = gymnasium.make(name, disable_env_checker=True)
    acts = actions(env.action_space, rng, (5000,))
    env.reset(seed=1)
    steps, begin = 0, time.process_time()
    while time.process_time() - begin < WINDOW:
        for a in acts[:500]:
            _, _, terminated, truncated, _ = env.step(a)
            if terminated or truncated:
                env.reset()
        steps += 500
    return steps / (time.process_time() - begin)


def pool(name, rng):
    """EnvPool has the LunarLanders as version 2, and MuJoCo's worlds as version 4 too; the physics is the same."""
    if name not in envpool.list_all_envs():
        name = name.replace("-v3", "-v2").replace("-v5", "-v4")
    env = envpool.make(name, env_type="gymnasium", num_envs=COUNT, batch_size=COUNT, num_threads=1, seed=1)
    acts = actions(env.action_space, rng, (100, COUNT))
    if acts.dtype.kind == "i":
        acts = acts.astype(np.int32)
    env.reset()
    steps, begin = 0, time.process_time()
    while time.process_time() - begin < WINDOW:
        for a in acts[:20]:
            env.step(a)
        steps += 20 * COUNT
    return steps / (time.process_time() - begin)


def child(binary, name, steps):
    """The CPU seconds of a run of the benchmark."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [binary, "-test.run", "NONE", "-test.bench", f"Step/{name}$", "-test.benchtime", f"{steps}x", "-test.cpu", "1"]
    subprocess.run(command, check=True, capture_output=True, cwd=pathlib.Path(binary).parent)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(binary, name, steps):
    return steps / (child(binary, name, steps) - child(binary, name, 1))


def main():
    family, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        print("| world | Gymnasium | EnvPool | here | times EnvPool |\n|---|---|---|---|---|")
        for name, (package, count) in WORLDS[family].items():
            binary = f"{folder}/{package}.test"
            subprocess.run(["go", "test", "-c", "-o", binary, f"./envs/{family}/{package}"], check=True, cwd=ROOT)
            best = [0.0, 0.0, 0.0]
            for _ in range(rounds):
                now = gym(name, rng), pool(name, rng), ours(binary, name, count)
                best = [max(b, n) for b, n in zip(best, now)]
            print(f"| {name} | {best[0]:,.0f} | {best[1]:,.0f} | {best[2]:,.0f} | {best[2] / best[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
