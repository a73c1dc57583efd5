#!/usr/bin/env bash
# Many nodes on this computer: what they log, and whether they agree.
#
#	testnet/bench/crowd.sh build/evonode 30 60 [more flags of the first node]
#
# Prints, after so many seconds, and every EVERY seconds until then, the heights of the lowest and the highest node, the
# evaluations in the log, how often a node gave up entries for others, how often one was elected, and what memory and disk
# the largest node takes. With KEEP=FOLDER their data and logs stay there. On few cores a swarm of N can do no more than one node: what it
# does less went into gossip. Needs curl and jq.
set -euo pipefail
evonode=$(realpath "$1") nodes=${2:-30} seconds=${3:-60}
shift $(($# < 3 ? $# : 3))
every=${EVERY:-$seconds}
if [ -n "${KEEP:-}" ]; then
	dir=$KEEP
	mkdir -p "$dir"
else
	dir=$(mktemp -d)
fi
finish() {
	# shellcheck disable=SC2046 # one word per process
	kill $(jobs -p) 2>/dev/null || true
	wait
	[ -n "${KEEP:-}" ] || rm -rf "$dir"
}
trap finish EXIT
pids=()
start() {
	local i=$1
	shift
	"$evonode" "$@" --http "127.0.0.1:$((18000 + i))" --listen "/ip4/127.0.0.1/tcp/$((19000 + i))" --no-mdns --workers 1 \
		--log-level info --metrics "127.0.0.1:$((17000 + i))" --data "$dir/n$i" >"$dir/n$i.log" 2>&1 &
	pids[i]=$!
}
# look: one line on all nodes.
look() {
	local i
	for ((i = 0; i < nodes; i++)); do
		curl -s -m 20 "http://127.0.0.1:$((18000 + i))/api/status" && echo || true
	done >"$dir/status"
	jq -s -r --arg s "$SECONDS" --arg n "$nodes" '"after \($s) s: \(length) of \($n) answered, heights \([.[].height] | min) to \([.[].height] | max), \([.[].evaluations] | max) evaluations"' "$dir/status"
	echo "  $(cat "$dir"/n*.log | grep -c 'were replaced by') reorganizations, $(cat "$dir"/n*.log | grep -c 'this peer leads') elections," \
		"memory of the largest $(ps -o rss= -p "$(IFS=,; echo "${pids[*]}")" | sort -n | tail -n 1 | awk '{print int($1/1024)}') MiB," \
		"disk $(du -sm "$dir"/n*/ | sort -n | tail -n 1 | cut -f 1) MiB"
}
start 0 --bootstrap --train "${ENV:-CartPole-v1}" "$@"
sleep 1
for ((i = 1; i < nodes; i++)); do
	start "$i" join http://127.0.0.1:18000
	sleep 0.2
done
SECONDS=0
while [ "$SECONDS" -lt "$seconds" ]; do
	sleep "$((every < seconds - SECONDS ? every : seconds - SECONDS))"
	look
done
