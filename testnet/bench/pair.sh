#!/usr/bin/env bash
# Two nodes on a core each, and one node on one core: env-steps a second that the log gains, and their ratio.
#
#	testnet/bench/pair.sh build/evonode BipedalWalker-v3 60 [--draft] [more flags of the first node]
#
# Each node has one worker and is pinned to a core, so the ideal ratio is 2. Counts begin ten seconds after the last node
# has started. Needs curl, jq and taskset, and a machine with nothing else to do. With --draft add --until never: a run
# that has ended gains nothing.
set -euo pipefail
evonode=$(realpath "$1") env=$2 seconds=${3:-60}
shift $(($# < 3 ? $# : 3))
flags=("$@")
dir=$(mktemp -d)
finish() {
	kill $(jobs -p) 2>/dev/null || true
	wait
}
trap 'finish; rm -rf "$dir"' EXIT
# start FOLDER CORE ARGUMENTS
start() {
	local folder=$1 core=$2
	shift 2
	taskset -c "$core" "$evonode" "$@" --http "127.0.0.1:$((18000 + core))" --listen "/ip4/127.0.0.1/tcp/$((19000 + core))" --no-mdns --workers 1 \
		--data "$dir/$folder$core" >"$dir/$folder$core.log" 2>&1 &
}
status() { curl -s -m 20 http://127.0.0.1:18000/api/status; }
# gain: what the log of the first node gains in the time: entries, evaluations and env-steps a second.
gain() {
	sleep 10
	local before
	before=$(status)
	sleep "$seconds"
	status | jq -c --argjson b "$before" --argjson s "$seconds" \
		'{entries: ((.height-$b.height)/$s), evaluations: ((.evaluations-$b.evaluations)/$s), steps: ((.steps-$b.steps)/$s), mine: ((.mine-$b.mine)/$s), mean, return}'
}
start one 0 --bootstrap --train "$env" "${flags[@]}"
one=$(gain)
finish
echo "one node:  $one"
start two 0 --bootstrap --train "$env" "${flags[@]}"
sleep 1
start two 1 join http://127.0.0.1:18000
two=$(gain)
finish
echo "two nodes: $two"
jq -n -r --argjson one "$one" --argjson two "$two" '"ratio of env-steps: \($two.steps/$one.steps*100|round/100)"'
