package main

import (
	"encoding/binary"
	"math"
)

// Types of values, as the binary format numbers them.
const (
	i32  byte = 0x7f
	i64  byte = 0x7e
	f32  byte = 0x7d
	v128 byte = 0x7b
)

// expr is the code that leaves one value on the stack.
type expr []byte

// local is the index of a parameter or a local variable.
type local uint32

// value reads it.
func (l local) value() expr { return append(expr{0x20}, unsigned(uint64(l))...) }

// function is a function under construction: statements append to its body.
type function struct {
	params, results []byte
	locals          []byte
	body            []byte
	depth           int
}

// label is where a branch goes.
type label int

// local declares a variable.
func (f *function) local(kind byte) local {
	f.locals = append(f.locals, kind)
	return local(len(f.params) + len(f.locals) - 1)
}

// set stores a value in a variable.
func (f *function) set(to local, v expr) {
	f.body = concat(f.body, v, []byte{0x21}, unsigned(uint64(to)))
}

// let declares a variable with a value.
func (f *function) let(kind byte, v expr) local {
	l := f.local(kind)
	f.set(l, v)
	return l
}

// add adds to an i32 variable.
func (f *function) add(to local, v expr) { f.set(to, i32Add(to.value(), v)) }

// result leaves a value as the function's, at its end.
func (f *function) result(v expr) { f.body = append(f.body, v...) }

// open begins a block, loop or if whose body is made by in, which gets the label to branch to.
func (f *function) open(opcode byte, in func(l label)) {
	f.body = append(f.body, opcode, 0x40)
	f.depth++
	in(label(f.depth))
	f.depth--
	f.body = append(f.body, 0x0b)
}

// block is left by a branch to its label, loop is restarted by one.
func (f *function) block(in func(end label)) { f.open(0x02, in) }

func (f *function) loop(in func(again label)) { f.open(0x03, in) }

func (f *function) when(condition expr, then func()) {
	f.body = append(f.body, condition...)
	f.open(0x04, func(label) { then() })
}

func (f *function) branch(to label) {
	f.body = concat(f.body, []byte{0x0c}, unsigned(uint64(f.depth-int(to))))
}

func (f *function) branchIf(to label, condition expr) {
	f.body = concat(f.body, condition, []byte{0x0d}, unsigned(uint64(f.depth-int(to))))
}

// times runs the body n times, n > 0; n is counted down.
func (f *function) times(n local, body func()) {
	f.loop(func(again label) {
		body()
		f.add(n, number(-1))
		f.branchIf(again, n.value())
	})
}

func (f *function) store(opcode expr, at expr, offset int, v expr) {
	f.body = concat(f.body, at, v, opcode, unsigned(0), unsigned(uint64(offset)))
}

// Stores; alignment is not promised.
func (f *function) store128(at expr, offset int, v expr) { f.store(vector(11), at, offset, v) }
func (f *function) storeF32(at expr, offset int, v expr) { f.store(expr{0x38}, at, offset, v) }

// Opcodes of lanes that are loaded or stored by themselves.
const (
	loadLane32  = 86
	storeLane32 = 90
	storeLane64 = 91
	loadZero32  = 92 // the other lanes become 0
	loadZero64  = 93
)

// storeLane stores a lane of v.
func (f *function) storeLane(opcode uint64, at expr, offset int, v expr, lane byte) {
	f.store(vector(opcode), at, offset, v)
	f.body = append(f.body, lane)
}

func load(opcode expr, at expr, offset int) expr {
	return concat(at, opcode, unsigned(0), unsigned(uint64(offset)))
}

func load128(at expr, offset int) expr   { return load(vector(0), at, offset) }
func loadSplat(at expr, offset int) expr { return load(vector(9), at, offset) }
func loadF32(at expr, offset int) expr   { return load(expr{0x2a}, at, offset) }
func loadU16(at expr, offset int) expr   { return load(expr{0x2f}, at, offset) }

// number is a constant i32, long one of i64.
func number(n int32) expr { return concat([]byte{0x41}, signed(int64(n))) }
func long(n int64) expr   { return concat([]byte{0x42}, signed(n)) }

func real(x float32) expr {
	return binary.LittleEndian.AppendUint32(expr{0x43}, math.Float32bits(x))
}

// operation makes the code of an operation on its operands.
func operation(opcode expr, operands ...expr) expr { return append(concat(operands...), opcode...) }

func i32Add(a, b expr) expr   { return operation(expr{0x6a}, a, b) }
func i32Sub(a, b expr) expr   { return operation(expr{0x6b}, a, b) }
func i32And(a, b expr) expr   { return operation(expr{0x71}, a, b) }
func i32Shl(a, b expr) expr   { return operation(expr{0x74}, a, b) }
func i32ShrU(a, b expr) expr  { return operation(expr{0x76}, a, b) }
func i32Zero(a expr) expr     { return operation(expr{0x45}, a) }
func i32Equal(a, b expr) expr { return operation(expr{0x46}, a, b) }
func i32LessS(a, b expr) expr { return operation(expr{0x48}, a, b) }
func i32MoreU(a, b expr) expr { return operation(expr{0x4b}, a, b) }
func i32FromI64(a expr) expr  { return operation(expr{0xa7}, a) }
func i64Add(a, b expr) expr   { return operation(expr{0x7c}, a, b) }
func i64And(a, b expr) expr   { return operation(expr{0x83}, a, b) }
func i64ShrU(a, b expr) expr  { return operation(expr{0x88}, a, b) }
func f32Add(a, b expr) expr   { return operation(expr{0x92}, a, b) }
func f32Mul(a, b expr) expr   { return operation(expr{0x94}, a, b) }

// vector is the opcode of a vector instruction. From 256 on they are relaxed: their results, such as those of fused
// multiplications, depend on the machine.
func vector(opcode uint64) expr {
	if opcode >= 256 {
		panic("relaxed SIMD")
	}
	return concat([]byte{0xfd}, unsigned(opcode))
}

func and(a, b expr) expr    { return operation(vector(78), a, b) }
func or(a, b expr) expr     { return operation(vector(80), a, b) }
func xor(a, b expr) expr    { return operation(vector(81), a, b) }
func less(a, b expr) expr   { return operation(vector(67), a, b) }
func more(a, b expr) expr   { return operation(vector(68), a, b) }
func plus(a, b expr) expr   { return operation(vector(228), a, b) }
func minus(a, b expr) expr  { return operation(vector(229), a, b) }
func times(a, b expr) expr  { return operation(vector(230), a, b) }
func divide(a, b expr) expr { return operation(vector(231), a, b) }

// lesser is b < a ? b : a, so that a NaN in a stays.
func lesser(a, b expr) expr      { return operation(vector(234), a, b) }
func magnitude(a expr) expr      { return operation(vector(224), a) }
func splat(a expr) expr          { return operation(vector(19), a) }
func splatI32(a expr) expr       { return operation(vector(17), a) }
func addI32x4(a, b expr) expr    { return operation(vector(174), a, b) }
func productLow(a, b expr) expr  { return operation(vector(222), a, b) }
func productHigh(a, b expr) expr { return operation(vector(223), a, b) }

// choose takes the bits of a where mask is set, else those of b.
func choose(mask, a, b expr) expr { return operation(vector(82), a, b, mask) }

// shuffle takes four lanes of 32 bits: 0 to 3 are those of a, 4 to 7 those of b.
func shuffle(a, b expr, lanes ...byte) expr {
	opcode := vector(13)
	for _, l := range lanes {
		opcode = append(opcode, 4*l, 4*l+1, 4*l+2, 4*l+3)
	}
	return operation(opcode, a, b)
}

// constant is a vector of four equal words.
func constant(word uint32) expr {
	c := vector(12)
	for range 4 {
		c = binary.LittleEndian.AppendUint32(c, word)
	}
	return c
}

func concat[T ~[]byte](parts ...T) T {
	var all T
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// unsigned and signed are LEB128.
func unsigned(n uint64) []byte { return binary.AppendUvarint(nil, n) }

func signed(n int64) (b []byte) {
	for {
		low := byte(n & 0x7f)
		n >>= 7
		if n == 0 && low&0x40 == 0 || n == -1 && low&0x40 != 0 {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}
