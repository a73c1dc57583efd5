#!/usr/bin/env bash
# How long who joins an old run takes until it computes, until something of it is logged, and until it has checked all.
#
#	testnet/bench/join.sh build/evonode FOLDER [more flags of the first node]
#
# FOLDER has the data of a node with a run; it is copied. Each node has one worker and is pinned to a core. Needs curl,
# jq and taskset, and a machine with nothing else to do.
set -euo pipefail
evonode=$(realpath "$1") old=$2
shift 2
# shellcheck source=pinned.sh
. "$(dirname "$0")/pinned.sh"
cp -r "$old" "$dir/old"
rm -f "$dir/old/lock"
status() { curl -s -m 5 "http://127.0.0.1:$((18000 + $1))/api/status" || true; }
height() {
	local h
	h=$(status "$1" | jq -r '.height // 0' 2>/dev/null || true)
	echo "${h:-0}"
}
start 0 old --bootstrap "$@"
for _ in $(seq 100); do [ "$(height 0)" -gt 0 ] && break; sleep 0.2; done
[ "$(height 0)" -gt 0 ] || { echo "the node of $old has no run: $(tail -n 3 "$dir/old.log")" >&2; exit 1; }
sleep 5
before=$(status 0)
start 1 new join http://127.0.0.1:18000
begun=$(date +%s%3N)
since() { echo $(($(date +%s%3N) - begun)); } # ms
works='' logged='' checked=''
while [ -z "$checked" ] && [ "$(since)" -lt 120000 ]; do
	sleep 0.1
	new=$(status 1)
	[ -n "$new" ] || continue
	if [ -z "$works" ] && jq -e '(.ahead // 0) > 0 and .mine_evals_per_s > 0' <<<"$new" >/dev/null; then works=$(since); fi
	if [ -z "$logged" ] && jq -e '.mine > 0' <<<"$new" >/dev/null; then logged=$(since); fi
	if jq -e --argjson h "$(height 0)" '(.ahead // 0) == 0 and .behind == 0 and .height + 3 >= $h and .mine > 0' <<<"$new" >/dev/null; then checked=$(since); fi
done
jq -nc --argjson b "$before" --arg w "$works" --arg l "$logged" --arg c "$checked" --argjson a "$(status 0)" \
	'{env: $b.env, entries: $b.height, works_ms: $w, logged_ms: $l, checked_ms: $c, terms: ($a.term - $b.term), leader_was: $b.leader[:8], is: $a.leader[:8]}'
