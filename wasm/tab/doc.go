//go:build !(js && wasm)

// Command tab runs in a browser only: see main.go.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "this program is the browser's: build it with GOOS=js GOARCH=wasm (make run does)")
	os.Exit(2)
}
