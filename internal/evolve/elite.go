package evolve

import "fmt"

// eliteSetting describes an elite fraction: how many of a population's best candidates count.
func eliteSetting(name, doc string, fraction float64, since uint64) Setting {
	return Setting{Name: name, Doc: doc + ": a fraction if below 1, else a count", Default: fraction, Min: 1e-6, Max: 1 << 20, Since: since}
}

// checkElite returns an error that wraps ErrParams if the elite fraction called name is a count that has a
// fractional part or exceeds size.Population.
func checkElite(method string, p Params, name string, size Size) error {
	x := p.number(name)
	if x > 1 && x != float64(int(x)) {
		return fmt.Errorf("%w: %s: %s is %v, want a fraction below 1 or a whole number", ErrParams, method, name, x)
	}
	if x > float64(size.Population) {
		return fmt.Errorf("%w: %s: %s is %v, want at most the population, %d", ErrParams, method, name, x, size.Population)
	}
	return nil
}

// eliteCount returns how many of n candidates an elite fraction selects: at least 1 and, for n >= 1, at most n.
func eliteCount(fraction float64, n int) int {
	if fraction < 1 {
		fraction = float64(fraction*float64(n)) + 0.5
	}
	return max(1, min(int(fraction), n))
}

// countSetting describes how many of a generation's best count, as a number; doc says what 0 means.
func countSetting(name, doc string) Setting {
	return Setting{Name: name, Doc: doc, Default: 0.0, Min: 0, Max: 1 << 30, Integer: true}
}

// count reads a countSetting; 0 becomes byDefault. A count above most, the number there is in a population of
// this size, returns an error that wraps ErrParams.
func count(method, name string, p Params, byDefault, most int, size Size) (int, error) {
	n := int(p.number(name))
	if n > most {
		return 0, fmt.Errorf("%w: %s: %s is %d, want an integer in [0, %d] with a population of %d",
			ErrParams, method, name, n, most, size.Population)
	}
	if n == 0 {
		n = max(byDefault, 1)
	}
	return n, nil
}
