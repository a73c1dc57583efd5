"""Reads a model with the library of its format, prints what it found as JSON, and writes it again with that library.

    python read.py MODEL COPY
"""

import json
import sys

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file


def read(path):
    if path.endswith(".safetensors"):
        with safe_open(path, framework="numpy") as f:
            return {name: f.get_tensor(name) for name in f.keys()}, f.metadata()
    if path.endswith(".npz"):
        with np.load(path, allow_pickle=False) as f:
            tensors = {name: f[name] for name in f.files}
        return tensors, json.loads(tensors.pop("__metadata__").item())
    with open(path) as f:
        document = json.load(f)
    values = np.array(document["values"], dtype=np.float32)
    tensors = {}
    for part in document["layout"]:
        rows, cols, offset = part["rows"], part["cols"], part["offset"]
        tensor = values[offset : offset + rows * cols].reshape(rows, cols)
        tensors[part["name"]] = tensor[0] if part["name"].endswith(".bias") else tensor
    for slot in document["slots"]:
        tensors[slot["name"]] = np.array(slot["values"], dtype=np.float32)
    metadata = {key: str(document[key]) for key in ("run", "height", "head", "theta")}
    metadata["env"] = document["env"]["id"]
    metadata["env_revision"] = str(document["env"]["revision"])
    metadata["policy"] = json.dumps(document["policy"])
    return tensors, metadata


def write(path, tensors, metadata):
    if path.endswith(".safetensors"):
        save_file({name: np.ascontiguousarray(t) for name, t in tensors.items()}, path, metadata)
    elif path.endswith(".npz"):
        np.savez_compressed(path, __metadata__=np.array(json.dumps(metadata)), **tensors)


path, copy = sys.argv[1:]
tensors, metadata = read(path)
write(copy, tensors, metadata)
print(json.dumps({
    "metadata": metadata,
    "tensors": {name: {"dtype": str(t.dtype), "shape": list(t.shape), "bits": t.tobytes().hex()} for name, t in tensors.items()},
}))
