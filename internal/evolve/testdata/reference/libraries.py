"""The algorithms as pycma, evosax and EvoTorch have them.

Every function takes a case (see cases.py) and returns the value of the centre after
each generation: an array [generations, seeds], NaN once a run was stopped.
"""

import logging

import cma
import jax
import jax.numpy as jnp
import numpy as np
import optax
import torch
from evosax.algorithms.distribution_based.ars import ARS
from evosax.algorithms.distribution_based.open_es import Open_ES
from evosax.algorithms.distribution_based.pgpe import PGPE
from evosax.algorithms.distribution_based.snes import SNES
from evotorch import Problem
from evotorch.algorithms import PGPE as TorchPGPE
from evotorch.algorithms import SNES as TorchSNES
from evotorch.algorithms import XNES as TorchXNES

from functions import FUNCTIONS

torch.set_num_threads(1)
logging.disable(logging.INFO)  # EvoTorch says what it made, for each run


def loop(case, start):
    """Runs one seed after another; start(seed) gives a function that makes one
    generation and returns the centre's value. Stops a run at the target."""
    values = np.full((case["generations"], case["seeds"]), np.nan)
    for seed in range(case["seeds"]):
        step = start(seed)
        for g in range(case["generations"]):
            values[g, seed] = step()
            if values[g, seed] <= case["target"]:
                break
    return values


# --- pycma ---


def pycma(case):
    f, p = FUNCTIONS[case["function"]], case["params"]
    options = {"popsize": case["population"], "verbose": -9, **case.get("options", {})}

    def start(seed):
        es = cma.CMAEvolutionStrategy(case["x0"], p["sigma"], {**options, "seed": seed + 1})

        def step():
            xs = es.ask()
            es.tell(xs, list(f(np, np.asarray(xs))))
            return f(np, np.asarray(es.mean))

        return step

    return loop(case, start)


# --- EvoTorch ---


def evotorch(case):
    f, p = FUNCTIONS[case["function"]], case["params"]
    x0 = torch.tensor(case["x0"], dtype=torch.float32)

    def start(seed):
        problem = Problem(
            "min", lambda x: f(torch, x), solution_length=case["dim"], initial_bounds=(-1, 1), vectorized=True, seed=seed + 1
        )
        common = dict(popsize=case["population"], stdev_init=p["sigma"], center_init=x0, **case.get("options", {}))
        if case["strategy"] == "pgpe":
            searcher = TorchPGPE(
                problem,
                center_learning_rate=p["alpha"],
                optimizer="clipup",
                optimizer_config={"max_speed": p["alpha"] * p["max_speed"], "momentum": p["momentum"]},
                stdev_learning_rate=p["sigma_alpha"],
                stdev_max_change=p["sigma_max_change"],
                **common,
            )
        else:
            searcher = {"xnes": TorchXNES, "snes": TorchSNES}[case["strategy"]](problem, **common)

        def step():
            searcher.step()
            return float(f(torch, searcher.status["center"]))

        return step

    return loop(case, start)


# --- evosax ---


def schedule(start, decay):
    return optax.exponential_decay(start, 1, decay)


def evosax(case):
    f, p = FUNCTIONS[case["function"]], case["params"]
    alpha = schedule(p.get("alpha", 1.0), p.get("alpha_decay", 1.0))
    sigma = schedule(p["sigma"], p.get("sigma_decay", 1.0))
    # evosax divides the estimate by sigma and ours does not, so that the epsilon and
    # the weight decay of the same update are 1/sigma times as large.
    adam = optax.adam(alpha, p.get("beta1", 0.9), p.get("beta2", 0.999), p.get("epsilon", 1e-8) / p["sigma"])
    if p.get("l2"):
        adam = optax.chain(optax.add_decayed_weights(p["l2"] / p["sigma"]), adam)
    zero = jnp.zeros(case["dim"])
    if case["strategy"] == "openai-es":
        es = Open_ES(case["population"], zero, optimizer=adam, std_schedule=sigma)
    elif case["strategy"] == "ars":
        es = ARS(case["population"], zero, optimizer=optax.sgd(alpha), std_schedule=sigma)
        es.elite_ratio = 2 * p["top"] / case["population"]
    elif case["strategy"] == "pepg":
        es = PGPE(case["population"], zero, optimizer=optax.adam(alpha, p["beta1"], p["beta2"], p["epsilon"]))
    elif case["strategy"] == "snes":
        es = SNES(case["population"], zero)
    params = es.default_params
    if hasattr(params, "std_init"):
        params = params.replace(std_init=p["sigma"])
    if case["strategy"] == "pepg":
        params = params.replace(std_lr=p["sigma_alpha"], std_max_change=p["sigma_max_change"])

    def generation(state, key):
        ask, tell = jax.random.split(key)
        xs, state = es.ask(ask, state, params)
        state, _ = es.tell(tell, xs, f(jnp, xs), state, params)
        return state, f(jnp, state.mean)

    def run(key):
        first, rest = jax.random.split(key)
        state = es.init(first, jnp.asarray(case["x0"], dtype=jnp.float32), params)
        return jax.lax.scan(generation, state, jax.random.split(rest, case["generations"]))[1]

    keys = jax.random.split(jax.random.key(1), case["seeds"])
    return np.asarray(jax.jit(jax.vmap(run, out_axes=1))(keys), dtype=np.float64)
