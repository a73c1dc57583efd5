#!/usr/bin/env bash
# The whole test suite, part by part. Every part runs, also after one that failed; the last line says how it went, and
# the exit status is 0 only if every part passed.
set -u
cd "$(dirname "$0")/.."

names=() results=() seconds=()
failures=0

part() { # part NAME COMMAND...
	local name=$1 begin=$SECONDS result=passed
	shift
	printf '\n== %s: %s\n' "$name" "$*"
	"$@" || { result=FAILED && failures=$((failures + 1)); }
	names+=("$name") results+=("$result") seconds+=($((SECONDS - begin)))
}

# without lists the module's packages but those below the given folder.
without() {
	go list -tags page ./... | grep -v -E "/$1(/|\$)"
}

formatted() {
	local files
	files=$(gofmt -l ./*.go coordinator envs examples internal node testnet wasm web | grep -v -E '^web/node_modules/')
	[ -z "$files" ] || { echo "not formatted (make fmt): $files"; return 1; }
}

packages() {
	local list
	list=$(without testnet/live) || return 1
	# shellcheck disable=SC2086 # one word per package
	go test -tags page -timeout 20m $list
}

.ci/tools || exit 1 # nothing below makes sense without them

part page make --no-print-directory build
part format formatted
part vet make --no-print-directory vet
part packages packages
part golden testnet/golden.sh
part page-types npm --prefix web run --silent check
part page-tests npm --prefix web test --silent
part live go test -tags page -count=1 -timeout 20m -v ./testnet/live

printf '\n'
for i in "${!names[@]}"; do
	printf '%-12s %-7s %5d s\n' "${names[i]}" "${results[i]}" "${seconds[i]}"
done
if [ "$failures" -gt 0 ]; then
	printf '%d of %d parts FAILED in %d s\n' "$failures" "${#names[@]}" "$SECONDS"
	exit 1
fi
printf 'all %d parts passed in %d s\n' "${#names[@]}" "$SECONDS"
