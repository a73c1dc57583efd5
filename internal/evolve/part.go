package evolve

import "fmt"

// partSetting describes a part of a population.
func partSetting(name, doc string, part float64, since uint64) Setting {
	return Setting{Name: name, Doc: doc + ": a count if 1 or more, else a share", Default: part, Min: 1e-6, Max: 1 << 20, Since: since}
}

// checkPart returns an error that wraps ErrParams if the part called name is more than
// the whole, size.Population, or a count with a fraction.
func checkPart(method string, p Params, name string, size Size) error {
	x := p.number(name)
	if x > 1 && x != float64(int(x)) {
		return fmt.Errorf("%w: %s: %s is %v, want a share below 1 or a whole number", ErrParams, method, name, x)
	}
	if x > float64(size.Population) {
		return fmt.Errorf("%w: %s: %s is %v, want at most the population, %d", ErrParams, method, name, x, size.Population)
	}
	return nil
}

// partOf returns how many of n a part is, at least 1 and, for n >= 1, at most n.
func partOf(part float64, n int) int {
	if part < 1 {
		part = float64(part*float64(n)) + 0.5
	}
	return max(1, min(int(part), n))
}
