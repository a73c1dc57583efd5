#!/usr/bin/env bash
# Trains every environment that has presets with every strategy, seeds FIRST to LAST, one run at a time, and prints a row
# for each, as in docs/bench/learn.md. The tables of evonode sweep go to FOLDER.
# usage: testnet/bench/learn.sh FOLDER [FIRST LAST]
set -eu
cd "$(dirname "$0")/../.."
folder=${1:?a folder for the tables} first=${2:-0} last=${3:-9}
mkdir -p "$folder"
go build -o "$folder/evonode" ./node/evonode
strategies=$("$folder/evonode" strategy list | awk '/^[a-z]/ { print $1 }')
row() { # WORLD STRATEGY LIMIT
	"$folder/evonode" sweep "$1" --strategy "$2" --seeds "$first-$last" --jobs 1 --until "solved,steps=$3" -o "$folder/$1-$2.csv" --json 2>/dev/null | tail -n 1
}
for world in CartPole-v1:200000 Acrobot-v1:600000 MountainCarContinuous-v0:400000 MountainCar-v0:1000000 Pendulum-v1:2000000 \
	LunarLanderContinuous-v3:1000000 LunarLander-v3:3000000; do
	for strategy in $strategies; do
		row "${world%:*}" "$strategy" "${world#*:}"
	done
done
