// Command _gen makes what devices run, in internal/gpu: of each world its step code as OpenCL C, and, with clang 14,
// the same as PTX: go generate ./internal/gpu.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/evoswarm/evoswarm/internal/translate"
	"github.com/evoswarm/evoswarm/internal/worlds"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// dir is where the files are, seen from the module's root.
const dir = "internal/gpu"

func run() error {
	p, err := translate.LoadWorlds(".")
	if err != nil {
		return err
	}
	texts, err := translate.Devices(p)
	if err != nil {
		return err
	}
	device, err := os.ReadFile(filepath.Join(dir, "device.cl"))
	if err != nil {
		return err
	}
	begin := worlds.Prelude + string(device)
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, "worlds", name+".cl"), []byte(text), 0o644); err != nil {
			return err
		}
		if err := compile(begin+text, "play", filepath.Join("worlds", name)); err != nil {
			return err
		}
	}
	return compile(begin, "arithmetic", "arithmetic")
}

// options keep products and sums apart, and divisions and roots correctly rounded.
var options = strings.Fields(`-w -x cl -cl-std=CL1.2 -target nvptx64-nvidia-cuda -Xclang -target-cpu -Xclang sm_70
	-Xclang -target-feature -Xclang +ptx63 -O3 -ffp-contract=off -cl-fp32-correctly-rounded-divide-sqrt -nogpulib -S -o - -`)

// compile makes PTX of a text followed by kernels.cl.
func compile(text, kernels, to string) error {
	k, err := os.ReadFile(filepath.Join(dir, kernels+".cl"))
	if err != nil {
		return err
	}
	text += string(k)
	var out bytes.Buffer
	fmt.Fprintf(&out, "// Made of the text with SHA-256 %x.\n", sha256.Sum256([]byte(text)))
	c := exec.Command("clang", options...)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(text), &out, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("clang 14 makes no PTX of %s: %w", to, err)
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(out.Bytes()); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, to+".ptx.gz"), packed.Bytes(), 0o644)
}
