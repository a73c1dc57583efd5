#!/usr/bin/env bash
# Two nodes on a core each, and one node on one core: env-steps a second that the log gains, and their ratio.
#
#	testnet/bench/pair.sh build/evonode BipedalWalker-v3 60 [more flags of the first node]
#
# Each node has one worker and is pinned to a core, so the ideal ratio is 2. Counts begin ten seconds after the last node
# has started. Needs curl, jq and taskset, and a machine with nothing else to do.
set -euo pipefail
evonode=$(realpath "$1") env=$2 seconds=${3:-60}
shift $(($# < 3 ? $# : 3))
flags=("$@")
# shellcheck source=pinned.sh
. "$(dirname "$0")/pinned.sh"
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
start 0 one --bootstrap --train "$env" --until never "${flags[@]}"
one=$(gain)
finish
echo "one node:  $one"
start 0 two --bootstrap --train "$env" --until never "${flags[@]}"
sleep 1
start 1 joiner join http://127.0.0.1:18000
two=$(gain)
finish
echo "two nodes: $two"
jq -n -r --argjson one "$one" --argjson two "$two" '"ratio of env-steps: \($two.steps/$one.steps*100|round/100)"'
