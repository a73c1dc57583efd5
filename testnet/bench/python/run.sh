#!/usr/bin/env bash
# Times numpy, torch, jax and evonode on the same layers, on one core, in turns, and prints a table. Without PYTHON it makes a
# virtual environment with requirements.txt in build/bench-python (some 6 GB: torch's package holds what GPUs need).
# usage: [PYTHON=venv/bin/python] testnet/bench/python/run.sh [ROUNDS [SECONDS]]
set -eu
cd "$(dirname "$0")/../../.."
rounds=${1:-2} seconds=${2:-0.4}
if [ -z "${PYTHON:-}" ]; then
	PYTHON=build/bench-python/bin/python
	[ -x "$PYTHON" ] || { python3 -m venv build/bench-python && "$PYTHON" -m pip install -q -r testnet/bench/python/requirements.txt; } >&2
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
go build -o "$folder/evonode" ./node/evonode
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 JAX_PLATFORMS=cpu
export XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
pin=()
if command -v taskset >/dev/null; then pin=(taskset -c "${CORE:-0}"); fi
for _ in $(seq "$rounds"); do
	for library in numpy jax torch; do
		"${pin[@]}" "$folder/evonode" bench kernel --seconds 5 --json >>"$folder/ours"
		"${pin[@]}" "$PYTHON" testnet/bench/python/layers.py "$library" "$seconds" >>"$folder/theirs"
	done
done
"$PYTHON" testnet/bench/python/table.py "$folder/ours" "$folder/theirs"
