// Command _gen writes the translation of step code to internal/worlds: go generate ./internal/worlds. With -wasm FOLDER
// it only compiles the modules of WebAssembly, to that folder.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evoswarm/evoswarm/internal/translate"
)

func main() {
	out := flag.String("wasm", "", "only compile the modules of WebAssembly, to this folder")
	flag.Parse()
	dir := filepath.Join("internal", "worlds")
	write := func() error { return wasm(dir, *out) }
	if *out == "" {
		write = func() error { return run(dir) }
	}
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir string) error {
	p, err := translate.LoadWorlds(".")
	if err != nil {
		return err
	}
	files, err := translate.Worlds(p)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := writeBuild(dir); err != nil {
		return err
	}
	if err := writeModules(dir); err != nil {
		return err
	}
	return wasm(dir, dir)
}
