#!/usr/bin/env python3
"""Makes reference.json, what TestReference holds our strategies against.

    python3 -m venv /tmp/reference && /tmp/reference/bin/pip install -r requirements.txt
    nice /tmp/reference/bin/python reference.py [-o FILE] [part of a case's name ...]

A case is a strategy with its settings on a function. After every
generation the value of the centre is taken: the mean of the search distribution, or
where an algorithm has none (ga, random-search) the best candidate so far. These
evaluations are not counted. A run ends when the value is at or below the target, or
at the budget. Recorded of each run: the evaluations until then (null: never), and the
least value of the centre.
"""

import argparse
import json
import os
import platform
import time
from importlib.metadata import version

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # pycma's matrices are small

import numpy as np

import transcribed
from cases import CASES

SHOWN = ("name", "strategy", "function", "dim", "x0", "population", "params", "target", "budget")


def spread(x):
    """Standard error of the median of x, in per cent of it (bootstrap)."""
    x = np.asarray(x)
    if not np.isfinite(np.median(x)):
        return float("nan")
    draws = np.random.default_rng(1).choice(np.minimum(x, 1e300), (1000, len(x)))
    return 100 * np.std(np.median(draws, axis=1)) / np.median(x)


def record(case):
    began = time.time()
    with np.errstate(all="ignore"):
        values = np.asarray(case["run"](case))
    reached = values <= case["target"]
    runs = []
    for s in range(case["seeds"]):
        hit = int(np.argmax(reached[:, s])) if reached[:, s].any() else None
        seen = values[: None if hit is None else hit + 1, s]
        runs.append(
            {
                "evaluations": None if hit is None else (hit + 1) * case["population"],
                "best": float(f"{np.nanmin(seen):.6g}"),
            }
        )
    evaluations = [r["evaluations"] or float("inf") for r in runs]
    best = [r["best"] for r in runs]
    print(
        f"{case['name']:32} evaluations {np.median(evaluations):7.0f} (+-{spread(evaluations):2.0f} %) of {case['budget']:6}"
        f"  reached {int(reached.any(0).sum()):2d}/{case['seeds']}  best {np.median(best):.3g} (+-{spread(best):.0f} %)"
        f"  {time.time() - began:.1f} s",
        flush=True,
    )
    module = case["run"].__module__
    name = case["run"].__name__
    source = "transcribed.py: " + name if module == transcribed.__name__ else name.replace("pycma", "cma") + " " + version(name.replace("pycma", "cma"))
    if case.get("options"):
        source += " " + json.dumps(case["options"])
    return {**{k: case[k] for k in SHOWN}, "source": source, "runs": runs}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", default="reference.json", help="file to write")
    parser.add_argument("-seeds", type=int, help="runs of each case")
    parser.add_argument("names", nargs="*", help="run only cases whose name contains one of these")
    args = parser.parse_args()
    cases = [{**c, "seeds": args.seeds or c["seeds"]} for c in CASES if not args.names or any(n in c["name"] for n in args.names)]
    began = time.time()
    records = [record(c) for c in cases]
    versions = {n: version(n) for n in ("cma", "evosax", "evotorch", "jax", "numpy", "optax", "torch")}
    with open(args.o, "w") as out:
        out.write('{"python": %s, "versions": %s, "cases": [\n' % (json.dumps(platform.python_version()), json.dumps(versions)))
        out.write(",\n".join(json.dumps(r, separators=(",", ":")) for r in records))
        out.write("\n]}\n")
    print(f"{len(records)} cases, {time.time() - began:.0f} s")


if __name__ == "__main__":
    main()
