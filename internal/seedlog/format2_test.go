package seedlog

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/evoswarm/evoswarm/internal/golden"
)

// TestGoldenFormat2: recorded runs of format 2 (testnet/record-format2.sh) replay to the bits that they had, and
// have in them what the format is for.
func TestGoldenFormat2(t *testing.T) {
	for _, test := range []struct {
		name                          string
		stale, attested, heldOut, end bool
	}{
		{"swarm", true, true, true, true},
		{"batches", true, true, true, true},
		{"solved", false, false, false, true},
		{"trusted", true, false, false, true},
		{"params", false, false, false, false},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", "format2", test.name+".seedlog"))
		if err != nil {
			t.Fatal(err)
		}
		has := test
		has.stale, has.attested, has.heldOut = false, false, false
		opts := ReplayOptions{Check: CheckClaims, Visit: func(r *Record, _ Replayed) error {
			has.attested = has.attested || len(r.Entry.Attestations) > 0
			for _, c := range r.Claims {
				has.stale = has.stale || c.Parent != r.Entry.Parent
				has.heldOut = has.heldOut || c.HeldOut()
			}
			return nil
		}}
		if golden.Foreign() {
			opts.Check = CheckDigests // 20 M env-steps take minutes in an emulator
		}
		got, err := Replay(bytes.NewReader(data), opts)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if has.end = got.Rules.Ended(got.Parent) != Open; has != test {
			t.Errorf("%s has %+v, want %+v", test.name, has, test)
		}
		best := binary.LittleEndian.AppendUint64(nil, got.Marks.Best.Height)
		best = binary.LittleEndian.AppendUint64(best, uint64(got.Marks.Best.Score))
		digest := got.State.Digest()
		golden.Check(t, "format2/"+test.name+"/head", got.Link.Bytes())
		golden.Check(t, "format2/"+test.name+"/state", digest[:])
		golden.Check(t, "format2/"+test.name+"/best", best)
	}
}
