#!/bin/bash
# Runs the golden tests of floors 0-3 on all seven targets and prints a table. See --help.
set -u

usage() {
	cat <<'EOF'
usage: testnet/golden.sh [PACKAGE ...]

Builds the test binary of every package of floors 0-3 that has a test named TestGolden..., for each target, and runs
-test.run '^TestGolden' in the package's folder. Equal golden files on all targets mean equal bits.

  v1       amd64, GOAMD64=v1           this processor
  v3       amd64, GOAMD64=v3           this processor (AVX2, FMA, BMI)
  arm64 riscv64 ppc64le s390x          qemu-user
  js       js/wasm                     Node, its kernels through node.mjs

With packages (./internal/noise ...) only those run. JOBS=N runs N at a time (default 2). Logs of failures are kept in
build/golden. Exit status: 0 all equal, 1 a test failed, 2 a tool is missing or wrong use.

example: testnet/golden.sh ./internal/exact ./internal/noise
EOF
}

targets=(v1 v3 arm64 riscv64 ppc64le s390x js)

# Folders of floors 0-3 (internal/lint/floors_test.go).
rooms=(internal/exact internal/noise internal/kernel envs internal/policy internal/evolve internal/rollout internal/presets internal/seedlog coordinator)

qemu_of() {
	case $1 in
	arm64) echo qemu-aarch64 ;;
	riscv64) echo qemu-riscv64 ;;
	ppc64le) echo qemu-ppc64le ;;
	s390x) echo qemu-s390x ;;
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
	for t in arm64 riscv64 ppc64le s390x; do need "$(qemu_of $t)" qemu-user; done
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

# one TARGET PACKAGE FOLDER NAME: builds and runs one cell of the table; its result goes to $out/NAME.TARGET.
one() {
	local target=$1 pkg=$2 dir=$3 name=$4
	local bin="$out/$name.$target.test" log="$out/$name.$target.log"
	local env=(CGO_ENABLED=0 GOOS=linux GOFLAGS=) run=()
	case $target in
	v1) env+=(GOARCH=amd64 GOAMD64=v1) ;;
	v3) env+=(GOARCH=amd64 GOAMD64=v3) ;;
	js) env+=(GOOS=js GOARCH=wasm) run=("$wasm_exec") ;;
	*) env+=(GOARCH="$target") run=("$(qemu_of "$target")") ;;
	esac
	if ! env "${env[@]}" go test -c -o "$bin" "$pkg" >"$log" 2>&1; then
		echo "build" >"$out/$name.$target"
		return
	fi
	# The counted lines prove that the tests ran: a binary that runs nothing passes too.
	(cd "$dir" && timeout 600 "${run[@]}" "$bin" -test.run '^TestGolden' -test.v) >"$log" 2>&1
	local rc=$? passed
	passed=$(grep -c '^--- PASS: TestGolden' "$log")
	if [ $rc != 0 ]; then
		echo FAIL
	elif [ "$passed" = 0 ] || grep -q '^--- SKIP' "$log"; then
		echo skipped
	else
		echo "ok $passed"
	fi >"$out/$name.$target"
	rm -f "$bin"
}

table() {
	printf '%-44s' package
	printf ' %-8s' "${targets[@]}"
	printf '\n'
	while read -r pkg _ name; do
		printf '%-44s' "${pkg#"$module"/}"
		local first=
		for t in "${targets[@]}"; do
			local cell
			cell=$(cat "$out/$name.$t" 2>/dev/null || echo lost)
			printf ' %-8s' "$cell"
			first=${first:-$cell}
			case $cell in
			"ok "*) [ "$cell" = "$first" ] || differ+=("$pkg ran another number of tests on $t") ;;
			*) failed+=("$name.$t.log") ;;
			esac
		done
		printf '\n'
	done <"$out/packages"
}

main() {
	case ${1-} in
	-h | --help) usage && exit 0 ;;
	-*) usage >&2 && exit 2 ;;
	esac
	cd "$(dirname "$0")/.." || exit 2
	preflight
	module=$(go list -m)
	wasm_exec=$PWD/testnet/wasmexec/node.mjs
	out=$PWD/build/golden
	rm -rf "$out"
	mkdir -p "$out"
	export module wasm_exec out
	export -f one qemu_of

	local patterns=("$@")
	if [ $# = 0 ]; then
		for room in "${rooms[@]}"; do [ -d "$room" ] && patterns+=("./$room/..."); done
	fi
	local pure
	pure=$(IFS='|' && echo "${rooms[*]}")
	go list -f '{{.ImportPath}} {{.Dir}}' "${patterns[@]}" >"$out/list" || exit 2
	while read -r pkg dir; do
		[[ $pkg =~ ^$module/($pure)(/|$) ]] || continue
		grep -qs '^func TestGolden' "$dir"/*_test.go || continue
		echo "$pkg $dir $(tr / _ <<<"${pkg#"$module"/}")"
	done <"$out/list" >"$out/packages"
	if [ ! -s "$out/packages" ]; then
		echo "golden: no package of floors 0-3 among them has a test named TestGolden..." >&2
		exit 2
	fi

	while read -r pkg dir name; do
		for t in "${targets[@]}"; do printf '%s\0%s\0%s\0%s\0' "$t" "$pkg" "$dir" "$name"; done
	done <"$out/packages" | xargs -0 -n 4 -P "${JOBS:-2}" bash -c 'one "$@"' one

	failed=() differ=()
	table
	for log in "${failed[@]}"; do
		printf '\n== build/golden/%s\n' "$log"
		tail -n 20 "$out/$log"
	done
	[ ${#differ[@]} = 0 ] || printf 'golden: %s\n' "${differ[@]}"
	if [ ${#failed[@]} -gt 0 ] || [ ${#differ[@]} -gt 0 ]; then
		exit 1
	fi
	echo "all equal on ${#targets[@]} targets"
}

main "$@"
