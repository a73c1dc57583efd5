#!/usr/bin/env bash
# Runs the benchmarks of everything inside a step of training and compares them, with benchstat, to the results kept for
# this kind of processor in docs/bench/cpu/NAME.txt, in Go's benchmark format.
# usage: testnet/bench/compare.sh            compare
#        testnet/bench/compare.sh --record   keep the results of this run (quiet machine!), then commit the file
#        testnet/bench/compare.sh --name     print the processor's NAME
# BENCH_COUNT (6), BENCH_TIME (50ms) and BENCH_PACKAGES set how much runs.
set -eu
cd "$(dirname "$0")/../.."
benchstat=golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
read -ra packages <<<"${BENCH_PACKAGES:-./internal/exact ./internal/noise ./internal/kernel ./internal/policy ./internal/rollout ./envs/...}"

# name prints the processor's name as a file name, on x86 with family and model, since virtual machines hide the rest.
name() {
	{
		if [ -r /proc/cpuinfo ] && grep -q '^model name' /proc/cpuinfo; then
			awk -F ':[ \t]*' '/^model name/ && !name {name = $2} /^cpu family/ && !family {family = $2} /^model[ \t]*:/ && !model {model = $2}
				END {print name, family, model}' /proc/cpuinfo
		elif command -v lscpu >/dev/null && lscpu | grep -q '^Model name'; then
			LC_ALL=C lscpu | sed -n 's/^Model name:[ ]*//p' | head -n 1
		elif sysctl -n machdep.cpu.brand_string 2>/dev/null; then
			:
		else
			echo "unknown $(uname -m)"
		fi
	} | tr '[:upper:]' '[:lower:]' | sed -E 's/\((r|tm)\)//g; s/@ *[0-9.]+ *ghz//; s/[^a-z0-9]+/-/g; s/^-+//; s/-+$//'
}

kept=docs/bench/cpu/$(name).txt
case ${1:-} in
"") ;;
--record) ;;
--name)
	name
	exit
	;;
*)
	sed -n '4,7s/^# //p' "$0" >&2
	exit 2
	;;
esac

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
now=$folder/now.txt
echo "benchmarks of $(name), ${BENCH_COUNT:-6} times each; some minutes" >&2
go test -run '^$' -bench . -skip Train -count "${BENCH_COUNT:-6}" -benchtime "${BENCH_TIME:-50ms}" "${packages[@]}" |
	tee "$folder/all.txt" | sed -nE 's/^ok +[^ ]*\/(internal|envs)/\1/p' >&2
grep -E '^(goos|goarch|pkg|cpu|Benchmark)' "$folder/all.txt" >"$now"

if [ "${1:-}" = --record ]; then
	mkdir -p docs/bench/cpu
	cp "$now" "$kept"
	echo "kept in $kept: commit it"
	exit
fi
if [ ! -e "$kept" ]; then
	go run "$benchstat" "now=$now"
	echo
	echo "There are no results of this processor yet, so nothing to compare with. When nothing else runs here,"
	echo "    make bench-record"
	echo "writes $kept; commit it. Kept are: $(cd docs/bench && ls cpu 2>/dev/null | tr '\n' ' ')"
	exit
fi
go run "$benchstat" "kept=$kept" "now=$now"
