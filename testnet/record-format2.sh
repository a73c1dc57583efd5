#!/usr/bin/env bash
# Records the logs in internal/seedlog/testdata/format2: small runs of format 2 that must replay to the same bits for ever.
#
#	testnet/record-format2.sh build/evonode FOLDER
#
# batches.seedlog: three nodes, of which two are newcomers; results of earlier states, attestations, held-out results.
# swarm.seedlog: the same, recorded when entries named their claims (no generation.batch).
# solved.seedlog: a run that ends because its policy passed the test.
# trusted.seedlog: two nodes with a list of trusted keys.
# params.seedlog: a run on one machine with parameters of its environment.
#
# Each recording is another run. Those that are committed stay.
set -euo pipefail
evonode=$(realpath "$1") out=$(realpath "$2")
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$dir"' EXIT
# start FOLDER PORT ARGUMENTS
start() {
	local folder=$1 port=$2
	shift 2
	"$evonode" "$@" --http "127.0.0.1:$port" --listen "/ip4/127.0.0.1/tcp/$((port + 1000))" --no-mdns --workers 1 --data "$dir/$folder" >"$dir/$folder.log" 2>&1 &
}
# says FOLDER TEXT: waits until the status of the node has it.
says() {
	until "$evonode" status --data "$dir/$1" --json 2>/dev/null | grep -q "$2"; do sleep 0.2; done
}
# finish NAME FOLDER...: ends the nodes and takes the log of the first.
finish() {
	local name=$1 first=$2
	shift
	for folder in "$@"; do "$evonode" stop --data "$dir/$folder" >/dev/null; done
	cp "$dir/$first"/*.seedlog "$out/$name.seedlog"
	"$evonode" replay "$out/$name.seedlog" --check claims
}
start one 18010 --bootstrap --train CartPole-v1 --until entries=54
says one '"state":"training"'
start two 18011 join http://127.0.0.1:18010
start three 18012 join http://127.0.0.1:18010
says one '"ended":true'
finish batches one two three

start alone 18013 --bootstrap --train CartPole-v1
says alone '"ended":true'
finish solved alone

"$evonode" key --data "$dir/second" >"$dir/keys"
start first 18014 --bootstrap --train LunarLanderContinuous-v3 --trust "$dir/keys" --until entries=6
says first '"run":"bafy'
start second 18015 join http://127.0.0.1:18014
says first '"ended":true'
finish trusted first second

"$evonode" train Pendulum-v1 --env-param g=3 --until steps=10000 -o "$out/params.seedlog" >/dev/null
rm -f "$out/params.seedlog.synced"
"$evonode" replay "$out/params.seedlog" --check claims
