#!/usr/bin/env bash
# Trains CartPole-v1 with each of the seeds FIRST to LAST and times whole processes: start, evaluation, fsync, exit.
# usage: testnet/bench/cartpole.sh [FIRST LAST [STRATEGY]]
set -eu
cd "$(dirname "$0")/../.."
first=${1:-0} last=${2:-9} strategy=${3:-dises}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
go build -o "$folder/evonode" ./node/evonode
for seed in $(seq "$first" "$last"); do
	begin=$(date +%s%N)
	"$folder/evonode" train CartPole-v1 --strategy "$strategy" --seed "$seed" --until solved -o "$folder/$seed.seedlog" --json >"$folder/$seed.json"
	end=$(date +%s%N)
	tail -n 1 "$folder/$seed.json" | sed "s/}\$/,\"process_ms\":$(((end - begin) / 1000000))}/" >>"$folder/all"
done
node -e '
const rows = require("fs").readFileSync(process.argv[1], "utf8").trim().split("\n").map(JSON.parse);
const median = (key) => rows.map((r) => r[key]).sort((a, b) => a - b)[Math.floor(rows.length / 2)];
console.log(`solved ${rows.filter((r) => r.solved).length} of ${rows.length}; median process ${median("process_ms")} ms (worst ${Math.max(...rows.map((r) => r.process_ms))}), ${median("steps")} env-steps, ${median("gens")} generations`);
' "$folder/all"
