package model

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// metadataName is the array that holds the metadata: one string, a JSON object.
const metadataName = "__metadata__"

// npyMagic begins every array.
const npyMagic = "\x93NUMPY"

// npyAlign is what the header of an array is padded to.
const npyAlign = 64

// maxNPYHeader bounds the header of an array.
const maxNPYHeader = 1 << 12

// writeNPZ writes a zip, not compressed, of one array per tensor, and the metadata before them. It holds no time.
//
// Source: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
func writeNPZ(w io.Writer, all []tensor, meta []pair) error {
	z := zip.NewWriter(w)
	var b bytes.Buffer
	b.WriteByte('{')
	for i, kv := range meta {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := member(&b, kv.key, kv.value); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	descr, text := npyText(b.String())
	if err := addNPY(z, metadataName, descr, nil, text); err != nil {
		return err
	}
	for _, t := range all {
		data, err := t.load()
		if err != nil {
			return err
		}
		if err := addNPY(z, t.name, "<f4", t.shape, data); err != nil {
			return err
		}
	}
	return z.Close()
}

// npyText returns a string as NumPy's type of fixed width and its values: four bytes for each letter.
func npyText(s string) (descr string, data []byte) {
	letters := []rune(s)
	for _, r := range letters {
		data = binary.LittleEndian.AppendUint32(data, uint32(r))
	}
	return "<U" + strconv.Itoa(len(letters)), data
}

func addNPY(z *zip.Writer, name, descr string, shape []int, data []byte) error {
	f, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
	if err != nil {
		return err
	}
	if _, err := f.Write(npyHeader(descr, shape)); err != nil {
		return err
	}
	_, err = f.Write(data)
	return err
}

// npyHeader is the header as NumPy itself writes it.
func npyHeader(descr string, shape []int) []byte {
	var dims strings.Builder
	for i, k := range shape {
		if i > 0 {
			dims.WriteByte(' ')
		}
		fmt.Fprintf(&dims, "%d,", k)
	}
	list := dims.String()
	if len(shape) > 1 {
		list = strings.TrimSuffix(list, ",")
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, list)
	prefix := len(npyMagic) + 4
	pad := npyAlign - (prefix+len(text)+1)%npyAlign
	text += strings.Repeat(" ", pad%npyAlign) + "\n"
	b := append([]byte(npyMagic), 1, 0)
	return append(binary.LittleEndian.AppendUint16(b, uint16(len(text))), text...)
}

// npyDict is compiled where it is needed: a tab, which only writes, does without regular expressions.
const npyDict = `^\{'descr': '([<>|=]?[A-Za-z][0-9]*)', 'fortran_order': (False|True), 'shape': \(([0-9, ]*)\),? ?\} *\n$`

// npyHead is what the header of an array says.
type npyHead struct {
	descr string
	shape []int
}

// readNPYHead reads the header of an array and leaves r at the values.
func readNPYHead(r io.Reader) (npyHead, error) {
	start := make([]byte, len(npyMagic)+4)
	if _, err := io.ReadFull(r, start); err != nil || string(start[:6]) != npyMagic {
		return npyHead{}, fmt.Errorf("%w: not an array of NumPy", ErrDamaged)
	}
	size := uint32(binary.LittleEndian.Uint16(start[8:]))
	if start[6] > 1 { // versions 2 and 3 have four bytes
		more := make([]byte, 2)
		if _, err := io.ReadFull(r, more); err != nil {
			return npyHead{}, fmt.Errorf("%w: array header: %v", ErrDamaged, err)
		}
		size |= uint32(binary.LittleEndian.Uint16(more)) << 16
	}
	if size > maxNPYHeader {
		return npyHead{}, fmt.Errorf("%w: array header of %d bytes, at most %d", ErrTooLarge, size, maxNPYHeader)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return npyHead{}, fmt.Errorf("%w: array header: %v", ErrDamaged, err)
	}
	return parseNPYDict(string(text))
}

func parseNPYDict(text string) (npyHead, error) {
	m := regexp.MustCompile(npyDict).FindStringSubmatch(text)
	if m == nil {
		return npyHead{}, fmt.Errorf("%w: array header %.80q", ErrDamaged, text)
	}
	h := npyHead{descr: m[1]}
	for _, dim := range strings.Split(m[3], ",") {
		if dim = strings.TrimSpace(dim); dim == "" {
			continue
		}
		n, err := strconv.Atoi(dim)
		if err != nil {
			return h, fmt.Errorf("%w: array of shape (%.80s)", ErrDamaged, m[3])
		}
		h.shape = append(h.shape, n)
	}
	if m[2] == "True" && len(h.shape) > 1 {
		return h, fmt.Errorf("%w: an array stored column by column; store numpy.ascontiguousarray of it", ErrForeign)
	}
	return h, nil
}

// readNPZ lists the arrays of a zip. Their values are decompressed when they are loaded, and then no more of them than
// the shape says.
func readNPZ(data []byte) (map[string]string, []tensor, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	var meta map[string]string
	var all []tensor
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			return nil, nil, fmt.Errorf("%w: %.40q is no array", ErrForeign, f.Name)
		}
		if name == metadataName {
			if meta, err = readNPZMetadata(f); err != nil {
				return nil, nil, fmt.Errorf("metadata: %w", err)
			}
			continue
		}
		t, err := arrayOf(name, f)
		if err != nil {
			return nil, nil, fmt.Errorf("%.40q: %w", name, err)
		}
		all = append(all, t)
	}
	return meta, all, nil
}

// arrayOf reads the header of an array.
func arrayOf(name string, f *zip.File) (tensor, error) {
	r, err := f.Open()
	if err != nil {
		return tensor{}, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	defer r.Close()
	h, err := readNPYHead(r)
	if err != nil {
		return tensor{}, err
	}
	if h.descr != "<f4" {
		return tensor{}, fmt.Errorf("%w: an array of %.10q, not of <f4", ErrForeign, h.descr)
	}
	size, err := bytesOf(h.shape)
	if err != nil {
		return tensor{}, err
	}
	return tensor{name, h.shape, func() ([]byte, error) { return loadNPY(f, size) }}, nil
}

// loadNPY returns the values of an array, which must be size bytes.
func loadNPY(f *zip.File, size uint64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	defer r.Close()
	if _, err := readNPYHead(r); err != nil {
		return nil, err
	}
	// One byte more: at the end of the data the zip reader compares the checksum.
	data, err := io.ReadAll(io.LimitReader(r, int64(size)+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	if uint64(len(data)) != size {
		return nil, fmt.Errorf("%w: the values are not the %d bytes of the shape", ErrDamaged, size)
	}
	return data, nil
}

func readNPZMetadata(f *zip.File) (map[string]string, error) {
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	defer r.Close()
	h, err := readNPYHead(r)
	if err != nil {
		return nil, err
	}
	count, ok := strings.CutPrefix(h.descr, "<U")
	n, err := strconv.Atoi(count)
	if !ok || err != nil || len(h.shape) != 0 || n > maxMetadata {
		return nil, fmt.Errorf("%w: not one string of at most %d letters", ErrDamaged, maxMetadata)
	}
	data, err := io.ReadAll(io.LimitReader(r, 4*int64(n)+1))
	if err != nil || len(data) != 4*n {
		return nil, fmt.Errorf("%w: cut", ErrDamaged)
	}
	var text strings.Builder
	for ; len(data) > 0; data = data[4:] {
		text.WriteRune(rune(binary.LittleEndian.Uint32(data)))
	}
	var meta map[string]string
	if err := json.Unmarshal([]byte(text.String()), &meta); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	return meta, nil
}
