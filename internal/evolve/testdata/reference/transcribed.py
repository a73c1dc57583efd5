"""Plain transcriptions, in numpy, of algorithms that no library on PyPI has.

Every function takes a case and returns the value of the centre after each generation,
[generations, seeds]. All seeds run side by side: arrays are [seeds, candidates, dim].
"""

import numpy as np

from functions import FUNCTIONS


def setup(case):
    f = FUNCTIONS[case["function"]]
    rng = np.random.default_rng(list(case["name"].encode()))
    theta = np.tile(np.asarray(case["x0"], dtype=np.float64), (case["seeds"], 1))
    return (lambda x: f(np, x)), rng, theta


def sigma_at(p, g):
    return max(p["sigma"] * p.get("sigma_decay", 1.0) ** g, p.get("sigma_min", 0.0))


def best_first(cost):
    return np.argsort(cost, axis=1, kind="stable")


def take(x, index):
    return np.take_along_axis(x, index[..., None], axis=1)


def log_weights(k, shift):
    w = np.log(k + shift) - np.log(np.arange(1, k + 1))
    return w / w.sum()


def dises_max(case):
    """DisES, Algorithm 1: the best of a generation's perturbations moves the model
    (added, not multiplied)."""
    f, rng, theta = setup(case)
    p, values = case["params"], []
    for g in range(case["generations"]):
        noise = sigma_at(p, g) * rng.standard_normal((case["seeds"], case["population"], case["dim"]))
        order = best_first(f(theta[:, None] + noise))
        theta = theta + p["step"] * take(noise, order[:, :1])[:, 0]
        values.append(f(theta))
    return np.array(values)


def recombination(case, parents, step):
    """(mu, lambda) with log weights of the ranks and one sigma for all, on a schedule:
    Chrabaszcz, Loshchilov and Hutter 2018, Algorithm 1."""
    f, rng, theta = setup(case)
    p, values = case["params"], []
    w = log_weights(parents, 0.5)
    for g in range(case["generations"]):
        noise = sigma_at(p, g) * rng.standard_normal((case["seeds"], case["population"], case["dim"]))
        order = best_first(f(theta[:, None] + noise))
        theta = theta + step * np.einsum("k,skd->sd", w, take(noise, order[:, :parents]))
        values.append(f(theta))
    return np.array(values)


def vanilla_es(case):
    return recombination(case, case["params"]["parents"], 1.0)


def dises_linear(case):
    """DisES's next step: the best k combined with weights of their ranks."""
    return recombination(case, case["params"]["top"], case["params"]["step"])


def sep_cem(case):
    """CEM with a diagonal covariance, Pourchot and Sigaud 2019, Algorithm 1 and
    section 3.2: new mean = sum of lambda_i z_i, new variance = sum of
    lambda_i (z_i - old mean)^2 + epsilon; lambda_i prop. to log(1 + K) - log(i); epsilon
    decays geometrically."""
    f, rng, theta = setup(case)
    p, values = case["params"], []
    w = log_weights(p["elites"], 1.0)
    variance = np.full_like(theta, p["sigma"] ** 2)
    for g in range(case["generations"]):
        noise = np.sqrt(variance)[:, None] * rng.standard_normal((case["seeds"], case["population"], case["dim"]))
        order = best_first(f(theta[:, None] + noise))
        elite = take(noise, order[:, : p["elites"]])
        extra = p["noise"] * p["noise_decay"] ** (g + 1)
        theta = theta + np.einsum("k,skd->sd", w, elite)
        variance = np.einsum("k,skd->sd", w, elite**2) + extra
        values.append(f(theta))
    return np.array(values)


def dises_group(case):
    """DisES's other next step, as our `dises` defines it: every candidate perturbs one
    of the centres, drawn at random, and each centre moves by its own best ones as in
    dises_linear. Every so many generations the centre with the lowest mean fitness since
    the last time goes to the one with the highest, which is the model."""
    f, rng, theta = setup(case)
    p, n, count = case["params"], case["population"], case["params"]["groups"]
    values = np.empty((case["generations"], case["seeds"]))
    for s in range(case["seeds"]):
        centres = np.tile(theta[s], (count, 1))
        sums, numbers = np.zeros(count), np.zeros(count)
        for g in range(case["generations"]):
            group = rng.integers(0, count, n)
            noise = sigma_at(p, g) * rng.standard_normal((n, case["dim"]))
            cost = f(centres[group] + noise)
            np.add.at(sums, group, cost)
            np.add.at(numbers, group, 1)
            for k in range(count):
                members = np.flatnonzero(group == k)
                if len(members) > 0:
                    best = members[np.argsort(cost[members], kind="stable")]
                    best = best[: max(1, int(p["top"] * len(members) + 0.5))]
                    centres[k] += p["step"] * log_weights(len(best), 0.5) @ noise[best]
            mean = sums / np.maximum(numbers, 1)
            lead = np.argmin(np.where(numbers > 0, mean, np.inf))
            values[g, s] = f(centres[lead])
            if (g + 1) % p["exchange"] == 0:
                centres[np.argmax(np.where(numbers > 0, mean, -np.inf))] = centres[lead]
                sums[:], numbers[:] = 0, 0
    return values


def deep_ga(case):
    """Such et al. 2017, Algorithm 1, and their code: truncation selection, Gaussian
    mutation of a uniformly drawn parent; the elite of the generation before and the best
    offspring are tested again, which costs evaluations and changes nothing where fitness
    has no noise, and the best of these is the elite, which takes one of the parents'
    places. The generation 0 is of mutations of the start point."""
    f, rng, theta = setup(case)
    p, values, seeds = case["params"], [], case["seeds"]
    offspring = case["population"] - round(p["retest"] * case["population"])
    parents, elite, elite_cost = theta[:, None], None, None
    for g in range(case["generations"]):
        pick = rng.integers(0, parents.shape[1], (seeds, offspring))
        xs = take(parents, pick) + sigma_at(p, g) * rng.standard_normal((seeds, offspring, case["dim"]))
        cost = f(xs)
        if elite is not None:
            xs = np.concatenate([elite[:, None], xs], axis=1)
            cost = np.concatenate([elite_cost[:, None], cost], axis=1)
        order = best_first(cost)
        parents = take(xs, order[:, : p["top"]])
        elite, elite_cost = parents[:, 0], np.take_along_axis(cost, order[:, :1], axis=1)[:, 0]
        values.append(elite_cost)
    return np.array(values)


def random_search(case):
    """The best of all candidates drawn around the fixed start point."""
    f, rng, theta = setup(case)
    best, values = np.full(case["seeds"], np.inf), []
    for g in range(case["generations"]):
        xs = theta[:, None] + case["params"]["sigma"] * rng.standard_normal((case["seeds"], case["population"], case["dim"]))
        best = np.minimum(best, f(xs).min(axis=1))
        values.append(best)
    return np.array(values)
