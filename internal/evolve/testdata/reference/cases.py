"""What is run: every strategy on every function, with the settings of both sides.

`params` has the names and values of our strategy's settings; what is not in it is our
default, which is then also the library's. `population` counts candidates per generation.
There are 30 seeds, but 120 where the median of 30 has a standard error of 5 % or more.
"""

import libraries
import transcribed

X0 = {"sphere": 3.0, "ellipsoid": 1.0, "ellipsoid-1e3": 1.0, "rosenbrock": 0.0, "rastrigin": 3.0}
NOISY = {"pgpe/rastrigin/10", "pepg/rastrigin/10", "openai-es/rastrigin/10", "ars/v1-t/rastrigin/10", "ga/ellipsoid-1e3/10"}
CASES = []


def add(strategy, run, function, population, budget, target, params, dim=10, variant="", **more):
    name = "/".join(filter(None, [strategy, variant, function, str(dim)]))
    CASES.append(
        {
            "name": name,
            "strategy": strategy,
            "run": run,
            "function": function,
            "dim": dim,
            "x0": [X0[function]] * dim,
            "population": population,
            "params": params,
            "target": target,
            "budget": budget,
            "generations": budget // population,
            "seeds": 120 if name in NOISY else 30,
            **more,
        }
    )


# pycma, its defaults but for the initial sigma and, on Rastrigin, the population.
for strategy, options, rosenbrock in (("cma-es", {}, 20000), ("sep-cma-es", {"CMA_diagonal": True}, 80000)):
    for dim, population in ((10, 10), (30, 14)):
        add(strategy, libraries.pycma, "sphere", population, 1000 * dim, 1e-3, {"sigma": 1.0}, dim, options=options)
        add(strategy, libraries.pycma, "ellipsoid", population, 4000 * dim, 1e-3, {"sigma": 1.0}, dim, options=options)
    add(strategy, libraries.pycma, "rosenbrock", 10, rosenbrock, 1e-3, {"sigma": 0.3}, options=options)
    add(strategy, libraries.pycma, "rastrigin", 300, 60000, 1e-2, {"sigma": 3.0}, options=options)

# Natural evolution strategies with the rates of the paper, which are the defaults.
for strategy, run, budget in (("xnes", libraries.evotorch, 100000), ("snes", libraries.evosax, 30000)):
    add(strategy, run, "sphere", 10, 10000, 1e-3, {"sigma": 1.0})
    add(strategy, run, "ellipsoid", 10, 30000, 1e-3, {"sigma": 1.0})
    add(strategy, run, "rosenbrock", 10, 30000, 1e-3, {"sigma": 0.3})
    add(strategy, run, "rastrigin", 150, budget, 1e-2, {"sigma": 2.0})
add("snes", libraries.evosax, "sphere", 14, 10000, 1e-3, {"sigma": 1.0}, 30)
add("snes", libraries.evosax, "ellipsoid", 14, 30000, 1e-3, {"sigma": 1.0}, 30)
add("snes", libraries.evotorch, "sphere", 10, 10000, 1e-3, {"sigma": 1.0}, variant="evotorch")


# PGPE with ClipUp: EvoTorch, whose authors are ClipUp's.
def pgpe(sigma, alpha):
    return {"sigma": sigma, "alpha": alpha, "max_speed": 2.0, "momentum": 0.9, "sigma_alpha": 0.1, "sigma_max_change": 0.2}


for function, population, budget, target, sigma, alpha in (
    ("sphere", 40, 20000, 1e-2, 0.5, 0.02),
    ("ellipsoid-1e3", 40, 20000, 1e-2, 0.3, 0.01),
    ("rosenbrock", 40, 20000, 1e-1, 0.1, 0.01),
    ("rastrigin", 100, 40000, 5.0, 2.0, 0.02),
):
    add("pgpe", libraries.evotorch, function, population, budget, target, pgpe(sigma, alpha))


# PGPE with Adam.
def adam(sigma, alpha, decay, **more):
    return {"sigma": sigma, "alpha": alpha, "alpha_decay": decay, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, **more}


for function, population, budget, target, sigma, alpha, decay in (
    ("sphere", 40, 20000, 1e-3, 0.5, 0.1, 0.99),
    ("ellipsoid-1e3", 40, 20000, 1e-2, 0.3, 0.1, 0.99),
    ("rosenbrock", 40, 40000, 1e-1, 0.1, 0.02, 0.999),
    ("rastrigin", 100, 40000, 10.0, 2.0, 0.1, 0.99),
):
    more = {"sigma_alpha": 0.1, "sigma_max_change": 0.2, "sigma_decay": 1.0, "sigma_min": 1e-6}
    add("pepg", libraries.evosax, function, population, budget, target, adam(sigma, alpha, decay, **more))

for function, population, budget, target, sigma, alpha, decay in (
    ("sphere", 40, 20000, 1e-3, 0.05, 0.1, 0.99),
    ("ellipsoid-1e3", 40, 20000, 1e-1, 0.02, 0.1, 0.99),
    ("rosenbrock", 40, 60000, 1e-1, 0.02, 0.02, 0.999),
    ("rastrigin", 100, 40000, 10.0, 1.0, 0.1, 0.99),
):
    add("openai-es", libraries.evosax, function, population, budget, target, adam(sigma, alpha, decay, l2=0.0))
add("openai-es", libraries.evosax, "sphere", 40, 20000, 1e-3, adam(0.05, 0.1, 0.99, l2=0.05), variant="l2")

# ARS V1, and V1-t with the better half of the directions.
for variant, top, rastrigin, rosenbrock in (("v1", 1.0, 5.0, 1.0), ("v1-t", 0.5, 10.0, 0.3)):
    for function, population, budget, target, sigma, alpha, decay in (
        ("sphere", 40, 20000, 1e-2, 0.05, 0.2, 0.985),
        ("ellipsoid-1e3", 40, 40000, 1e-1, 0.02, 0.05, 0.998),
        ("rosenbrock", 40, 40000, rosenbrock, 0.02, 0.05, 0.998),
        ("rastrigin", 200, 60000, rastrigin, 1.0, 0.2, 0.998),
    ):
        params = {"sigma": sigma, "alpha": alpha, "alpha_decay": decay, "top": top * population // 2}
        add("ars", libraries.evosax, function, population, budget, target, params, variant=variant)


# Transcriptions.
def es(sigma, decay, **more):
    return {"sigma": sigma, "sigma_decay": decay, **more}


for function, population, budget, target, sigma, decay in (
    ("sphere", 40, 10000, 1e-3, 1.0, 0.97),
    ("ellipsoid-1e3", 40, 40000, 1e-2, 0.5, 0.993),
    ("rosenbrock", 40, 80000, 5e-1, 0.2, 0.998),
    ("rastrigin", 400, 60000, 1e-2, 2.0, 0.97),
):
    add("vanilla-es", transcribed.vanilla_es, function, population, budget, target, es(sigma, decay, parents=population // 2))
    if function == "rastrigin":
        population, budget = 600, 90000
    params = es(sigma, decay, selection="linear", weights="rank", step=1.0, top=population // 4)
    add("dises", transcribed.dises_linear, function, population, budget, target, params, variant="linear")

for function, population, budget, target, sigma, decay in (
    ("sphere", 40, 10000, 1e-3, 0.5, 0.97),
    ("ellipsoid-1e3", 40, 40000, 1e-2, 0.25, 0.99),
    ("rosenbrock", 40, 80000, 1e-1, 0.1, 0.998),
    ("rastrigin", 100, 40000, 1e-2, 0.5, 1.0),
):
    add("dises", transcribed.dises_max, function, population, budget, target, es(sigma, decay, selection="max", step=1.0), variant="max")

for function, population, budget, target, sigma, decay in (
    ("sphere", 80, 20000, 1e-3, 1.0, 0.95),
    ("ellipsoid-1e3", 80, 80000, 1e-2, 0.5, 0.99),
    ("rosenbrock", 80, 120000, 5e-1, 0.2, 0.997),
    ("rastrigin", 400, 80000, 5.0, 2.0, 0.97),
):
    params = es(sigma, decay, selection="group", weights="rank", step=1.0, top=0.25, groups=4, exchange=10)
    add("dises", transcribed.dises_group, function, population, budget, target, params, variant="group")

for function, population, budget, target, sigma, noise, decay in (
    ("sphere", 40, 10000, 1e-3, 1.0, 0.1, 0.95),
    ("ellipsoid-1e3", 40, 20000, 1e-2, 0.5, 0.025, 0.95),
    ("rosenbrock", 40, 100000, 1e-1, 0.2, 0.01, 0.995),
    ("rastrigin", 300, 60000, 1e-2, 2.0, 0.4, 0.96),
):
    params = {"sigma": sigma, "elites": population // 2, "noise": noise, "noise_decay": decay, "noise_min": 0.0}
    add("cem", transcribed.sep_cem, function, population, budget, target, params)

for function, target, sigma in (("sphere", 1e-2, 0.05), ("ellipsoid-1e3", 1e-2, 0.05), ("rosenbrock", 3.0, 0.02), ("rastrigin", 1e-2, 0.5)):
    add("ga", transcribed.deep_ga, function, 100, 40000, target, {"sigma": sigma, "top": 20, "elite": 1, "retest": 0.1})

for function, sigma in (("sphere", 2.0), ("ellipsoid-1e3", 0.5), ("rosenbrock", 0.5), ("rastrigin", 2.0)):
    add("random-search", transcribed.random_search, function, 100, 20000, 1e-3, {"sigma": sigma})
