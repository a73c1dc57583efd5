#!/bin/bash
# Runs the golden tests on seven targets and prints a table. See --help.
set -u

usage() {
	cat <<'EOF'
usage: testnet/golden.sh [--foreign] [PACKAGE ...]

Builds the test binary of every package that has a test named TestGolden..., for each target, and runs
-test.run '^TestGolden' in the package's folder. Equal golden files on all targets mean equal bits.

  v1       amd64, GOAMD64=v1           this processor
  v3       amd64, GOAMD64=v3           this processor (AVX2, FMA, BMI)
  arm64 riscv64 ppc64le s390x          qemu-user
  js       js/wasm                     Node, its kernels through testnet/wasmexec/node.mjs

With packages (./internal/noise ...) only those run. --foreign leaves out v1: go test runs these tests there like any
others. On all targets but v1 the tests do not repeat over numbers of workers, which is Go's doing and not the target's.

As with go test, a binary that has passed is not run again while it, its testdata and its runner stay the same; FRESH=1
runs everything. JOBS=N runs N at a time (default: one per core). Logs of failures are kept in build/golden. Exit status:
0 all equal, 1 a test failed, 2 a tool is missing or wrong use.

example: testnet/golden.sh ./internal/exact ./internal/noise
EOF
}

# The slowest first, so that no core is idle at the end.
targets=(s390x riscv64 ppc64le arm64 js v3 v1)

# Folders of floors 0-3 (internal/lint/floors_test.go).
rooms=(internal/exact internal/noise internal/kernel envs internal/policy internal/evolve internal/rollout internal/presets internal/seedlog coordinator)

# environment_of TARGET prints what go build needs to know.
environment_of() {
	case $1 in
	v1 | v3) echo GOARCH=amd64 GOAMD64="$1" ;;
	js) echo GOOS=js GOARCH=wasm ;;
	*) echo GOARCH="$1" ;;
	esac
}

# runner_of TARGET prints the program that runs the target's binaries; nothing for this processor.
runner_of() {
	case $1 in
	arm64) echo qemu-aarch64 ;;
	riscv64 | ppc64le | s390x) echo "qemu-$1" ;;
	js) echo "$PWD/testnet/wasmexec/node.mjs" ;;
	esac
}

# need TOOL DEBIAN-PACKAGE
need() {
	command -v "$1" >/dev/null && return
	echo "golden: $1 is missing: apt-get install $2" >&2
	lacking=1
}

preflight() {
	lacking=0
	if ! command -v go >/dev/null; then
		echo "golden: go is missing: install Go 1.26 from https://go.dev/dl" >&2
		exit 2
	fi
	for t in arm64 riscv64 ppc64le s390x; do need "$(runner_of $t)" qemu-user; done
	need node nodejs
	if [ "$(go env GOHOSTARCH)" != amd64 ] || [ "$(go env GOHOSTOS)" != linux ]; then
		echo "golden: amd64 v1 and v3 need a linux/amd64 machine, this one is $(go env GOHOSTOS)/$(go env GOHOSTARCH)" >&2
		lacking=1
	else
		for flag in avx avx2 bmi1 bmi2 f16c fma abm movbe; do
			if ! grep -qw -m1 "$flag" /proc/cpuinfo; then
				echo "golden: this processor cannot run amd64 v3: it has no $flag" >&2
				lacking=1
			fi
		done
	fi
	[ $lacking = 0 ] || exit 2
}

# find_packages lists the packages with golden tests, as import path and folder, in $out/packages.
find_packages() { # find_packages PATTERN...
	local pkg dir
	go list -f '{{.ImportPath}} {{.Dir}}' "$@" >"$out/list" || exit 2
	while read -r pkg dir; do
		grep -qs '^func TestGolden' "$dir"/*_test.go || continue
		echo "$pkg $dir"
	done <"$out/list" >"$out/packages"
	if [ ! -s "$out/packages" ]; then
		echo "golden: no package among them has a test named TestGolden..." >&2
		exit 2
	fi
}

# build TARGET makes the binaries of all packages at once, $out/TARGET/NAME.test.
build() {
	local target=$1 environment
	mkdir "$out/$target"
	read -ra environment < <(environment_of "$target")
	env GOOS=linux CGO_ENABLED=0 GOFLAGS='-trimpath -buildvcs=false' "${environment[@]}" \
		go test -c -ldflags='-s -w' -o "$out/$target/" $(cut -d ' ' -f 1 "$out/packages") >"$out/$target.build.log" 2>&1
}

# fingerprint BINARY FOLDER RUNNER hashes all that a result depends on.
fingerprint() {
	{
		sha256sum <"$1"
		[ ! -d "$2/testdata" ] || find "$2/testdata" -type f -print0 | sort -z | xargs -0 sha256sum
		case $3 in
		"") ;;
		*.mjs) node --version && cat "$3" "$root"/internal/{kernel,worlds}/*.{mjs,wasm} ;;
		*) "$3" --version ;;
		esac
	} | sha256sum | cut -d ' ' -f 1
}

# run TARGET FOLDER runs a cell of the table; its result goes to $out/TARGET/NAME.
run() {
	local target=$1 dir=$2 name=${2##*/} runner status passed key
	local result=$out/$target/$name log=$out/$target/$name.log foreign=1
	if [ ! -e "$result.test" ]; then
		echo build >"$result"
		return
	fi
	runner=$(cd "$root" && runner_of "$target")
	key=$kept/$(fingerprint "$result.test" "$dir" "$runner")
	if [ -e "$key" ] && [ -z "${FRESH:-}" ]; then
		touch "$key"
		cp "$key" "$result"
		return
	fi
	[ "$target" != v1 ] || foreign=
	# The counted lines prove that the tests ran: a binary that runs nothing passes too.
	# shellcheck disable=SC2086 # no runner is no word
	(cd "$dir" && GOLDEN_FOREIGN=$foreign timeout 1200 $runner "$result.test" -test.run '^TestGolden' -test.v) >"$log" 2>&1
	status=$?
	passed=$(grep -c '^--- PASS: TestGolden' "$log")
	if [ $status != 0 ]; then
		echo FAIL
	elif [ "$passed" = 0 ] || grep -q '^--- SKIP' "$log"; then
		echo skipped
	else
		echo "ok $passed" | tee "$key"
	fi >"$result"
}

table() {
	local pkg dir t cell first
	printf '%-44s' package
	printf ' %-8s' "${targets[@]}"
	printf '\n'
	while read -r pkg dir; do
		printf '%-44s' "${pkg#"$module"/}"
		first=
		for t in "${targets[@]}"; do
			cell=$(cat "$out/$t/${dir##*/}" 2>/dev/null || echo lost)
			printf ' %-8s' "$cell"
			first=${first:-$cell}
			case $cell in
			"ok "*) [ "$cell" = "$first" ] || differ+=("$pkg ran another number of tests on $t") ;;
			build) failed+=("$t.build.log") ;;
			*) failed+=("$t/${dir##*/}.log") ;;
			esac
		done
		printf '\n'
	done <"$out/packages"
}

main() {
	local arguments=()
	while [ $# -gt 0 ]; do
		case $1 in
		-h | --help) usage && exit 0 ;;
		--foreign) unset 'targets[-1]' ;;
		-*) usage >&2 && exit 2 ;;
		*) arguments+=("$1") ;;
		esac
		shift
	done
	cd "$(dirname "$0")/.." || exit 2
	preflight
	module=$(go list -m) root=$PWD out=$PWD/build/golden kept=$PWD/build/golden-passed
	rm -rf "$out"
	mkdir -p "$out" "$kept"
	find "$kept" -type f -mtime +14 -delete
	export root out kept
	export -f run runner_of fingerprint

	find_packages "${arguments[@]:-./...}"
	for t in "${targets[@]}"; do build "$t"; done
	# The packages that train take the most time: they come first.
	for t in "${targets[@]}"; do
		cut -d ' ' -f 2 "$out/packages" | tac | while read -r dir; do printf '%s\0%s\0' "$t" "$dir"; done
	done | xargs -0 -n 2 -P "${JOBS:-$(nproc)}" bash -c 'run "$@"' run

	failed=() differ=()
	table
	for log in $(printf '%s\n' "${failed[@]}" | sort -u); do
		printf '\n== build/golden/%s\n' "$log"
		tail -n 20 "$out/$log"
	done
	[ ${#differ[@]} = 0 ] || printf 'golden: %s\n' "${differ[@]}"
	if [ ${#failed[@]} -gt 0 ] || [ ${#differ[@]} -gt 0 ]; then
		exit 1
	fi
	rm -f "$out"/*/*.test
	echo "all equal on ${#targets[@]} targets"
}

main "$@"
