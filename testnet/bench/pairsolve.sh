#!/usr/bin/env bash
# How long one node on one core takes to solve a world, and two nodes on a core each: a line for each seed, and the
# ratio of the medians.
#
#	testnet/bench/pairsolve.sh build/evonode LunarLander-v3 10 [more flags of the first node]
#
# Seconds are from the start of the first node, with keys and folders that are new, until its log holds a state that
# passed the test of 100 episodes. The second node joins once the first one's page is there. Needs jq and taskset, and a
# machine with nothing else to do.
set -euo pipefail
evonode=$(realpath "$1") env=$2 runs=${3:-5}
shift $(($# < 3 ? $# : 3))
# shellcheck source=pinned.sh
. "$(dirname "$0")/pinned.sh"
# says FOLDER TEXT: waits until the status of its node has it.
says() {
	until "$evonode" status --data "$dir/$1" --json 2>/dev/null | grep -q "$2"; do sleep 0.05; done
}
# solve NODES SEED FLAGS: prints the seconds.
solve() {
	local nodes=$1 seed=$2 begun
	shift 2
	rm -rf "$dir"/a "$dir"/b
	begun=$(date +%s%3N)
	start 0 a --bootstrap --train "$env" --seed "$seed" "$@"
	if [ "$nodes" = 2 ]; then
		says a '"run":"bafy'
		start 1 b join http://127.0.0.1:18000
	fi
	says a '"state":"solved"'
	echo "$(($(date +%s%3N) - begun))"
	finish
}
for seed in $(seq "$runs"); do
	one=$(solve 1 "$seed" "$@")
	two=$(solve 2 "$seed" "$@")
	echo "$one $two" >&2 # a run of minutes shows how far it is
	echo "$one $two"
done | jq -s -R -r 'split("\n") | map(select(. != "") | split(" ") | map(tonumber)) |
	(.[] | "one \(.[0]/1000) s, two \(.[1]/1000) s"),
	(def median: sort | (.[(length-1)/2|floor] + .[length/2|floor]) / 2; (map(.[0])|median) as $a | (map(.[1])|median) as $b |
		"medians: one \($a/1000) s, two \($b/1000) s: \($a/$b*100|round/100) times as fast")'
