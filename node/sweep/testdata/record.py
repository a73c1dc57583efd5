"""Records interquartile means and intervals of rliable, which iqm_test.go holds ours to.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install rliable==1.2.0 arch==7.2.0 pandas==2.3.3
    /tmp/venv/bin/python node/sweep/testdata/record.py >node/sweep/testdata/rliable.json
"""
import json

import numpy as np
from rliable import library, metrics

rng = np.random.RandomState(20261122)
scores = {
    "eight": rng.normal(0, 1, 8),
    "ten, skewed": 100 + 1000 * rng.exponential(size=10),
    "eleven, two of them far off": np.append(rng.normal(475, 10, 9), [9.0, 12.0]),
    "forty": rng.uniform(-200, 300, 40),
}
scores = {name: np.round(values, 3) for name, values in scores.items()}
point, interval = library.get_interval_estimates(
    {name: values[:, None] for name, values in scores.items()},  # runs by tasks
    lambda x: np.array([metrics.aggregate_iqm(x)]), reps=50000)
print(json.dumps([{
    "name": name, "values": values.tolist(),
    "iqm": float(point[name][0]), "low": float(interval[name][0, 0]), "high": float(interval[name][1, 0]),
} for name, values in scores.items()], indent=1))
