# Two commands do everything: make run, make test. See make help.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help many run check test build page wasm node-modules foreign tools vet lint golden sim night model mutants live soak fuzz bench bench-record fmt clean

# One set of flags for every build, so that all parts share one build cache.
export GOFLAGS := -trimpath -buildvcs=false
export CGO_ENABLED := 0

VERB    := github.com/evoswarm/evoswarm/node/verb
VERSION := $(shell git describe --always --dirty --abbrev=12 2>/dev/null || echo devel)
LDFLAGS := -s -w -X $(VERB).build=$(VERSION)
GO_DIRS := $(wildcard *.go) coordinator docs envs examples internal node testnet wasm web

# What make run trains, and extra arguments for it.
ENV  ?= CartPole-v1,LunarLander-v3,BipedalWalker-v3
ARGS ?=

SIM_SEEDS ?= 1000
FUZZ_TIME ?= 10s
MANY ?= 1000000

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## build everything, then start a node that trains CartPole-v1, then a lander and a walker, and serves the page (ENV=..., ARGS=...)
	@exec build/evonode --bootstrap --train $(ENV) $(ARGS)

check: ## a first answer in minutes: build, format, vet, lint and unit tests, native only; needs nothing but Go
	@testnet/suite.sh check

test: ## run the whole suite; installs what it needs
	@testnet/suite.sh

build: page ## compile build/evonode with the page and the tab's wasm programs in it
	go build -tags page -ldflags '$(LDFLAGS)' -o build/evonode ./node/evonode

page: node-modules ## build the volunteer page with its wasm programs, compressed, in web/dist
	node web/build.mjs

node-modules: web/node_modules/.package-lock.json

web/node_modules/.package-lock.json: web/package-lock.json web/package.json
	npm ci --prefix web --no-audit --no-fund --loglevel=error
	@touch $@

foreign: testnet/foreign/node_modules/.package-lock.json ## install the peer in another language, js-libp2p, that a live test needs

testnet/foreign/node_modules/.package-lock.json: testnet/foreign/package-lock.json testnet/foreign/package.json
	npm ci --prefix testnet/foreign --no-audit --no-fund --loglevel=error
	@touch $@

wasm: ## build only the tab's wasm programs, in build/web, and say how large they are packed
	node web/build.mjs programs

tools: ## install what the tests need from Debian, or name it
	@.ci/tools

vet: ## go vet, native and for the tab
	go vet ./...
	GOOS=js GOARCH=wasm go vet ./envs/... ./coordinator/... ./internal/... ./wasm/...
	GOOS=js GOARCH=wasm go vet -tags mujoco ./wasm/worker

lint: vet ## vet, format, the project's own rules, staticcheck
	@test -z "$$(gofmt -l $(GO_DIRS))" || { echo 'not formatted (make fmt):'; gofmt -l $(GO_DIRS); exit 1; }
	go test ./internal/lint
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

golden: ## run the golden tests on seven targets: amd64 v1 and v3, arm64, riscv64, ppc64le, s390x, js/wasm
	testnet/golden.sh

sim: ## run the simulator with SIM_SEEDS seeds (1000)
	go test ./testnet/sim -count=1 -timeout 4h -sim.seeds $(SIM_SEEDS)

model: ## try every order of messages, losses, crashes and forgeries among three coordinators, within larger bounds than the tests
	go test ./testnet/model -count=1 -timeout 4h -v -model.deep

mutants: ## break the protocol in small ways, one at a time, and see whether tests of invariants notice (10 minutes)
	go test ./testnet/mutants -run '^TestMutants$$' -count=1 -timeout 8h -v -mutants.run

night: ## run the simulator with 10,000 seeds and its largest swarm, about two hours of two idle cores
	go test ./testnet/sim -run 'TestSeeds|TestCrowd' -count=1 -timeout 16h -sim.seeds 10000

soak: page ## run 30 real processes for two hours, of which now and then one is killed, and check them every five minutes
	go test -tags page -count=1 -timeout 3h -v ./testnet/live -run TestSoak -live.soak 2h -live.soak.nodes 30 -live.soak.check 5m

live: page ## test with real processes and a real Chromium
	go test -tags page -count=1 -timeout 20m -v ./testnet/live

many: ## compare MANY evaluations of each world between Go and its translation in C (a night at 1,000,000)
	go test ./internal/worlds -run '^TestMany$$' -count=1 -timeout 72h -v -worlds.evaluations $(MANY)

fuzz: ## run every fuzz target for FUZZ_TIME (10s)
	@grep -rlE '^func Fuzz' --include='*_test.go' $(GO_DIRS) | xargs -n1 dirname | sort -u | while read -r dir; do \
		for f in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go | cut -c6-); do \
			echo "== $$dir $$f"; go test "./$$dir" -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZ_TIME); \
		done; done

bench: ## compare benchmarks with the kept results of this kind of processor (docs/bench/cpu), with benchstat
	@testnet/bench/compare.sh

bench-record: ## keep the benchmarks of this processor; run it on an idle machine, then commit them
	@testnet/bench/compare.sh --record

fmt: ## gofmt
	gofmt -w $(GO_DIRS)

clean: ## remove build outputs (not the data of runs)
	rm -rf build web/dist web/node_modules testnet/foreign/node_modules
