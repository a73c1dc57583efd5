// Command _gen writes the translation of step code to internal/worlds: go generate ./internal/worlds.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/evoswarm/evoswarm/internal/translate"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	p, err := translate.LoadWorlds(".")
	if err != nil {
		return err
	}
	files, err := translate.Worlds(p)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join("internal", "worlds", name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
