#!/usr/bin/env bash
# The test suite, part by part. Every part runs, also after one that failed; the last line says how it went, and the
# exit status is 0 only if every part passed.
# usage: testnet/suite.sh          everything: what make test runs
#        testnet/suite.sh check    a first answer in minutes: native only, no emulator, no browser, no long training
set -u
cd "$(dirname "$0")/.."

# As in the Makefile: one set of flags, so that all parts share one build cache.
export GOFLAGS='-trimpath -buildvcs=false' CGO_ENABLED=0

names=() results=() seconds=()
failures=0

part() { # part NAME COMMAND...
	local begin=$SECONDS status=0
	printf '\n== %s: %s\n' "$1" "${*:2}"
	"${@:2}" || status=$?
	account "$1" $status $((SECONDS - begin))
}

account() { # account NAME STATUS SECONDS
	local result=passed
	[ "$2" = 0 ] || { result=FAILED && failures=$((failures + 1)); }
	names+=("$1") results+=("$result") seconds+=("$3")
}

# A part in the background takes the cores only while the other parts leave them idle. join prints what it said.
background() { # background NAME COMMAND...
	log=$(mktemp) behind=$1
	printf '\n== %s: in the background, %s\n' "$1" "${*:2}"
	set -m # a process group of its own, to end all of it at once
	{
		local status=0
		nice -n 19 "${@:2}" || status=$?
		echo $status $SECONDS >"$log.end"
	} >"$log" 2>&1 &
	pid=$!
	set +m
	trap 'kill -- -$pid 2>/dev/null; rm -f "$log" "$log.end"' EXIT
}

join() {
	local status=1 took=0
	wait "$pid"
	[ ! -e "$log.end" ] || read -r status took <"$log.end"
	printf '\n== %s\n' "$behind"
	cat "$log"
	rm -f "$log" "$log.end"
	trap - EXIT
	account "$behind" "$status" "$took"
}

formatted() {
	local files
	files=$(gofmt -l ./*.go coordinator docs envs examples internal node testnet wasm web | grep -v -E '/node_modules/')
	[ -z "$files" ] || { echo "not formatted (make fmt): $files"; return 1; }
}

# packages lists all Go packages but testnet/live. Those that take longest are named first, so that they start first and no
# core is idle at the end.
packages() {
	echo ./testnet/sim ./internal/evolve ./internal/presets ./internal/lint .
	go list ./... | grep -v '/testnet/live$'
}

quick() {
	local list
	list=$(packages) || return 1
	# shellcheck disable=SC2086 # one word per package
	go test -short -timeout 20m $list
}

# Tests over real browsers and sockets depend on what else the computer does. Where no more than six fail, subtests
# counted, each is run once more, and the last lines of the suite name it: it is to be repaired.
again=build/again
retested() { # retested FORMAT PACKAGES FLAG...
	go run gotest.tools/gotestsum@v1.13.0 --format "$1" --hide-summary skipped --rerun-fails=1 --rerun-fails-max-failures=6 \
		--rerun-fails-run-root-test --rerun-fails-report="$again/$RANDOM" --packages="$2" -- "${@:3}"
}

thorough() {
	local list
	list=$(packages) || return 1
	retested standard-quiet "$(xargs <<<"$list")" -tags page -timeout 40m
}

check() {
	part build go build ./...
	part format formatted
	part vet make --no-print-directory vet
	part packages quick
}

everything() {
	.ci/tools || exit 1 # nothing below makes sense without them
	rm -rf "$again" && mkdir -p "$again"
	background golden testnet/golden.sh --foreign
	part page make --no-print-directory build
	part format formatted
	part vet make --no-print-directory vet
	part page-types npm --prefix web run --silent check
	part page-tests npm --prefix web test --silent
	part tab-network env GOOS=js GOARCH=wasm go test -exec "$PWD/testnet/wasmexec/node.mjs" ./internal/mesh
	part tab-engine env GOOS=js GOARCH=wasm go test -exec "$PWD/testnet/wasmexec/node.mjs" ./internal/worlds -run '^(TestUse|TestPlayThatCannotBe)'
	part foreign make --no-print-directory foreign
	part live retested standard-verbose ./testnet/live -tags page -count=1 -timeout 40m
	part live-format1 retested standard-verbose ./testnet/live -tags page -count=1 -timeout 40m -run "TestSoak|TestSwarm" -args -live.format1
	part packages thorough
	join
}

case ${1-} in
"") everything ;;
check) check ;;
*)
	sed -n 's/^# \(usage:\|       testnet\)/\1/p' "$0" >&2
	exit 2
	;;
esac

printf '\n'
for i in "${!names[@]}"; do
	printf '%-12s %-7s %5d s\n' "${names[i]}" "${results[i]}" "${seconds[i]}"
done
if [ -d "$again" ] && [ -n "$(cat "$again"/* 2>/dev/null)" ]; then
	echo 'run again, since they failed at first:'
	cat "$again"/*
fi
if [ "$failures" -gt 0 ]; then
	printf '%d of %d parts FAILED in %d s\n' "$failures" "${#names[@]}" "$SECONDS"
	exit 1
fi
printf 'all %d parts passed in %d s\n' "${#names[@]}" "$SECONDS"
