package seedlog

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/ipfs/go-cid"
)

const (
	smallLog = "testdata/small.seedlog"
	specDoc  = "../../docs/spec/seedlog.md"
)

// The small log in testdata is a real one: it is written again, byte for byte. With -update it is replaced.
func TestSmallLog(t *testing.T) {
	rules := newRules(t, newSpec(t, "dises"))
	chain, _ := newChain(t, rules, 2)
	want := file(rules, chain...)
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(smallLog, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(smallLog)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the writer writes", smallLog)
	}
}

// The example in the specification shows all bytes of the small log. With -update it is rewritten.
func TestSpecShowsSmallLog(t *testing.T) {
	data, err := os.ReadFile(smallLog)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(specDoc)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- begin dump -->\n", "<!-- end dump -->\n"
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the dump", specDoc)
	}
	want := head + begin + "```\n" + dumpLog(t, data) + "```\n" + end + tail
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(specDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("%s does not show the bytes of %s (run with -update)", specDoc, smallLog)
	}
	var shown []byte
	for _, line := range strings.Split(dumpLog(t, data), "\n") {
		if len(line) > 6 && line[4:6] == "  " {
			var b []byte
			if _, err := fmt.Sscanf(strings.ReplaceAll(line[6:min(54, len(line))], " ", ""), "%x", &b); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			shown = append(shown, b...)
		}
	}
	if !bytes.Equal(shown, data) {
		t.Errorf("the dump shows %d bytes, not the %d of the log", len(shown), len(data))
	}
}

// dump writes bytes with their offsets and what they mean.
type dump struct {
	out  strings.Builder
	data []byte
	at   int
}

// row takes n bytes and says once what they are: 16 bytes a line.
func (d *dump) row(n int, depth int, meaning string) {
	for n > 0 {
		k := min(n, 16)
		line := fmt.Sprintf("%04x  %-48s %s%s", d.at, fmt.Sprintf("% x", d.data[d.at:d.at+k]), strings.Repeat("  ", depth), meaning)
		d.out.WriteString(strings.TrimRight(line, " ") + "\n")
		d.at, n, meaning = d.at+k, n-k, ""
	}
}

func dumpLog(t *testing.T, data []byte) string {
	d := &dump{data: data}
	fmt.Fprintf(&d.out, "header\n")
	d.row(1, 0, "length 58")
	d.item(t, 0, "")
	names := map[byte]string{kindBatch: "batch", kindClaim: "claim", kindEntry: "entry", kindSeal: "seal"}
	for d.at < len(data) {
		size, width := binary.Uvarint(data[d.at:])
		link, err := LinkFromBytes(data[d.at+width : d.at+width+linkLen])
		if err != nil {
			t.Fatal(err)
		}
		name := names[data[d.at+width+linkLen]]
		if d.at == headerLen {
			name = "genesis"
		}
		fmt.Fprintf(&d.out, "\n%s %s\n", name, link)
		d.row(width, 0, fmt.Sprintf("length %d", size))
		d.row(linkLen, 0, "CID")
		d.item(t, 0, "")
	}
	return d.out.String()
}

// tuples names the values of the blocks that are arrays.
var tuples = map[int][]string{
	6: {"parent", "peer", "chunk", "fitness", "steps", "signature"},
	3: {"entry", "signature", "votes"},
	2: {"claims", "attestations"},
}

// item shows one CBOR item, and what is in it line by line.
func (d *dump) item(t *testing.T, depth int, label string) {
	head, n := d.head()
	major := d.data[d.at] >> 5
	switch {
	case d.data[d.at] == 0xfb:
		x := math.Float64frombits(binary.BigEndian.Uint64(d.data[d.at+1:]))
		d.row(9, depth, fmt.Sprintf("%s%v", label, x))
	case d.data[d.at] == 0xf4 || d.data[d.at] == 0xf5:
		d.row(1, depth, fmt.Sprintf("%s%t", label, d.data[d.at] == 0xf5))
	case major == 0:
		d.row(head, depth, fmt.Sprintf("%s%d", label, n))
	case major == 1:
		d.row(head, depth, fmt.Sprintf("%s-%d", label, n+1))
	case major == 2:
		d.row(head+int(n), depth, fmt.Sprintf("%s%d bytes", label, n))
	case major == 3:
		d.row(head+int(n), depth, fmt.Sprintf("%s%q", label, d.data[d.at+head:d.at+head+int(n)]))
	case major == 4:
		d.row(head, depth, fmt.Sprintf("%sarray of %d", label, n))
		for i := range int(n) {
			name := ""
			if depth == 0 {
				name = tuples[int(n)][i] + " "
			}
			d.item(t, depth+1, name)
		}
	case major == 5:
		d.row(head, depth, fmt.Sprintf("%smap of %d", label, n))
		for range n {
			d.item(t, depth+1, "")
			d.item(t, depth+2, "")
		}
	case major == 6:
		c, err := cid.Cast(d.data[d.at+5 : d.at+5+linkLen])
		if err != nil {
			t.Fatal(err)
		}
		text := c.String()
		d.row(5+linkLen, depth, label+"link ..."+text[len(text)-8:])
	default:
		t.Fatalf("byte %x at %x", d.data[d.at], d.at)
	}
}

// head reads the head of the CBOR item here: its width and its argument.
func (d *dump) head() (width int, n uint64) {
	b := d.data[d.at:]
	switch low := b[0] & 0x1f; low {
	case 24:
		return 2, uint64(b[1])
	case 25:
		return 3, uint64(binary.BigEndian.Uint16(b[1:]))
	case 26:
		return 5, uint64(binary.BigEndian.Uint32(b[1:]))
	case 27:
		return 9, binary.BigEndian.Uint64(b[1:])
	default:
		return 1, uint64(low)
	}
}
