// A program of the live tests that runs under Node: it replays a seed log up to a height with the fastest kernel, as
// evonode replay does, and prints the digest of the parameters in hexadecimal. Usage: replay LOG HEIGHT.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"

	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 3 {
		return fmt.Errorf("usage: replay LOG HEIGHT")
	}
	at, err := strconv.ParseUint(os.Args[2], 10, 64)
	if err != nil {
		return err
	}
	if _, err := kernel.UseFastest(); err != nil {
		return err
	}
	file, err := os.Open(os.Args[1])
	if err != nil {
		return err
	}
	defer file.Close()
	r, err := seedlog.Replay(bufio.NewReader(file), seedlog.ReplayOptions{At: at, HasAt: true})
	if err != nil {
		return err
	}
	fmt.Printf("%x\n", r.State.ThetaDigest())
	return nil
}
