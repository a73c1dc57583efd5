"""Computes actions with NumPy alone, as docs/spec/model.md says.

    python act.py MODEL.npz LOW,... HIGH,... < observations as JSON, one list each; the bounds are empty if actions are discrete
"""

import json
import sys

import numpy as np

path, low, high = sys.argv[1:]
low, high = (np.array([float(x) for x in bounds.split(",") if x]) for bounds in (low, high))
with np.load(path) as f:
    arrays = {name: f[name] for name in f.files}
meta = json.loads(arrays["__metadata__"].item())
policy = json.loads(meta["policy"])
layers = [
    (arrays[f"layers.{k}.weight"], arrays[f"layers.{k}.bias"] if policy["bias"] else np.float32(0))
    for k in range(len(policy["hidden"]) + 1)
]
activate = np.tanh if policy["activation"] == "tanh" else lambda x: np.maximum(x, 0)


def see(obs):
    """What the policy gets to see of observations, one a row."""
    if "observations" not in meta:
        return obs
    clip = json.loads(meta["observations"])["clip"]
    std = arrays["obs/std"]
    scale = np.divide(1, std, out=np.zeros_like(std), where=std > 0)
    return np.clip((obs - arrays["obs/mean"]) * scale, -clip, clip)


def fold(layers, x):
    """Virtual batch normalisation by the reference batch x."""
    folded = []
    for weight, bias in layers[:-1]:
        z = x @ weight
        scale = 1 / np.sqrt(z.var(axis=0) + 1e-5)
        weight, bias = weight * scale, bias - z.mean(axis=0) * scale
        folded.append((weight, bias))
        x = activate(x @ weight + bias)
    return [*folded, layers[-1]]


x = np.array(json.load(sys.stdin), dtype=np.float32)
if policy.get("vbn"):
    layers = fold(layers, see(arrays["obs/reference"].reshape(-1, x.shape[1])))
x = see(x)
for weight, bias in layers[:-1]:
    x = activate(x @ weight + bias)
x = x @ layers[-1][0] + layers[-1][1]
if policy["head"] == "argmax":
    actions = x.argmax(axis=1)[:, None].astype(float)
elif policy["head"] == "clip":
    actions = np.clip(x.astype(np.float64), low, high)
else:
    chosen = x.reshape(len(x), len(low), policy["bins"]).argmax(axis=2)
    actions = low + chosen * (high - low) / (policy["bins"] - 1)
print(json.dumps(actions.tolist()))
