// Command slim writes the go.mod that the programs of a tab are built with: slim FOLDER.
//
// It is the one of the module with replacements of what libp2p brings along and a tab never uses, which would be a
// third of what a tab downloads (docs/RATIONALE.md, "What a tab leaves out"). FOLDER gets tab.mod and tab.sum, for go
// build -modfile=FOLDER/tab.mod, and the modules that it trims. What takes the place of others is next to this file.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// trimmed are modules of which single files are left out or replaced, the folders of one module next to each other.
var trimmed = []struct {
	module string
	// folder has the files inside the module.
	folder string
	// gone are left out. One that is not there has another name in this version, and would be linked again. nil: all.
	gone []string
	// ours is our folder with a file that is put there.
	ours, file string
}{
	{"github.com/libp2p/go-libp2p", "core/crypto", []string{"ecdsa.go", "key_to_stdlib.go", "rsa_common.go", "rsa_go.go", "secp256k1.go"}, "_crypto", "keys.go"},
	{"github.com/multiformats/go-multihash", "register/all", []string{"multihash_all.go"}, "_multihash", "multihash_all.go"},
	{"google.golang.org/protobuf", "proto", nil, "_protobuf/proto", "proto.go"},
	{"google.golang.org/protobuf", "reflect/protoreflect", nil, "_protobuf/protoreflect", "protoreflect.go"},
	{"google.golang.org/protobuf", "runtime/protoimpl", nil, "_protobuf/protoimpl", "impl.go"},
}

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
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	replaced := [][2]string{
		{"github.com/prometheus/client_golang", "wasm/slim/client_golang"},
		{"github.com/multiformats/go-multicodec", "wasm/slim/go-multicodec"},
	}
	for i := range trimmed {
		m := &trimmed[i]
		to := filepath.Join(folder, filepath.Base(m.module))
		if i == 0 || m.module != trimmed[i-1].module {
			if err := copyModule(m.module, to); err != nil {
				return err
			}
			replaced = append(replaced, [2]string{m.module, to})
		}
		inside := filepath.Join(to, m.folder)
		if m.gone == nil {
			if err := os.RemoveAll(inside); err != nil {
				return err
			}
		}
		for _, name := range m.gone {
			if err := os.Remove(filepath.Join(inside, name)); err != nil {
				return err
			}
		}
		if err := copyFile(filepath.Join("wasm", "slim", m.ours, m.file), filepath.Join(inside, m.file)); err != nil {
			return err
		}
	}
	for _, r := range replaced {
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

// copyModule copies the programs of a module.
func copyModule(module, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	from, err := modulePath(module)
	if err != nil {
		return err
	}
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !ours(path) {
			return err
		}
		inside, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return copyFile(path, filepath.Join(to, inside))
	})
}

// ours reports whether a file of a module is part of its programs.
func ours(path string) bool {
	return filepath.Base(path) == "go.mod" || strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
}

// modulePath is where a module is, of the version that go.mod names. It is downloaded if nothing was built here before.
func modulePath(module string) (string, error) {
	var said bytes.Buffer
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Stderr = &said
	out, err := cmd.Output()
	var got struct{ Dir, Error string }
	if json.Unmarshal(out, &got) != nil || got.Dir == "" {
		return "", fmt.Errorf("go mod download %s: %v: %s%s", module, err, got.Error, said.String())
	}
	return got.Dir, nil
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
