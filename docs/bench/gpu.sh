#!/bin/bash
# Measures the devices of this computer, unattended, in at most ten minutes, and prints JSON lines:
#     docs/bench/gpu.sh [EVONODE] > gpu.jsonl
# It needs the program (default: evonode of the path, or build/evonode) and drivers, and neither Go nor a toolkit. The
# first run of bench starts with empty caches, so its first row is the cold start; the second has the warm one.
set -u
evonode=${1:-$(command -v evonode || echo build/evonode)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache POCL_CACHE_DIR=$folder/pocl CUDA_CACHE_PATH=$folder/cuda

echo "{\"program\":$("$evonode" version --json | head -n 1)}"
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,memory.total --format=csv,noheader 2>/dev/null | sed 's/.*/{"nvidia_smi":"&"}/'
for run in cold warm; do
  echo "{\"run\":\"$run\"}"
  timeout 150 "$evonode" bench gpu --seconds 9 --json || echo "{\"failed\":\"bench gpu, $run\"}"
done
timeout 60 "$evonode" device list --json
