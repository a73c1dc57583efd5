#!/bin/bash
# Measures a device of this computer, unattended, in at most ten minutes, and prints JSON lines:
#     docs/bench/gpu.sh [EVONODE [DEVICE]] > gpu.jsonl
# It needs the program (default: evonode of the path, or build/evonode) and a driver, and neither Go nor a toolkit.
# DEVICE is a number of evonode device list (default 1). bench runs twice: first with empty caches, so that its first row
# is the cold start, then with what the first run left there.
set -u
evonode=${1:-$(command -v evonode || echo build/evonode)}
device=${2:-1}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache POCL_CACHE_DIR=$folder/pocl CUDA_CACHE_PATH=$folder/cuda

say() { printf '{"%s":"%s"}\n' "$1" "$2"; }
run() { # LIMIT COMMAND...: what it prints, or that it failed
  timeout "$1" "${@:2}" 2>"$folder/err" || say failed "${*:2}: $(tail -n 1 "$folder/err" | tr -d '"\\')"
}

run 10 "$evonode" version --json
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,memory.total --format=csv,noheader 2>/dev/null | while read -r line; do say nvidia-smi "$line"; done
say caches empty
run 130 "$evonode" bench gpu --seconds 9 --json
say caches filled
run 90 "$evonode" bench gpu --seconds 9 --json
run 30 "$evonode" device list --json

# The same log from the device alone and from the cores alone: every fitness has the same bits.
for env in CartPole-v1 LunarLander-v3; do
  train=(train "$env" --strategy openai-es --seed 1 --until evals=20000,30s --json)
  run 45 "$evonode" "${train[@]}" --gpu "$device" --gpu-only -o "$folder/device.seedlog" | tail -n 1
  run 45 "$evonode" "${train[@]}" --gpu off -o "$folder/cores.seedlog" | tail -n 1
  short=$(stat -c %s "$folder/device.seedlog" "$folder/cores.seedlog" | sort -n | head -n 1)
  cmp -n "$short" "$folder/device.seedlog" "$folder/cores.seedlog" >&2 && say "$env, device and cores" "equal in $short bytes" ||
    say failed "$env: the logs of device and cores differ"
  rm -f "$folder"/*.seedlog
done

# A large population, by time.
run 150 "$evonode" train BipedalWalker-v3 --strategy openai-es --population 10000 --seed 1 --gpu "$device" --until solved,130s --json \
  -o "$folder/walker.seedlog" | tail -n 1
