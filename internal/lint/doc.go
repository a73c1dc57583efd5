// Package lint holds the code base to its rules; all of it is tests, run by `go test ./internal/lint`.
//
// On no floor: only tests import it.
//
// Floors 0 to 3 (numbers, environments, learning, protocol) promise the same bits on every machine. Their rules:
//   - imports: what each floor may import; imports go down only; adapters do not import each other (all floors).
//   - offline: what trains without a swarm links no network package.
//   - floors: the comment of each room says its floor; internal/README.md is the map of them.
//   - math: only inside internal/exact, and there only what is exact on every target; above floor 0 also constants and
//     bit casts, which cannot differ.
//   - product: no + or - takes an unconverted product, so that no compiler may fuse it.
//   - fusion: no fused instruction in what the compiler makes for arm64, riscv64, ppc64le, s390x and amd64 v3.
//   - maps: no map is walked in its random order. A loop that only collects keys which the next statement sorts is
//     fine; so is one whose comment `//lint:sorted why` says why its order cannot matter.
//   - concurrency: no goroutine, channel or select, except in internal/rollout and internal/cores.
//   - loop: the coordinator calls nothing that folds or reads whole states; its driver does that elsewhere.
//   - step: step code (docs/spec/worlds.md) stays in the kernel subset of Go, and the translator can keep all of it.
//   - doc: every exported name has a comment. Of the Markdown files: links lead somewhere, RATIONALE.md has an index of
//     its sections, GLOSSARY.md is in order and names what the code has, and FAULTS.md has all its rows and names tests
//     that exist.
//   - words: no comment, message or page uses a retired or British word, and no comment is wider than 120 columns
//     (words_test.go, all floors).
//
// Test files, internal/golden and folders that the go tool does not see (testdata, _gen) are exempt. Every rule has a
// fixture testdata/<rule> that breaks it: a line marked `// want: text` must be reported with that text, and no other.
package lint
