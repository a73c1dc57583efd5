"""Reads model.safetensors with Hugging Face's library and writes what it read to python.safetensors.

Run in this folder with safetensors 0.4.5 and numpy 1.26.4 whenever the writer's bytes change:
    python check_safetensors.py
"""

from safetensors import safe_open
from safetensors.numpy import save_file

with safe_open("model.safetensors", framework="numpy") as f:
    tensors = {name: f.get_tensor(name) for name in f.keys()}
    metadata = f.metadata()
for name, t in sorted(tensors.items()):
    print(name, t.dtype, t.shape, t.ravel())
save_file(tensors, "python.safetensors", metadata)
