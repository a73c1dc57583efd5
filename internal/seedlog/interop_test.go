//go:build !js

package seedlog

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/ipfs/go-cid"
	car "github.com/ipld/go-car/v2"
	"github.com/ipld/go-ipld-prime/codec/dagcbor"
	"github.com/ipld/go-ipld-prime/node/basicnode"
	"github.com/multiformats/go-multihash"
)

// Others' libraries open a log, find the same blocks under the same names, and write the same bytes.
func TestOtherLibrariesAgree(t *testing.T) {
	data, err := os.ReadFile(smallLog)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := car.NewBlockReader(bytes.NewReader(data), car.ZeroLengthSectionAsEOF(false))
	if err != nil {
		t.Fatal(err)
	}
	records, err := scan(data)
	if err != nil {
		t.Fatal(err)
	}
	scanner, err := NewScanner(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if reader.Version != 1 || len(reader.Roots) != 1 || reader.Roots[0] != scanner.Rules().Run.Cid {
		t.Errorf("version %d, roots %v; want 1, %s", reader.Version, reader.Roots, scanner.Rules().Run)
	}
	want := []Link{scanner.Rules().Run}
	for _, r := range records {
		want = append(append(want, r.Entry.Claims...), r.Link, r.SealLink)
	}
	for i := 0; ; i++ {
		block, err := reader.Next()
		if err == io.EOF {
			if i != len(want) {
				t.Errorf("%d blocks, want %d", i, len(want))
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if i >= len(want) || block.Cid() != want[i].Cid {
			t.Fatalf("block %d is %s", i, block.Cid())
		}
		agree(t, block.RawData(), want[i])
	}
	if err := checkCar(data); err != nil {
		t.Error(err)
	}
}

// checkCar has go-car open the whole file.
func checkCar(data []byte) error {
	r, err := car.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	_, err = r.Inspect(true)
	return err
}

// agree holds one block to go-ipld-prime's strict codec and to go-cid's hashing.
func agree(t *testing.T, data []byte, want Link) {
	t.Helper()
	builder := basicnode.Prototype.Any.NewBuilder()
	strict := dagcbor.DecodeOptions{AllowLinks: true} // not relaxed: strict
	if err := strict.Decode(builder, bytes.NewReader(data)); err != nil {
		t.Fatalf("%s: %v", want, err)
	}
	var again bytes.Buffer
	if err := dagcbor.Encode(builder.Build(), &again); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Bytes(), data) {
		t.Errorf("%s: go-ipld-prime writes other bytes", want)
	}
	prefix := cid.Prefix{Version: 1, Codec: cid.DagCBOR, MhType: multihash.SHA2_256, MhLength: 32}
	if got, err := prefix.Sum(data); err != nil || got != want.Cid {
		t.Errorf("go-cid names the block %s (%v), we %s", got, err, want)
	}
}

// TestBatchedInterop: other programs read a log whose entries name batches, and its blocks.
func TestBatchedInterop(t *testing.T) {
	data, err := os.ReadFile(batchedFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkCar(data); err != nil {
		t.Error(err)
	}
	reader, err := car.NewBlockReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	block, err := reader.Next()
	for ; err == nil; block, err = reader.Next() {
		agree(t, block.RawData(), Link{block.Cid()})
		blocks++
	}
	// The genesis, and three generations of three and twice one batch, nine claims in all, an entry and a seal each.
	if err != io.EOF || blocks != 1+5+9+3*2 {
		t.Errorf("%d blocks, then %v", blocks, err)
	}
}
