# shellcheck shell=bash
# Sourced by the scripts next to it that run nodes on a core each: $evonode is the program, $dir what they write.

dir=$(mktemp -d)
finish() {
	# shellcheck disable=SC2046 # one word per process
	kill $(jobs -p) 2>/dev/null || true
	wait
}
trap 'finish; rm -rf "$dir"' EXIT
# start CORE FOLDER ARGUMENTS: a node with one worker on that core, whose ports follow from it and whose data is in FOLDER of $dir.
start() {
	local core=$1 folder=$2
	shift 2
	taskset -c "$core" "$evonode" "$@" --http "127.0.0.1:$((18000 + core))" --listen "/ip4/127.0.0.1/tcp/$((19000 + core))" --no-mdns --workers 1 \
		--data "$dir/$folder" >"$dir/$folder.log" 2>&1 &
}
