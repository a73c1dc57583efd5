package main

// Kinds of imports and exports.
const (
	kindFunction byte = iota
	kindTable
	kindMemory
)

// module is a WebAssembly module under construction.
type module struct {
	types     [][]byte
	imports   [][]byte
	functions []*function
	table     int // number of places of a table of its own; 0: none
	exports   [][]byte
	elements  [][]byte
}

// typeOf returns the index of a function's type.
func (m *module) typeOf(params, results []byte) uint64 {
	t := concat([]byte{0x60}, list(params), list(results))
	for i, known := range m.types {
		if string(known) == string(t) {
			return uint64(i)
		}
	}
	m.types = append(m.types, t)
	return uint64(len(m.types) - 1)
}

// function begins a function and returns it with its parameters.
func (m *module) function(params, results string) (*function, []local) {
	f := &function{params: kinds(params), results: kinds(results)}
	m.functions = append(m.functions, f)
	p := make([]local, len(f.params))
	for i := range p {
		p[i] = local(i)
	}
	return f, p
}

// export names what was made last as seen from outside.
func (m *module) export(name string, kind byte, index int) {
	m.exports = append(m.exports, concat(text(name), []byte{kind}, unsigned(uint64(index))))
}

func (m *module) imported(from, name string, description ...byte) {
	m.imports = append(m.imports, concat(text(from), text(name), description))
}

// place puts a function into the table.
func (m *module) place(at, function int) {
	m.elements = append(m.elements, concat([]byte{0x00}, number(int32(at)), []byte{0x0b}, list(unsigned(uint64(function)))))
}

// bytes returns the module in the binary format.
func (m *module) bytes() []byte {
	var types, bodies [][]byte
	for _, f := range m.functions {
		types = append(types, unsigned(m.typeOf(f.params, f.results)))
		var locals [][]byte
		for _, kind := range f.locals {
			locals = append(locals, []byte{1, kind})
		}
		body := concat(items(locals), f.body, []byte{0x0b})
		bodies = append(bodies, concat(unsigned(uint64(len(body))), body))
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, parts [][]byte) {
		if len(parts) > 0 {
			content := items(parts)
			out = concat(out, []byte{id}, unsigned(uint64(len(content))), content)
		}
	}
	section(1, m.types)
	section(2, m.imports)
	section(3, types)
	if m.table > 0 {
		section(4, [][]byte{tableType(m.table)})
	}
	section(7, m.exports)
	section(9, m.elements)
	section(10, bodies)
	return out
}

// tableType is that of a table of at least n functions, memoryType of a memory of at least a page.
func tableType(n int) []byte { return concat([]byte{0x70, 0x00}, unsigned(uint64(n))) }

func memoryType() []byte { return []byte{0x00, 0x01} }

// kinds reads one letter a value: i for i32, l for i64, f for f32.
func kinds(letters string) (k []byte) {
	for _, c := range letters {
		k = append(k, map[rune]byte{'i': i32, 'l': i64, 'f': f32}[c])
	}
	return k
}

func text(s string) []byte { return list([]byte(s)) }

// list is bytes with their number in front, items are parts with theirs.
func list(b []byte) []byte { return concat(unsigned(uint64(len(b))), b) }

func items(parts [][]byte) []byte { return concat(unsigned(uint64(len(parts))), concat(parts...)) }
