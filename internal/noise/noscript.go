//go:build translate

package noise

// scripted is false in step code that is translated to another language: it gets streams of seeds only.
func (s *Stream) scripted() bool { return false }

func (s *Stream) next() float64 { return 0 }
