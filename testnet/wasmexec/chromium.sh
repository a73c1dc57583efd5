#!/usr/bin/env bash
# Command chromium for go test -exec, whose GOOS and GOARCH are those of the program.
exec env -u GOOS -u GOARCH go run github.com/evoswarm/evoswarm/testnet/wasmexec/chromium "$@"
