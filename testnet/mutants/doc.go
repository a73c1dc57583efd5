// Package mutants tests the tests: it breaks the protocol in small ways, one at a time, and sees whether a test of an
// invariant notices. Transcripts, which notice any change, do not count, nor does a test that waited too long. Each
// mutant names the test that notices; that is tried first, and all others if it does not.
//
//	go test ./testnet/mutants -run TestMutants -mutants.run -timeout 4h -v
package mutants
