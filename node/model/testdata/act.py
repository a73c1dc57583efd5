"""Computes actions with NumPy alone, as docs/spec/model.md says.

    python act.py MODEL.npz LOW,... HIGH,... < observations as JSON, one list each; the bounds are empty if actions are discrete
"""

import json
import sys

import numpy as np

path, low, high = sys.argv[1:]
low, high = (np.array([float(x) for x in bounds.split(",") if x]) for bounds in (low, high))
with np.load(path) as f:
    policy = json.loads(json.loads(f["__metadata__"].item())["policy"])
    layers = [
        (f[f"layers.{k}.weight"], f[f"layers.{k}.bias"] if policy["bias"] else np.float32(0))
        for k in range(len(policy["hidden"]) + 1)
    ]
actions = []
for obs in json.load(sys.stdin):
    x = np.array(obs, dtype=np.float32)
    for k, (weight, bias) in enumerate(layers):
        x = x @ weight + bias
        if k + 1 < len(layers):
            x = np.tanh(x) if policy["activation"] == "tanh" else np.maximum(x, 0)
    if policy["head"] == "argmax":
        action = [float(x.argmax())]
    elif policy["head"] == "clip":
        action = np.clip(x.astype(np.float64), low, high).tolist()
    else:
        chosen = x.reshape(len(low), policy["bins"]).argmax(axis=1)
        action = (low + chosen * (high - low) / (policy["bins"] - 1)).tolist()
    actions.append(action)
print(json.dumps(actions))
