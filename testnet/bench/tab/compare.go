//go:build !js

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evoswarm/evoswarm/internal/kernel"
)

// compare prints what each native kernel and the tab's reach, and the tab's ratio to the kernel of its width.
func compare(seconds float64, rounds int, only string) error {
	dir, err := os.MkdirTemp("", "evoswarm-tab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	programs := map[string][]string{}
	for name, env := range map[string][]string{"native": nil, "tab.wasm": {"GOOS=js", "GOARCH=wasm"}, "chromium": nil} {
		pkg := "github.com/evoswarm/evoswarm/testnet/bench/tab"
		if name == "chromium" {
			pkg = "github.com/evoswarm/evoswarm/testnet/wasmexec/chromium"
		}
		path := filepath.Join(dir, name)
		build := exec.Command("go", "build", "-o", path, pkg)
		build.Env = append(os.Environ(), env...)
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", build, err, out)
		}
		programs[name] = []string{path}
	}
	tab := append(programs["chromium"], programs["tab.wasm"]...)
	best := map[string]map[string]row{}
	var kernels, rows []string
	for range rounds {
		runs := [][]string{append(slices.Clone(tab), "--kernel=simd128", "--engine=c"), append(slices.Clone(tab), "--kernel=simd128", "--engine=go"),
			append(slices.Clone(tab), "--kernel=portable", "--engine=go")}
		for _, k := range kernel.All() {
			runs = append(runs, append(slices.Clone(programs["native"]), "--kernel="+k.Name))
		}
		for i, args := range runs {
			args = append(args, fmt.Sprintf("--seconds=%g", seconds), "--only="+only)
			r, err := ask(args)
			if err != nil {
				return err
			}
			if i < 3 {
				r.Kernel = "tab " + r.Kernel + ", " + r.Engine
			}
			if best[r.Kernel] == nil {
				best[r.Kernel] = map[string]row{}
				kernels = append(kernels, r.Kernel)
			}
			for _, row := range r.Rows {
				if !slices.Contains(rows, row.Name) {
					rows = append(rows, row.Name)
				}
				if old := best[r.Kernel][row.Name]; row.Value > old.Value {
					best[r.Kernel][row.Name] = row
				}
			}
		}
	}
	print(best, kernels, rows)
	return nil
}

func ask(args []string) (r result, err error) {
	var out bytes.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return r, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	return r, json.Unmarshal(out.Bytes(), &r)
}

// print writes a table in Markdown. The last column is the tab's rate over that of the native kernel with
// vectors of 128 bits, or the portable one where there is none.
func print(best map[string]map[string]row, kernels, rows []string) {
	narrow := "portable"
	for _, k := range []string{"sse2", "neon"} {
		if best[k] != nil {
			narrow = k
		}
	}
	fmt.Printf("| | unit | %s | tab simd128, c / %s |\n|%s\n", strings.Join(kernels, " | "), narrow, strings.Repeat("---|", len(kernels)+3))
	for _, name := range rows {
		fmt.Printf("| %s | %s |", name, best[narrow][name].Unit)
		for _, k := range kernels {
			fmt.Printf(" %.3g |", best[k][name].Value)
		}
		fmt.Printf(" %.2f |\n", best["tab simd128, c"][name].Value/best[narrow][name].Value)
	}
}
