// Command simd128 writes the kernels for WebAssembly, simd128.wasm, and the border through which Go calls them,
// border.wasm.
//
// A Go program has its functions imported before it has a memory, and the kernels need that memory. So Go
// imports the functions of the border, which call the entries of a table, and the kernels put themselves into
// the table when they are instantiated on Go's memory. All calls stay within WebAssembly. As long as the
// table is empty, available says 0.
//
// Run it by go generate ./internal/kernel.
package main

import (
	"flag"
	"log"
	"os"
	"path/filepath"
)

// entry is a function of the kernels: its name, its signature (see kinds), and what writes its body.
type entry struct {
	name, params, results string
	write                 func(f *function, p []local)
}

var entries = []entry{
	{"available", "", "i", func(f *function, _ []local) { f.result(number(1)) }},
	{"dense", "iiiiiii", "", dense},
	{"denseBatch", "iiiiiiii", "", denseBatch},
	{"tanh", "ii", "", tanh},
	{"relu", "ii", "", relu},
	{"addNormal", "iiiiifll", "", addNormal},
	{"normal", "iiiill", "", normal},
	{"multiplyAdd", "ii", "f", multiplyAdd},
	{"read", "ii", "i", read},
}

func main() {
	dir := flag.String("out", "..", "folder to write to")
	flag.Parse()
	for name, m := range map[string]*module{"simd128.wasm": kernels(), "border.wasm": border()} {
		if err := os.WriteFile(filepath.Join(*dir, name), m.bytes(), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// kernels is the module on Go's memory.
func kernels() *module {
	m := new(module)
	m.imported("go", "mem", append([]byte{kindMemory}, memoryType()...)...)
	m.imported("border", "table", append([]byte{kindTable}, tableType(len(entries))...)...)
	for i, e := range entries {
		f, p := m.function(e.params, e.results)
		e.write(f, p)
		m.place(i, i)
	}
	return m
}

// border is the module whose functions Go imports.
func border() *module {
	m := &module{table: len(entries)}
	for i, e := range entries {
		f, p := m.function(e.params, e.results)
		for _, l := range p {
			f.result(l.value())
		}
		f.result(number(int32(i)))
		f.result(concat(expr{0x11}, unsigned(m.typeOf(f.params, f.results)), unsigned(0)))
		m.export(e.name, kindFunction, i)
	}
	absent, _ := m.function("", "i")
	absent.result(number(0))
	m.place(0, len(entries))
	m.export("table", kindTable, 0)
	return m
}
