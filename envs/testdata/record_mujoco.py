#!/usr/bin/env python3
"""Records steps of Gymnasium's MuJoCo worlds, for the oracle tests.

    python3 -m venv /tmp/venv
    /tmp/venv/bin/pip install "gymnasium[mujoco]==1.4.0" mujoco==4.0.0 numpy==2.4.6
    /tmp/venv/bin/python record_mujoco.py

writes mujoco_<id>.jsonl.gz beside this script: JSON lines, gzipped. With an older MuJoCo

    /tmp/venv35/bin/python record_mujoco.py --rules 3.5 [ID ...]

writes mujoco_<id>_<rules>.jsonl.gz, with fewer runs. The first line is a header: versions, sizes of the model, the
hash of its XML, and the SHA-256 of the other lines. The second line has resets, lists of

  draws       the numbers u in [0, 1) that were drawn: uniform = low + (high - low) u, normal = the entry of
              internal/noise/normal.bin that floor(65536 u) names
  state       base64 of qpos, qvel, qacc_warmstart, and what derived values the next reward reads (Ant: x of the
              main body, Humanoid: x of the mass center, others nothing), as float64
  obs         base64 of the observation, as float64

Every other line is a run of 20 steps, so that 50 runs have 1,000 steps, each of which starts where the one before has
ended:

  policy      who acted before the run and in it; trained policies are in mujoco_policies.json
  before      steps from the reset to the start of the run
  start       the state at its start
  actions     base64 of float32 values for each step; some are beyond the bounds
  states      the state after each step
  obs         the observations after steps 10 and 20
  rewards     base64 of float64
  terminated  a character for each step, 0 or 1; the run goes on after a 1
  ncon, nefc  contacts and rows of constraints in the last evaluation of each step
  jitter      how far qpos and qvel are off at the end of the run if one of them starts off by one unit in the last
              place, relative above 1: the largest of four tries. Some runs amplify rounding

    /tmp/venv/bin/python record_mujoco.py --keywords

writes mujoco_keywords.jsonl.gz: the worlds with keywords of their constructors that decide what an observation has, or
whose velocity is rewarded. It has the same lines; before the resets of each world and its keywords there is one with their
id, sizes and "params", the keywords as numbers, of which 0 is False and 1 is True.

Binary values are little-endian. A run starts in a state of a rollout: the data is reset, and qpos, qvel and the warm
start are set, as by set_state, so that derived values are those of that state and not those of the step before it.
Actions are handed over as float64 arrays of float32 values.
"""

import argparse
import base64
import gzip
import hashlib
import json
import pathlib
import platform

import gymnasium
import mujoco
import numpy as np

WORLDS = [
    "InvertedPendulum-v5",
    "InvertedDoublePendulum-v5",
    "Reacher-v5",
    "Swimmer-v5",
    "Hopper-v5",
    "HalfCheetah-v5",
    "Walker2d-v5",
    "Ant-v5",
    "Humanoid-v5",
]
POLICIES = ["random", "scaled", "held", "fallen", "kicked"]
RESETS, RUNS, STEPS, OBS_EVERY, JITTERS = 8, 50, 20, 10, 4
RUNS_OF_OLD_RULES = {"Humanoid-v5": 6}  # others 15
RESETS_WITH_KEYWORDS = 4
RUNS_WITH_KEYWORDS = {"Ant-v5": 5, "Humanoid-v5": 3}  # others 10
PLACE = "exclude_current_positions_from_observation"
KEYWORDS = {
    "Swimmer-v5": [{PLACE: False}],
    "Hopper-v5": [{PLACE: False}],
    "HalfCheetah-v5": [{PLACE: False}],
    "Walker2d-v5": [{PLACE: False}],
    "Ant-v5": [
        {PLACE: False},
        {"include_cfrc_ext_in_observation": False},
        {"main_body": 10},
        {PLACE: False, "include_cfrc_ext_in_observation": False, "main_body": 3},
    ],
    "Humanoid-v5": [
        {PLACE: False},
        {"include_cinert_in_observation": False},
        {"include_cvel_in_observation": False},
        {"include_qfrc_actuator_in_observation": False},
        {"include_cfrc_ext_in_observation": False},
        {PLACE: False, "include_cinert_in_observation": False, "include_qfrc_actuator_in_observation": False},
        {
            PLACE: False, "include_cinert_in_observation": False, "include_cvel_in_observation": False,
            "include_qfrc_actuator_in_observation": False, "include_cfrc_ext_in_observation": False,
        },
    ],
}  # fmt: skip
MASK = (1 << 64) - 1
NORMAL = pathlib.Path(__file__).resolve().parents[2] / "internal" / "noise" / "normal.bin"


class Draws:
    """Stands for a numpy Generator. Its numbers are those of SplitMix64."""

    def __init__(self, seed):
        self.state, self.draws = seed, []
        upper = np.frombuffer(NORMAL.read_bytes(), "<f4").astype(np.float64)
        self.normal = np.concatenate([-upper[::-1], upper])

    def random(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        self.draws.append(((z ^ (z >> 31)) >> 11) / (1 << 53))
        return self.draws[-1]

    def uniform(self, low, high, size):
        return np.array([low + (high - low) * self.random() for _ in range(size)])

    def standard_normal(self, size):
        return np.array([self.normal[int(self.random() * 65536)] for _ in range(size)])


class Policy:
    """Random actions. Scaled ones are small, held ones last up to 20 steps. A trained policy is linear, of
    observations that are normalized by mean and std if it has them."""

    def __init__(self, kind, space, chance, trained):
        self.kind, self.space, self.chance, self.left, self.held, self.trained = kind, space, chance, 0, None, trained

    def follow(self, obs):
        if "mean" in self.trained:
            obs = np.clip((obs - self.trained["mean"]) / np.maximum(self.trained["std"], 1e-9), -10, 10)
        action = np.clip(np.array(self.trained["weights"]) @ obs, self.space.low, self.space.high)
        return action.astype(np.float32).astype(np.float64)

    def __call__(self, obs):
        if self.kind == "trained":
            return self.follow(obs)
        if self.kind == "held" and self.left > 0:
            self.left -= 1
            return self.held
        scale = 0.25 if self.kind == "scaled" else 1.2
        action = self.chance.uniform(scale * self.space.low, scale * self.space.high)
        self.held, self.left = action.astype(np.float32).astype(np.float64), int(self.chance.integers(20))
        return self.held


def lead(env, kind, policy, chance):
    """Plays to where a run starts, and returns how many steps that took since the last reset, and what is seen."""
    obs, _ = env.reset(seed=int(chance.integers(1 << 31)))
    long = 20 if "Reacher" in env.spec.id else 60
    wanted, steps, falls = int(chance.integers(long * {"scaled": 4, "trained": 10}.get(kind, 1))), 0, 0
    while steps < wanted:
        obs, _, terminated, _, _ = env.step(policy(obs))
        steps += 1
        if kind == "fallen" and terminated and not falls:
            falls, wanted = 1, steps + int(chance.integers(2 * long))
        elif terminated and kind != "fallen":
            obs, _ = env.reset(seed=int(chance.integers(1 << 31)))
            wanted, steps = wanted - steps, 0
        if kind == "fallen" and not falls and steps == wanted < 10 * long:
            wanted += 1
    return steps, obs


def read(env):
    """What carries over from one step to the next."""
    world, data = env.unwrapped, env.unwrapped.data
    stale = []
    if env.spec.id == "Ant-v5":
        stale = data.body(world._main_body).xpos[:1]
    if env.spec.id == "Humanoid-v5":
        mass = world.model.body_mass
        stale = [(np.einsum("b,bj->j", mass, data.xipos) / mass.sum())[0]]
    return np.concatenate([data.qpos, data.qvel, data.qacc_warmstart, stale])


def begin(world, state):
    """Resets the data to qpos, qvel and warm start."""
    nq, nv = world.model.nq, world.model.nv
    mujoco.mj_resetData(world.model, world.data)
    world.set_state(state[:nq], state[nq : nq + nv])
    world.data.qacc_warmstart[:] = state[nq + nv : nq + 2 * nv]


def jitter(world, start, actions, end, chance):
    """How far the run's end moves if its start moves by one unit in the last place."""
    worst, n = 0.0, world.model.nq + world.model.nv
    for _ in range(JITTERS):
        state, i = start.copy(), chance.integers(n)
        state[i] = np.nextafter(state[i], chance.choice([-np.inf, np.inf]))
        begin(world, state)
        for action in actions:
            world.step(action)
        got = np.concatenate([world.data.qpos, world.data.qvel])
        worst = max(worst, np.max(np.abs(got - end[:n]) / np.maximum(1, np.abs(end[:n]))))
    return float(worst)


def text(values, kind="<f8"):
    return base64.b64encode(np.asarray(values).astype(kind).tobytes()).decode()


def reset(env, seed):
    draws = Draws(seed)
    env.unwrapped._np_random = draws
    obs, _ = env.reset()
    return {"draws": draws.draws, "state": text(read(env)), "obs": text(obs)}


def run(env, kind, chance, trained):
    world = env.unwrapped
    policy = Policy(kind, env.action_space, chance, trained)
    before, obs = lead(env, kind, policy, chance)
    qpos, qvel, warmstart = world.data.qpos.copy(), world.data.qvel.copy(), world.data.qacc_warmstart.copy()
    if kind == "kicked":
        qvel += chance.normal(0, 1, qvel.shape)
        if "Reacher" in env.spec.id:
            qvel[2:] = 0
    begin(world, np.concatenate([qpos, qvel, warmstart]))
    start, actions, states, seen, rewards, ends, ncon, nefc = read(env), [], [], [], [], "", [], []
    for step in range(STEPS):
        action = policy(obs)
        obs, reward, terminated, _, _ = world.step(action)
        actions.append(action)
        states.append(read(env))
        rewards.append(reward)
        ends += "01"[bool(terminated)]
        ncon.append(int(world.data.ncon))
        nefc.append(int(world.data.nefc))
        if step % OBS_EVERY == OBS_EVERY - 1:
            seen.append(obs)
    assert np.isfinite(states).all()
    return {
        "policy": kind, "before": before, "start": text(start), "actions": text(actions, "<f4"), "states": text(states), "obs": text(seen),
        "rewards": text(rewards), "terminated": ends, "ncon": ncon, "nefc": nefc, "jitter": jitter(world, start, actions, states[-1], chance),
    }  # fmt: skip


def versions():
    return {
        "mujoco": mujoco.__version__,
        "gymnasium": gymnasium.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }


def sizes(env):
    model, path = env.unwrapped.model, pathlib.Path(env.unwrapped.fullpath)
    return {
        "xml": [path.name, hashlib.sha256(path.read_bytes()).hexdigest()],
        "nq": model.nq, "nv": model.nv, "nu": model.nu, "obs": env.observation_space.shape[0],
    }  # fmt: skip


def digest(lines):
    return {"sha256": hashlib.sha256("".join(lines).encode()).hexdigest()}


def header(env, lines):
    return {"id": env.spec.id, **versions(), **sizes(env), **digest(lines)}


def record(name, path, runs, seed, trained):
    env = gymnasium.make(name, disable_env_checker=True).unwrapped
    chance = np.random.Generator(np.random.PCG64(seed))
    lines = [compact({"resets": [reset(env, seed + 100 * i) for i in range(RESETS)]})]
    kinds = POLICIES + ["trained"] * (name in trained)
    lines += [compact(run(env, kinds[i % len(kinds)], chance, trained.get(name))) for i in range(runs)]
    out = "".join([compact(header(env, lines)), *lines])
    path.write_bytes(gzip.compress(out.encode(), 9, mtime=0))
    print(f"{path.name}: {runs} runs, {runs * STEPS} steps, {path.stat().st_size} bytes", flush=True)


def record_keywords(path):
    lines = []
    for name, choices in KEYWORDS.items():
        for number, keywords in enumerate(choices):
            env = gymnasium.make(name, disable_env_checker=True, **keywords).unwrapped
            seed = 1000 + 100 * WORLDS.index(name) + number
            chance = np.random.Generator(np.random.PCG64(seed))
            params = {word: int(value) for word, value in keywords.items()}
            lines.append(compact({"id": name, "params": params, **sizes(env)}))
            lines.append(compact({"resets": [reset(env, seed + 100_000 * i) for i in range(RESETS_WITH_KEYWORDS)]}))
            for i in range(RUNS_WITH_KEYWORDS.get(name, 10)):
                lines.append(compact(run(env, POLICIES[i % len(POLICIES)], chance, None)))
    out = "".join([compact({**versions(), **digest(lines)}), *lines])
    path.write_bytes(gzip.compress(out.encode(), 9, mtime=0))
    print(f"{path.name}: {path.stat().st_size} bytes", flush=True)


def compact(line):
    return json.dumps(line, separators=(",", ":")) + "\n"


def main():
    parser = argparse.ArgumentParser(description="records Gymnasium's MuJoCo worlds")
    parser.add_argument("--rules", help="the version of MuJoCo, if it is not the current one: a part of the files' names")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent, help="folder for the files")
    parser.add_argument("--runs", type=int, help="how many runs of 20 steps")
    parser.add_argument("--keywords", action="store_true", help="record the worlds with other keywords, and nothing else")
    parser.add_argument("worlds", nargs="*", default=WORLDS)
    args = parser.parse_args()
    if args.rules and not mujoco.__version__.startswith(args.rules + "."):
        parser.error(f"this is MuJoCo {mujoco.__version__}")
    if args.keywords:
        record_keywords(args.out / "mujoco_keywords.jsonl.gz")
        return
    trained = json.loads((pathlib.Path(__file__).resolve().parent / "mujoco_policies.json").read_text())
    for name in args.worlds:
        end = f"_{args.rules}" if args.rules else ""
        runs = args.runs or (RUNS_OF_OLD_RULES.get(name, 15) if args.rules else RUNS)
        record(name, args.out / f"mujoco_{name}{end}.jsonl.gz", runs, 1 + WORLDS.index(name), trained)


if __name__ == "__main__":
    main()
