// Command slim writes the go.mod that the programs of a tab are built with: slim FOLDER.
//
// It is the one of the module with replacements of what libp2p brings along and a tab never uses, which would be a
// third of what a tab downloads (docs/RATIONALE.md, "What a tab leaves out"). FOLDER gets tab.mod and tab.sum, for go
// build -modfile=FOLDER/tab.mod, and the replaced libp2p. The replacements of other modules are next to this file.
package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const libp2p = "github.com/libp2p/go-libp2p"

// keyFiles are the files of libp2p's core/crypto whose place _crypto/keys.go takes.
var keyFiles = []string{"ecdsa.go", "key_to_stdlib.go", "rsa_common.go", "rsa_go.go", "secp256k1.go"}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./wasm/slim FOLDER   in the module's root")
		os.Exit(2)
	}
	if err := slim(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "slim:", err)
		os.Exit(1)
	}
}

func slim(folder string) error {
	if err := copyLibp2p(filepath.Join(folder, "go-libp2p")); err != nil {
		return err
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	for _, r := range [][2]string{
		{"github.com/prometheus/client_golang", "wasm/slim/client_golang"},
		{"github.com/multiformats/go-multicodec", "wasm/slim/go-multicodec"},
		{libp2p, filepath.Join(folder, "go-libp2p")},
	} {
		at := filepath.ToSlash(r[1])
		if !filepath.IsAbs(r[1]) {
			at = "./" + at
		}
		mod = fmt.Appendf(mod, "\nreplace %s => %s\n", r[0], at)
	}
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "tab.mod"), mod, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "tab.sum"), sum, 0o644)
}

// copyLibp2p copies libp2p's programs, with keys of Ed25519 alone.
func copyLibp2p(to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	from, err := modulePath()
	if err != nil {
		return err
	}
	err = filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !ours(path) {
			return err
		}
		inside, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return copyFile(path, filepath.Join(to, inside))
	})
	if err != nil {
		return err
	}
	for _, name := range keyFiles {
		// One that is not there has another name in this version of libp2p, and would be linked again.
		if err := os.Remove(filepath.Join(to, "core", "crypto", name)); err != nil {
			return err
		}
	}
	return copyFile(filepath.Join("wasm", "slim", "_crypto", "keys.go"), filepath.Join(to, "core", "crypto", "keys.go"))
}

// ours reports whether a file of a module is part of its programs.
func ours(path string) bool {
	return filepath.Base(path) == "go.mod" || strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
}

// modulePath is where libp2p is, of the version that go.mod names.
func modulePath() (string, error) {
	var said bytes.Buffer
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", libp2p)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go list -m %s: %w: %s", libp2p, err, said.String())
	}
	return strings.TrimSpace(string(out)), nil
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}
