#!/usr/bin/env bash
# Trains BipedalWalkerHardcore-v3 as docs/bench/learn.md describes: three runs, each of which starts from the model of the
# last one. It gives the same bits on every machine. Logs, curves and models go to FOLDER; interrupted runs are resumed.
# usage: testnet/bench/hardcore.sh FOLDER
set -eu
cd "$(dirname "$0")/../.."
folder=${1:?a folder for logs, curves and models}
mkdir -p "$folder"
go build -o "$folder/evonode" ./node/evonode
run() { # NAME EVALUATIONS FLAGS...
	local name=$1 evaluations=$2
	shift 2
	"$folder/evonode" train BipedalWalkerHardcore-v3 --seed 1011 --strategy snes --episodes 2 --cap 1.3 --eval-every 10 --eval-episodes 24 "$@" \
		--until "evals=$evaluations" --curve "$folder/$name.csv" -o "$folder/$name.seedlog"
	"$folder/evonode" export "$folder/$name.seedlog" -o "$folder/$name.npz"
}

# A fall counts as -10 until the policy walks, then as its full -100. Smaller steps of the mean average out the noise of two
# episodes.
run walk 50900 --policy mlp --hidden 32 --bias=false --population 100 --param sigma=0.1
run care 17500 --init "$folder/walk.npz" --population 100 --param sigma=0.06 --max-penalty 0
run calm 77952 --init "$folder/care.npz" --population 128 --param sigma=0.08 --param alpha=0.3 --param sigma_alpha=0.3 --max-penalty 0
"$folder/evonode" eval "$folder/calm.npz" --episodes 400
