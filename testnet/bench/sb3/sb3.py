"""Seconds and env-steps until Stable-Baselines3 solves an environment, as evonode counts them.

    python sb3.py CartPole-v1 ppo 0 4        # seeds 0 to 4, one process each

The hyperparameters are those of rl-baselines3-zoo (ppo.yml, ars.yml). Training stops at the first held-out
evaluation (20 episodes of the deterministic policy, every INTERVAL steps) at or above the threshold that a test of 100
fresh episodes confirms, as in evonode. Prints one JSON line per seed: seconds of the whole process, of its imports and of its evaluations, and env-steps
of training.
"""
import json
import subprocess
import sys
import time

THRESHOLD = {"CartPole-v1": 475.0, "Pendulum-v1": -200.0}
# Those of the zoo.
LIMIT = {("CartPole-v1", "ppo"): 100_000, ("CartPole-v1", "ars"): 50_000,
         ("Pendulum-v1", "ppo"): 100_000, ("Pendulum-v1", "ars"): 2_000_000}
INTERVAL = {"CartPole-v1": 1000, "Pendulum-v1": 10_000}


def linear(value):
    return lambda left: left * value


def build(world, method, seed):
    from sb3_contrib import ARS
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecNormalize

    limit = LIMIT[world, method]
    if (world, method) == ("CartPole-v1", "ppo"):
        envs = make_vec_env(world, n_envs=8, seed=seed)
        return PPO("MlpPolicy", envs, n_steps=32, batch_size=256, gae_lambda=0.8, gamma=0.98, n_epochs=20, ent_coef=0.0,
                   learning_rate=linear(0.001), clip_range=linear(0.2), seed=seed, device="cpu"), limit
    if (world, method) == ("CartPole-v1", "ars"):
        return ARS("LinearPolicy", make_vec_env(world, n_envs=1, seed=seed), n_delta=2, seed=seed, device="cpu"), limit
    if (world, method) == ("Pendulum-v1", "ppo"):
        envs = make_vec_env(world, n_envs=4, seed=seed)
        return PPO("MlpPolicy", envs, n_steps=1024, gae_lambda=0.95, gamma=0.9, n_epochs=10, ent_coef=0.0,
                   learning_rate=1e-3, clip_range=0.2, use_sde=True, sde_sample_freq=4, seed=seed, device="cpu"), limit
    envs = VecNormalize(make_vec_env(world, n_envs=1, seed=seed), norm_reward=False)
    return ARS("MlpPolicy", envs, n_delta=4, n_top=1, learning_rate=0.018, delta_std=0.1, zero_policy=False,
               policy_kwargs=dict(net_arch=[16]), seed=seed, device="cpu"), limit


def one(world, method, seed):
    start = time.perf_counter()
    import gymnasium
    import numpy
    import sb3_contrib  # noqa: F401
    import stable_baselines3  # noqa: F401
    import torch
    from stable_baselines3.common.callbacks import BaseCallback
    imported = time.perf_counter() - start
    torch.set_num_threads(1)  # the networks are small

    def returns(model, first, n):
        """The mean return of n fresh episodes of the deterministic policy, in parallel so that evaluations cost little."""
        envs = [gymnasium.make(world) for _ in range(n)]
        obs = numpy.stack([env.reset(seed=first + k)[0] for k, env in enumerate(envs)])
        total, running = numpy.zeros(n), numpy.ones(n, bool)
        norm = model.get_vec_normalize_env()
        while running.any():
            actions, _ = model.predict(norm.normalize_obs(obs) if norm is not None else obs, deterministic=True)
            for k in numpy.flatnonzero(running):
                obs[k], reward, terminated, truncated, _ = envs[k].step(actions[k])
                total[k] += float(reward)
                running[k] = not (terminated or truncated)
        return float(total.mean())

    class Solved(Exception):
        pass

    class Stop(BaseCallback):
        next, solved, last, evaluating = INTERVAL[world], False, None, 0.0

        def _on_step(self):
            if self.num_timesteps < self.next:
                return True
            self.next = self.num_timesteps + INTERVAL[world]
            begin = time.perf_counter()
            self.last = returns(self.model, 10_000_000 + self.num_timesteps, 20)
            if self.last >= THRESHOLD[world]:
                self.last = returns(self.model, 20_000_000 + self.num_timesteps, 100)
                self.solved = self.last >= THRESHOLD[world]
            self.evaluating += time.perf_counter() - begin
            if self.solved:
                raise Solved  # ARS does not heed a callback's False
            return True

    model, limit = build(world, method, seed)
    stop = Stop()
    try:
        model.learn(limit, callback=stop)
    except Solved:
        pass
    print(json.dumps({"world": world, "method": method, "seed": seed, "solved": stop.solved, "steps": int(model.num_timesteps),
                      "seconds": time.perf_counter() - start, "import_seconds": imported, "evaluation_seconds": stop.evaluating, "return": stop.last}))


def main():
    if sys.argv[1] == "one":
        return one(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    world, method, first, last = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    for seed in range(first, last + 1):
        begin = time.perf_counter()
        done = subprocess.run([sys.executable, __file__, "one", world, method, str(seed)], capture_output=True, text=True, check=True)
        line = json.loads(done.stdout.splitlines()[-1])
        line["seconds"] = time.perf_counter() - begin  # of the whole process
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
