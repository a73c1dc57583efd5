#!/usr/bin/env python3
"""Trains a linear policy by Stable-Baselines3's ARS in the real Gymnasium, and checks that it does as well here.

    python3 -m venv /tmp/venv
    /tmp/venv/bin/pip install torch==2.8.0 stable-baselines3==2.9.0 sb3-contrib==2.9.0 "gymnasium[mujoco]==1.4.0" mujoco==4.0.0
    /tmp/venv/bin/python testnet/bench/sb3/transfer.py HalfCheetah-v5 --steps 300000 [--evonode PATH]

The other direction is testnet/bench/transfer.py. Prints the mean return with its standard error in Gymnasium and, by evonode
eval, here, and how many combined standard errors they are apart. Exit status 1: more than two. The hyperparameters are
those of rl-baselines3-zoo (ars.yml).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import gymnasium
import numpy as np
import torch
from sb3_contrib import ARS
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize

ZOO = {
    "Swimmer-v5": dict(n_delta=1, n_top=1, learning_rate=0.02, delta_std=0.01),
    "Hopper-v5": dict(n_delta=8, n_top=4, learning_rate=0.01, delta_std=0.025, alive_bonus_offset=-1),
    "HalfCheetah-v5": dict(n_delta=32, n_top=4, learning_rate=0.02, delta_std=0.03),
    "Walker2d-v5": dict(n_delta=40, n_top=30, learning_rate=0.03, delta_std=0.025, alive_bonus_offset=-1),
    "Ant-v5": dict(n_delta=60, n_top=20, learning_rate=0.015, delta_std=0.025, alive_bonus_offset=-1),
    "Humanoid-v5": dict(n_delta=230, n_top=230, learning_rate=0.02, delta_std=0.0075, alive_bonus_offset=-5),
}
ZERO = dict(n_delta=8, n_top=4, learning_rate=0.02, delta_std=0.05)  # for what the zoo does not have


def train(world, steps, seed):
    """The weights [actions, observations], and the mean and the standard deviation of observations."""
    torch.set_num_threads(1)
    envs = VecNormalize(make_vec_env(world, n_envs=1, seed=seed), norm_reward=False)
    model = ARS("LinearPolicy", envs, seed=seed, device="cpu", **ZOO.get(world, ZERO))
    model.learn(steps)
    (weights,) = model.policy.action_net.parameters()
    rms = envs.obs_rms
    return weights.detach().numpy().astype(np.float32), rms.mean.astype(np.float32), np.sqrt(rms.var + envs.epsilon).astype(np.float32)


def write(path, world, weights, mean, std):
    """docs/spec/model.md: npz."""
    text = json.dumps
    meta = {
        "run": "", "height": "0", "head": "", "env": world, "env_revision": "1",
        "policy": text({"kind": "linear", "hidden": [], "activation": "", "bias": False, "head": "clip", "bins": 0}),
        "episodes": text({"count": 1, "shared": True}),
        "observations": text({"kind": "running", "episodes": 1, "clip": 10}),
    }
    arrays = {"layers.0.weight": weights.T.copy(), "obs/mean": mean, "obs/std": std}
    np.savez(path, __metadata__=np.array(text(meta)), **arrays)


def gym(world, weights, mean, std, episodes):
    env = gymnasium.make(world)
    returns = []
    for seed in range(episodes):
        obs, _ = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            see = np.clip((obs.astype(np.float32) - mean) / std, -10, 10)
            action = np.clip(weights @ see, env.action_space.low, env.action_space.high)
            obs, reward, terminated, truncated, _ = env.step(action)
            total, over = total + float(reward), terminated or truncated
        returns.append(total)
    return np.mean(returns), np.std(returns, ddof=1) / np.sqrt(episodes)


def main():
    parser = argparse.ArgumentParser(description="trains by Stable-Baselines3 and evaluates there and here")
    parser.add_argument("world")
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--evonode", default="evonode")
    args = parser.parse_args()
    policy = train(args.world, args.steps, args.seed)
    mean, error = gym(args.world, *policy, args.episodes)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "policy.npz")
        write(path, args.world, *policy)
        out = subprocess.run([args.evonode, "eval", path, "--episodes", str(args.episodes), "--json"], capture_output=True, text=True)
        if out.returncode:
            sys.exit(out.stderr)
        here = json.loads(out.stdout)
    apart = (mean - here["mean"]) / np.hypot(error, here["stderr"])
    print(f"{args.world} by Stable-Baselines3's ARS, {args.steps} env-steps, {args.episodes} episodes")
    print(f"Gymnasium  {mean:.1f} +- {error:.1f}")
    print(f"here       {here['mean']:.1f} +- {here['stderr']:.1f}   ({apart:+.2f} combined standard errors)")
    return 0 if abs(apart) <= 2 else 1


if __name__ == "__main__":
    sys.exit(main())
