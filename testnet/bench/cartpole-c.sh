#!/usr/bin/env bash
# Steps CartPole-v1 with random actions in Go and in C, in turns on one core, and prints the ratio of their speeds.
# First it compares results: with -ffp-contract=off the C program must end every episode in the same bits.
# usage: testnet/bench/cartpole-c.sh [ROUNDS]
set -eu
cd "$(dirname "$0")/../.."
rounds=${1:-7} windows=100
command -v gcc >/dev/null || { echo "it takes gcc: apt-get install gcc" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
go build -o "$folder/go" ./testnet/bench/cartpole
build() { gcc -O3 -march=native -Wall -Wextra -Werror "${@:2}" -o "$folder/$1" testnet/bench/cartpole.c -lm; }
build exact -ffp-contract=off
build fused
build libm -DLIBM
pin=()
if command -v taskset >/dev/null; then pin=(taskset -c "${CORE:-0}"); fi

for round in $(seq "$rounds"); do
	for program in go exact fused libm; do
		echo "$round $program $("${pin[@]}" "$folder/$program" $windows)"
	done
done >"$folder/all"

awk -v compiler="$(gcc -dumpfullversion)" '
$2 == "go" { bits = $3 " " $4 " " $5; go[$1] = $6 }
$2 == "exact" && $3 " " $4 " " $5 != bits { print "the programs differ: Go " bits ", C " $3 " " $4 " " $5; wrong = 1; exit 1 }
!($2 in best) || $6 < best[$2] { best[$2] = $6 }
$2 != "go" { ratio[$2, $1] = $6 / go[$1]; n = $1 }
{ steps = $3; episodes = $4 }
function median(name,   i, j, v, t) {
	for (i = 1; i <= n; i++) v[i] = ratio[name, i]
	for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (v[j] < v[i]) { t = v[i]; v[i] = v[j]; v[j] = t }
	return v[int((n + 1) / 2)]
}
function row(name, what) { printf "| %s | %.1f | %.1f | %.2f |\n", what, best[name], 1000 / best[name], median(name) }
END {
	if (wrong) exit 1
	printf "%d steps, %d episodes; Go and C with -ffp-contract=off end each in the same bits.\n\n", steps, episodes
	print "| CartPole-v1, bare step, random actions, resets included | ns | M steps/s | speed of Go over this |"
	print "|---|---|---|---|"
	printf "| Go | %.1f | %.1f | |\n", best["go"], 1000 / best["go"]
	row("exact", "gcc " compiler " -O3 -march=native -ffp-contract=off, our sin and cos (the same bits)")
	row("libm", "gcc -O3 -march=native, sin and cos of the C library")
	row("fused", "gcc -O3 -march=native, our sin and cos, multiply and add fused")
}' "$folder/all"
