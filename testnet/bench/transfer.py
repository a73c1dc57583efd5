#!/usr/bin/env python3
"""Plays a policy trained by evonode in the real Gymnasium, and checks that it does as well there.

    evonode train LunarLanderContinuous-v3 -o run.seedlog && evonode export run.seedlog -o policy.npz
    python3 -m venv /tmp/venv
    /tmp/venv/bin/pip install "gymnasium[box2d,mujoco]==1.4.0" numpy==2.4.6
    /tmp/venv/bin/python testnet/bench/transfer.py policy.npz [--episodes 100] [--evonode PATH]

Prints the mean return with its standard error in Gymnasium and, by evonode eval, here, and how many combined standard
errors they are apart. Exit status 1: more than two, or less than the world's threshold in Gymnasium. Every episode gets a
new environment, since Gymnasium's BipedalWalker keeps its engine across resets. Policies with virtual batch
normalisation, bins or held actions are refused. Parameters of the run's environment become keywords of Gymnasium's
constructor, a range of two of them: healthy_z_low=0.6 is healthy_z_range=(0.6, inf) in Hopper-v5.
"""

import argparse
import inspect
import json
import subprocess
import sys

import gymnasium
import numpy as np

UNBOUNDED = 2.0**128 - 2.0**104  # infinity as a parameter


class Policy:
    """docs/spec/model.md in NumPy, for one observation."""

    def __init__(self, path):
        with np.load(path) as f:
            arrays = {name: f[name] for name in f.files}
        meta = json.loads(arrays["__metadata__"].item())
        self.env = meta["env"]
        self.keywords = keywords(self.env, json.loads(meta.get("env_params", "{}")))
        policy, episodes = json.loads(meta["policy"]), json.loads(meta["episodes"])
        if policy.get("vbn") or policy["head"] == "bins" or episodes.get("skip", 1) not in (0, 1):
            sys.exit("transfer.py: this kind of policy is not supported")
        self.discrete = policy["head"] == "argmax"
        self.activate = np.tanh if policy["activation"] == "tanh" else lambda x: np.maximum(x, 0)
        self.layers = [
            (arrays[f"layers.{k}.weight"], arrays[f"layers.{k}.bias"] if policy["bias"] else np.float32(0))
            for k in range(len(policy["hidden"]) + 1)
        ]
        self.see = lambda obs: obs
        if "observations" in meta:
            clip, mean, std = json.loads(meta["observations"])["clip"], arrays["obs/mean"], arrays["obs/std"]
            scale = np.divide(1, std, out=np.zeros_like(std), where=std > 0)
            self.see = lambda obs: np.clip((obs - mean) * scale, -clip, clip)

    def __call__(self, obs, space):
        x = self.see(obs.astype(np.float32))
        for weight, bias in self.layers[:-1]:
            x = self.activate(x @ weight + bias)
        x = x @ self.layers[-1][0] + self.layers[-1][1]
        if self.discrete:
            return int(x.argmax())
        return np.clip(x.astype(np.float64), space.low, space.high)


def keywords(env, params):
    """Parameters as Gymnasium's constructor takes them."""
    words = inspect.signature(gymnasium.make(env).unwrapped.__init__).parameters
    given = {}
    for name, value in params.items():
        limit = name.removesuffix("_low").removesuffix("_high") + "_range"
        if limit in words:
            low, high = given.get(limit, words[limit].default)
            value = float("inf") * np.sign(value) if abs(value) == UNBOUNDED else value
            given[limit] = (value, high) if name.endswith("_low") else (low, value)
        elif name not in words:
            sys.exit(f"transfer.py: Gymnasium's {env} has no {name}")
        else:
            default = words[name].default
            given[name] = bool(value) if isinstance(default, bool) else int(value) if isinstance(default, int) and value == int(value) else value
    return given


def episode(policy, seed):
    env = gymnasium.make(policy.env, disable_env_checker=True, **policy.keywords)
    obs, _ = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        obs, reward, terminated, truncated, _ = env.step(policy(obs, env.action_space))
        total, over = total + reward, terminated or truncated
    env.close()
    return total


def main():
    parser = argparse.ArgumentParser(description="plays a policy in the real Gymnasium")
    parser.add_argument("model", help="a .npz file that evonode export wrote")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--evonode", default="evonode")
    args = parser.parse_args()
    policy = Policy(args.model)
    returns = [episode(policy, seed) for seed in range(args.episodes)]
    mean, error = np.mean(returns), np.std(returns, ddof=1) / np.sqrt(len(returns))
    out = subprocess.run([args.evonode, "eval", args.model, "--episodes", str(args.episodes), "--json"], check=True, capture_output=True)
    here = json.loads(out.stdout)
    apart = (mean - here["mean"]) / np.hypot(error, here["stderr"]) if mean != here["mean"] else 0.0
    threshold = gymnasium.spec(policy.env).reward_threshold or -np.inf
    print(f"{policy.env}, {args.episodes} episodes, threshold {threshold}")
    print(f"Gymnasium  {mean:.1f} +- {error:.1f}")
    print(f"here       {here['mean']:.1f} +- {here['stderr']:.1f}   ({apart:+.2f} combined standard errors)")
    return 0 if abs(apart) <= 2 and mean >= threshold else 1


if __name__ == "__main__":
    sys.exit(main())
