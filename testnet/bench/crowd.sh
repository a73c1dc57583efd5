#!/usr/bin/env bash
# Many nodes on this computer: what they log in a minute, and whether they agree.
#
#	testnet/bench/crowd.sh build/evonode 30 60
#
# Prints, after so many seconds, the heights of the lowest and the highest node, the evaluations in the log, how often a
# node gave up entries for others, and how often one was elected. On few cores a swarm of N can do no more than one node:
# what it does less went into gossip. Needs curl and jq.
set -euo pipefail
evonode=$(realpath "$1") nodes=${2:-30} seconds=${3:-60}
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$dir"' EXIT
start() {
	local i=$1
	shift
	"$evonode" "$@" --http "127.0.0.1:$((18000 + i))" --listen "/ip4/127.0.0.1/tcp/$((19000 + i))" --no-mdns --workers 1 \
		--log-level info --data "$dir/n$i" >"$dir/n$i.log" 2>&1 &
}
start 0 --bootstrap --train "${ENV:-CartPole-v1}"
sleep 1
for ((i = 1; i < nodes; i++)); do
	start "$i" join http://127.0.0.1:18000
	sleep 0.2
done
sleep "$seconds"
for ((i = 0; i < nodes; i++)); do
	curl -s -m 20 "http://127.0.0.1:$((18000 + i))/api/status" && echo || true
done >"$dir/status"
jq -s -r --arg nodes "$nodes" '"\($nodes) nodes, \(length) answered: heights \([.[].height] | min) to \([.[].height] | max), \([.[].evaluations] | max) evaluations"' "$dir/status"
echo "$(cat "$dir"/n*.log | grep -c 'were replaced by') reorganizations, $(cat "$dir"/n*.log | grep -c 'this peer leads') elections"
