package gpu

import "testing"

// TestArithmetic holds every device of this computer to Go's arithmetic.
func TestArithmetic(t *testing.T) {
	info := usable(t)
	s, err := info.open()
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := testArithmetic(s); err != nil {
		t.Error(err)
	}
}
