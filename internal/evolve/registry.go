package evolve

import (
	"fmt"
	"strings"

	"github.com/evoswarm/evoswarm/internal/nearest"
)

// Methods returns all methods sorted by name. The slice is the caller's.
func Methods() []Method {
	return []Method{
		arsMethod(),
		cemMethod(),
		cmaMethod(),
		disesMethod(),
		gaMethod(),
		openaiMethod(),
		pepgMethod(),
		pgpeMethod(),
		randomMethod(),
		sepMethod(),
		snesMethod(),
		vanillaMethod(),
		xnesMethod(),
	}
}

// FindRevision returns the method called name as of a revision; 0 is the newest. Errors wrap ErrMethod.
func FindRevision(name string, revision uint64) (Method, error) {
	m, err := Find(name)
	if err != nil || revision == 0 {
		return m, err
	}
	return m.At(revision)
}

// Find returns the method called name, regardless of case. The error for an unknown name wraps ErrMethod and lists the
// nearest names, or all.
func Find(name string) (Method, error) {
	word := strings.TrimSpace(name)
	var names []string
	for _, m := range Methods() {
		if m.Name == strings.ToLower(word) {
			return m, nil
		}
		names = append(names, m.Name)
	}
	if near := nearest.Names(word, names); len(near) > 0 {
		names = near
	}
	return Method{}, fmt.Errorf("%w %q; nearest: %s", ErrMethod, name, strings.Join(names, ", "))
}
