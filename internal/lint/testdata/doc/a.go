package doc // want: package comment

// Fine has a comment.
type Fine struct{}

type Bare struct{} // want: Bare

func (Bare) Method() {} // want: Bare.Method

func (Fine) hidden() {}

type private struct{}

// A method of a private type needs none.
func (private) Seen() {}

func Func() {} // want: Func

// Both are said here.
const (
	A = 1
	B = 2
)

const (
	C = 1 // C is said here.
	D = 2 // want: D
)

var V int // want: V
