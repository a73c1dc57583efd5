package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// module is the path before the packages of this module.
const module = "github.com/evoswarm/evoswarm/"

// mutable reports whether values of a type change after they were made. Those of packages below the coordinator do not.
func mutable(t reflect.Type) bool {
	is, ok := mutables[t]
	if !ok {
		path := t.PkgPath()
		is = path == "" || !strings.HasPrefix(path, module) || path == module+"coordinator" || path == module+"internal/fair" || path == module+"testnet/model"
		mutables[t] = is
	}
	return is
}

// What is known of types. One goroutine searches.
var (
	mutables = map[reflect.Type]bool{}
	plains   = map[reflect.Type]bool{}
	telling  = map[reflect.Type][]int{}
)

// left are fields that hold nothing between two steps.
var left = map[string]bool{"Coordinator.out": true}

// open returns v without the mark that it is unexported. v must be addressable.
func open(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// plain reports whether values of a type share nothing with their copies.
func plain(t reflect.Type) bool {
	if known, ok := plains[t]; ok {
		return known
	}
	plains[t] = false
	is := false
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		is = t.Kind() == reflect.Pointer && !mutable(t.Elem())
	case reflect.Array:
		is = plain(t.Elem())
	case reflect.Struct:
		is = !mutable(t) || t == reflect.TypeFor[noise.Stream]()
		if !is {
			is = true
			for i := range t.NumField() {
				is = is && plain(t.Field(i).Type)
			}
		}
	default:
		is = true
	}
	plains[t] = is
	return is
}

// place is where a value lies. A struct and its first field lie in the same place.
type place struct {
	at unsafe.Pointer
	is reflect.Type
}

// copier copies a graph of values. seen has the copies of what pointers may lead to, fields of structs included.
type copier struct{ seen map[place]reflect.Value }

// copyCoordinator copies a coordinator, which reads blocks from another archive.
func copyCoordinator(c *coordinator.Coordinator, from, to *disk) *coordinator.Coordinator {
	k := copier{seen: map[place]reflect.Value{{unsafe.Pointer(from), reflect.TypeFor[disk]()}: reflect.ValueOf(to)}}
	twin := new(coordinator.Coordinator)
	k.copy(reflect.ValueOf(twin).Elem(), reflect.ValueOf(c).Elem())
	return twin
}

// copy sets to, which is zero, to a copy of from. Both are addressable.
func (k *copier) copy(to, from reflect.Value) {
	to, from = open(to), open(from)
	t := from.Type()
	if plain(t) {
		to.Set(from)
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		if from.IsNil() {
			return
		}
		at := place{from.UnsafePointer(), t.Elem()}
		twin, ok := k.seen[at]
		if !ok {
			twin = reflect.New(t.Elem())
			k.seen[at] = twin
			k.copy(twin.Elem(), from.Elem())
		}
		to.Set(twin)
	case reflect.Interface:
		if from.IsNil() {
			return
		}
		was := reflect.New(from.Elem().Type()).Elem()
		was.Set(from.Elem())
		twin := reflect.New(was.Type()).Elem()
		k.copy(twin, was)
		to.Set(twin)
	case reflect.Slice:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeSlice(t, from.Len(), from.Len()))
		if plain(t.Elem()) {
			reflect.Copy(to, from)
			return
		}
		for i := range from.Len() {
			k.copy(to.Index(i), from.Index(i))
		}
	case reflect.Array:
		for i := range from.Len() {
			k.copy(to.Index(i), from.Index(i))
		}
	case reflect.Map:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeMapWithSize(t, from.Len()))
		for entries := from.MapRange(); entries.Next(); {
			to.SetMapIndex(k.twin(entries.Key()), k.twin(entries.Value()))
		}
	case reflect.Struct:
		k.seen[place{from.Addr().UnsafePointer(), t}] = to.Addr()
		for i := range t.NumField() {
			if !left[t.Name()+"."+t.Field(i).Name] {
				k.copy(to.Field(i), from.Field(i))
			}
		}
	default:
		panic(fmt.Sprintf("model: a coordinator holds a %v", t))
	}
}

// twin copies a key or a value of a map, which is not addressable.
func (k *copier) twin(v reflect.Value) reflect.Value {
	was := reflect.New(v.Type()).Elem()
	was.Set(v)
	if plain(v.Type()) {
		return was
	}
	twin := reflect.New(v.Type()).Elem()
	k.copy(twin, was)
	return twin
}

// unimportant are fields in which two states may differ that behave alike: numbers of jobs, and caches.
// The stream of draws is one of them: where ranks take no time and all claims are audited, no draw decides.
var unimportant = map[string]bool{
	"Coordinator.cfg": true, "Coordinator.out": true, "Coordinator.draw": true, "work.lastJob": true, "chain.archive": true, "chain.weightsCache": true,
	"chain.weightsOf": true, "chain.headAccounts": true, "chain.branchAccounts": true, "election.electorate": true,
}

// horizon is how many ticks ago something may be and still matter.
const horizon = 32

// digester writes what a coordinator is in a form that is the same for coordinators that behave alike.
type digester struct {
	b    []byte
	now  uint64
	seen map[place]uint64
}

// digestOf is the digest of a coordinator at a time.
func digestOf(c *coordinator.Coordinator, now coordinator.Tick) [32]byte {
	d := digester{now: uint64(now), seen: map[place]uint64{}}
	d.write(reflect.ValueOf(c).Elem())
	return sha256.Sum256(d.b)
}

func (d *digester) number(n uint64) { d.b = binary.AppendUvarint(d.b, n) }

func (d *digester) write(v reflect.Value) {
	t := v.Type()
	if t == reflect.TypeFor[coordinator.Tick]() {
		d.number(uint64(min(max(int64(d.now-v.Uint()), -horizon), horizon) + horizon))
		return
	}
	switch t.Kind() {
	case reflect.Bool:
		d.number(map[bool]uint64{true: 1}[v.Bool()])
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		d.number(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		d.number(v.Uint())
	case reflect.Float64, reflect.Float32:
		d.b = fmt.Append(d.b, v.Float())
	case reflect.String:
		d.number(uint64(v.Len()))
		d.b = append(d.b, v.String()...)
	case reflect.Pointer:
		d.pointer(v)
	case reflect.Interface:
		if !v.IsNil() {
			d.b = append(d.b, v.Elem().Type().String()...)
			d.write(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		d.number(uint64(v.Len()))
		if t.Elem().Kind() == reflect.Uint8 && (t.Kind() == reflect.Slice || v.CanAddr()) {
			d.b = append(d.b, v.Bytes()...)
			return
		}
		for i := range v.Len() {
			d.write(v.Index(i))
		}
	case reflect.Map:
		d.entries(v)
	case reflect.Struct:
		d.fields(v)
	case reflect.Func:
	default:
		panic(fmt.Sprintf("model: a coordinator holds a %v", t))
	}
}

// pointer writes what is pointed to the first time, and afterwards which it was. Of what never changes it matters only
// whether it is there: blocks have links, and states belong to entries.
func (d *digester) pointer(v reflect.Value) {
	if v.IsNil() {
		d.number(0)
		return
	}
	if !mutable(v.Type().Elem()) {
		d.number(1)
		return
	}
	at := place{v.UnsafePointer(), v.Type().Elem()}
	n, known := d.seen[at]
	if !known {
		n = d.visit(at)
	}
	d.number(n)
	if !known {
		d.write(v.Elem())
	}
}

// visit numbers a place that is met for the first time.
func (d *digester) visit(at place) uint64 {
	n := uint64(len(d.seen)) + 2
	d.seen[at] = n
	return n
}

// entries writes a map in the order of its keys.
func (d *digester) entries(v reflect.Value) {
	type entry struct {
		key   []byte
		value reflect.Value
	}
	var list []entry
	for m := v.MapRange(); m.Next(); {
		key := digester{now: d.now, seen: d.seen}
		key.write(m.Key())
		list = append(list, entry{key.b, m.Value()})
	}
	slices.SortFunc(list, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	d.number(uint64(len(list)))
	for _, e := range list {
		d.b = append(d.b, e.key...)
		d.write(e.value)
	}
}

func (d *digester) fields(v reflect.Value) {
	t := v.Type()
	if t == reflect.TypeFor[seedlog.RawBlock]() {
		d.write(v.FieldByName("link"))
		return
	}
	fields, ok := telling[t]
	if !ok {
		for i := range t.NumField() {
			if !unimportant[t.Name()+"."+t.Field(i).Name] {
				fields = append(fields, i)
			}
		}
		telling[t] = fields
	}
	if v.CanAddr() {
		if at := (place{unsafe.Pointer(v.UnsafeAddr()), t}); d.seen[at] == 0 {
			d.visit(at)
		}
	}
	for _, i := range fields {
		d.write(v.Field(i))
	}
}
