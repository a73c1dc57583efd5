// Package mutants tests the tests: it breaks the protocol in small ways, one at a time, and sees whether a test of an
// invariant notices. Transcripts, which notice any change, do not count.
//
//	go test ./testnet/mutants -run TestMutants -mutants.run -timeout 4h -v
package mutants
