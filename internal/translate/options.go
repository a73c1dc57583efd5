package translate

// Target is a language.
type Target int

// Targets.
const (
	C      Target = iota // C99, with inline functions; also C++17 takes it
	OpenCL               // OpenCL C 1.2
	CUDA                 // CUDA C, which is C++17
)

// World is an environment in the place of [Options.Interface].
type World struct {
	Name string // what the names of its functions end with
	Type string // its state, such as "envs/classic/cartpole.State"
}

// Space is where a pointer or a slice points to, for targets whose pointers have that in their type.
type Space int

// Spaces. In C and CUDA all pointers are Generic.
const (
	Generic  Space = iota
	Private        // of one work-item
	Global         // of the device
	Local          // of one work-group
	Constant       // tables
)

// Root is a function to translate.
type Root struct {
	Name string // such as "internal/episode.Play" or "envs/classic/cartpole.State.Reset"
	// Spaces says for each parameter, the receiver first, where it points to; the rest are Global. Only for OpenCL.
	Spaces []Space
}

// Options says what is translated, and how.
type Options struct {
	Target Target
	Roots  []Root
	// Externs are functions that the target has itself.
	Externs []string
	// Interface is the interface in whose place Worlds are put, such as "envs.Env"; Methods names the methods of a
	// world's state that are called for the interface's.
	Interface string
	Methods   map[string]string
	Worlds    []World
	// Stack bounds what the variables of a function and of those that it calls may take, in bytes; 0: 16 KiB.
	Stack int64

	// CheckIndices makes an index out of its range a trap, for tests.
	CheckIndices bool
	// PlainSigned leaves signed arithmetic to the target, so that its sanitizer sees an overflow, for tests.
	PlainSigned bool
}

// stackDefault is what a tab's worker and a GPU run without being asked for more.
const stackDefault = 16 << 10
