#!/usr/bin/env bash
# Measures every speed in docs/bench/README.md and prints Markdown; progress goes to stderr. It takes about ten minutes. Run
# it on an idle machine: it prints the load.
# usage: [PYTHON=venv/bin/python] testnet/bench/all.sh >figures.md     (PYTHON=none leaves numpy, torch and jax out)
set -eu
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
core=${CORE:-0}
pin=()
if command -v taskset >/dev/null; then pin=(taskset -c "$core"); fi
say() { echo "$(date +%T) $*" >&2; }
load() { cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || sysctl -n vm.loadavg; }

go build -o "$folder/evonode" ./node/evonode
echo "$(testnet/bench/compare.sh --name), $(getconf _NPROCESSORS_ONLN) cores, $(go version | cut -d ' ' -f 3,4), commit $(git describe --always --dirty), $(date -u +%F)."
echo "Load before: $(load)."

echo -e "\n## One core\n\n\`evonode bench all\`, median of three runs.\n"
for run in 1 2 3; do
	say "evonode bench all on core $core, run $run of 3"
	"${pin[@]}" "$folder/evonode" bench all --seconds 20 --json >"$folder/one$run"
done
node testnet/bench/table.mjs "$folder"/one?

if [ "$(getconf _NPROCESSORS_ONLN)" -gt 1 ]; then
	echo -e "\n## All cores against one\n\nThe same, not pinned.\n"
	for run in 1 2 3; do
		say "evonode bench update and rollout on all cores, run $run of 3"
		"$folder/evonode" bench update --seconds 5 --json | grep '"times"' >"$folder/many$run"
		"$folder/evonode" bench rollout --seconds 10 --json | grep '"times"' >>"$folder/many$run"
	done
	node testnet/bench/table.mjs "$folder"/many?
fi

echo -e "\n## CartPole-v1 in Go and in C\n\n\`testnet/bench/cartpole-c.sh\`: medians of the ratios of 7 rounds.\n"
say "testnet/bench/cartpole-c.sh"
testnet/bench/cartpole-c.sh 7

if command -v chromium >/dev/null; then
	echo -e "\n## A tab compared with this machine\n\n\`go run ./testnet/bench/tab --tab\`: the fastest slices of 3 rounds, one core each.\n"
	say "go run ./testnet/bench/tab --tab"
	go run ./testnet/bench/tab --tab --rounds 3 --seconds 5
fi

if [ "${PYTHON:-}" != none ]; then
	echo -e "\n## numpy, torch and jax\n\n\`testnet/bench/python/run.sh\`: the best of each library's ways, 2 rounds.\n"
	say "testnet/bench/python/run.sh"
	testnet/bench/python/run.sh 2
fi

echo -e "\n## CartPole-v1 solved, whole processes\n\n\`testnet/bench/cartpole.sh\`, seeds 0 to 9.\n"
for strategy in dises openai-es; do
	say "testnet/bench/cartpole.sh 0 9 $strategy"
	echo "- \`$strategy\`: $(testnet/bench/cartpole.sh 0 9 "$strategy")"
done
echo -e "\nLoad after: $(load)."
