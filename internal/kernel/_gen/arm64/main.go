// Command arm64 writes the assembly of the kernel for arm64, asm_arm64.s, and its Go declarations, asm_arm64.go.
//
// Go's assembler knows the general registers and the branches of arm64, but no vector FMUL or FADD. So general
// instructions are written in its language, and those of vectors as words, each with what objdump calls it; a test of
// package kernel asks objdump about every word. Run it by go generate ./internal/kernel.
package main

import (
	"flag"
	"log"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("out", ".", "folder of the files")
	flag.Parse()
	a := newAsm()
	dense(a)
	denseBatch(a)
	tanh(a)
	relu(a)
	addNormal(a)
	normal(a)
	multiplyAdd(a)
	read(a)
	for name, text := range map[string][]byte{"asm_arm64.s": a.text.Bytes(), "asm_arm64.go": a.stubs.Bytes()} {
		if err := os.WriteFile(filepath.Join(*dir, name), text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
