package gpu

import (
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/worlds"
)

// made are the files that _gen makes: the step code of worlds as text for OpenCL, and PTX.
//
//go:embed worlds/*.cl worlds/*.ptx.gz arithmetic.ptx.gz
var made embed.FS

//go:embed play.cl
var playSource string

// world is an environment on a device.
type world struct {
	name           string // of its functions
	variant        int32  // argument of State.Choose
	obsDim, actDim int
}

// worldOf returns the world of an environment. Errors wrap ErrProgram.
func worldOf(env *envs.Spec) (world, error) {
	i := slices.IndexFunc(worlds.Table, func(w worlds.World) bool { return w.ID == env.ID && w.OnDevices() })
	if i < 0 {
		return world{}, fmt.Errorf("%w: devices have none for %s; the CPU's cores compute", ErrProgram, env.ID)
	}
	if usual, err := envs.Find(env.ID); err == nil && usual.ObsDim != env.ObsDim {
		return world{}, fmt.Errorf("%w: devices have %s with %d observations, and with these parameters it has %d; the CPU's cores compute",
			ErrProgram, env.ID, usual.ObsDim, env.ObsDim)
	}
	w := &worlds.Table[i]
	return world{w.Name(), w.Variant, env.ObsDim, actions(w.Package)}, nil
}

// actions is the largest length of an action of a package's worlds, which share a program.
func actions(folder string) (n int) {
	n = 1
	for _, w := range worlds.Table {
		if env, err := envs.Find(w.ID); err == nil && w.Package == folder && !env.Action.Discrete {
			n = max(n, env.Action.Dim)
		}
	}
	return n
}

// size is how large a world's State is: its steps take a work-item more or less time than a policy's layers.
type size int

const (
	small  size = iota // an equation
	middle             // bodies: work-items wait for each other's branches, so an episode has a group to itself
	large              // too large for local memory
)

func (w world) size() size {
	text := w.text()
	switch {
	case !strings.Contains(text, "#define OWN_LOCAL\n"):
		return large
	case strings.Contains(text, "box2d_"):
		return middle
	}
	return small
}

// registers bound what CUDA gives a work-item, so that a processor has room for as many groups as local memory has.
var registers = [...]int{small: 80, middle: 128, large: 0}

// program is the world's program.
func (w world) program() program {
	return program{
		registers: registers[w.size()],
		name:      w.name, source: worlds.Prelude + deviceSource + w.text() + playSource,
		ptx:     func() string { return unpack("worlds/" + w.name) },
		kernels: []string{"episode_size", "play", "perturb", "passes"},
	}
}

// text is its step code in OpenCL C.
func (w world) text() string {
	text, err := made.ReadFile("worlds/" + w.name + ".cl")
	if err != nil {
		panic("gpu: " + err.Error())
	}
	return string(text)
}

// unpack returns a file of PTX.
func unpack(name string) string {
	f, err := made.Open(name + ".ptx.gz")
	if err != nil {
		panic("gpu: " + err.Error())
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		panic("gpu: " + err.Error())
	}
	var text strings.Builder
	if _, err := io.Copy(&text, z); err != nil {
		panic("gpu: " + err.Error())
	}
	return text.String()
}
