package model

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

// allowed is how much may be allocated for a small file that lies about what is in it.
const allowed = 8 << 20

// safetensorsFile is a file with any header.
func safetensorsFile(header string, data ...byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

// npzFile is a zip of any files, compressed.
func npzFile(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err == nil {
			_, err = io.WriteString(w, files[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// huge is the metadata of the largest policy for CartPole-v1 there is.
const huge = `{"env":"CartPole-v1","env_revision":"1","policy":"{\"kind\":\"mlp\",\"hidden\":[4000,4000],\"activation\":\"tanh\",\"bias\":false,\"head\":\"argmax\",\"bins\":0}","episodes":"{\"count\":1,\"shared\":true}"}`

func npyOf(descr string, shape []int, data string) string {
	return string(npyHeader(descr, shape)) + data
}

func metadataOf(text string) string {
	descr, data := npyText(text)
	return npyOf(descr, nil, string(data))
}

func TestReadRefuses(t *testing.T) {
	meta := `"__metadata__":` + huge
	for _, c := range []struct {
		name string
		data []byte
		want error
	}{
		{"nothing", nil, ErrFormat},
		{"text", []byte("hello, this is not a model"), ErrFormat},
		{"a list", []byte(`[1, 2]`), ErrFormat},
		{"another object", []byte(`{"a": 1}`), ErrDamaged},
		{"another format", []byte(`{"format": "evoswarm-model/2"}`), ErrFormat},
		{"no policy", []byte(`{"format": "evoswarm-model/1"}`), ErrForeign},
		{"values too large", []byte(`{"format": "evoswarm-model/1", "values": [1e99]}`), ErrDamaged},
		{"long header", []byte("\xff\xff\xff\x7f\x00\x00\x00\x00{}"), ErrTooLarge},
		{"cut header", []byte("\xff\x00\x00\x00\x00\x00\x00\x00{}"), ErrDamaged},
		{"header of nonsense", safetensorsFile(`{"a"`), ErrDamaged},
		{"no metadata", safetensorsFile(`{}`), ErrForeign},
		{"metadata of numbers", safetensorsFile(`{"__metadata__":{"env":1}}`), ErrDamaged},
		{"no such world", safetensorsFile(`{"__metadata__":{"env":"Tetris-v0","env_revision":"1","policy":"{}"}}`), ErrForeign},
		{"no such policy", safetensorsFile(`{"__metadata__":{"env":"CartPole-v1","env_revision":"1","policy":"{\"kind\":\"rnn\"}"}}`), ErrForeign},
		{"huge tensor", safetensorsFile(`{` + meta + `,"layers.0.weight":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`), ErrDamaged},
		{"overflowing tensor", safetensorsFile(`{` + meta + `,"layers.0.weight":{"dtype":"F32","shape":[10000000,10000000,10000000],"data_offsets":[0,0]}}`), ErrTooLarge},
		{"negative dimension", safetensorsFile(`{` + meta + `,"layers.0.weight":{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}}`), ErrDamaged},
		{"tensor behind the end", safetensorsFile(`{`+meta+`,"layers.0.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 0, 0, 0, 0), ErrDamaged},
		{"tensor backwards", safetensorsFile(`{`+meta+`,"layers.0.weight":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}`, 0, 0, 0, 0), ErrDamaged},
		{"hole", safetensorsFile(`{`+meta+`,"layers.0.weight":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 0, 0, 0, 0, 0, 0, 0, 0), ErrDamaged},
		{"values of no tensor", safetensorsFile(`{`+meta+`}`, 0, 0, 0, 0), ErrDamaged},
		{"half floats", safetensorsFile(`{`+meta+`,"layers.0.weight":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}}`, 0, 0), ErrForeign},
		{"missing tensors", safetensorsFile(`{` + meta + `}`), ErrDamaged},
		{"foreign tensor", safetensorsFile(`{`+meta+`,"conv.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 0, 0, 0, 0), ErrDamaged},
		{"no zip", []byte("PK\x03\x04 and nothing else that matters"), ErrDamaged},
		{"empty zip", npzFile(t), ErrForeign},
		{"zip of others", npzFile(t, "a.txt", "hello"), ErrForeign},
		{"array of nonsense", npzFile(t, "a.npy", "hello, I am no array"), ErrDamaged},
		{"array of a huge shape", npzFile(t, "a.npy", npyOf("<f4", []int{1 << 40}, "")), ErrDamaged},
		{"array of an overflowing shape", npzFile(t, "a.npy", npyOf("<f4", []int{1 << 25, 1 << 25, 1 << 25}, "")), ErrTooLarge},
		{"array of objects", npzFile(t, "a.npy", npyOf("|O", []int{1}, "x")), ErrForeign},
		{"long array header", npzFile(t, "a.npy", npyMagic+"\x02\x00\xff\xff\xff\xff"), ErrTooLarge},
		{"metadata of many letters", npzFile(t, "__metadata__.npy", npyOf("<U999999999", nil, "")), ErrDamaged},
		{"cut metadata", npzFile(t, "__metadata__.npy", npyOf("<U99", nil, "abc")), ErrDamaged},
		{"no values for a large policy", npzFile(t, "__metadata__.npy", metadataOf(huge),
			"layers.0.weight.npy", npyOf("<f4", []int{4, 4000}, ""), "layers.1.weight.npy", npyOf("<f4", []int{4000, 4000}, ""), "layers.2.weight.npy", npyOf("<f4", []int{4000, 2}, "")), ErrDamaged},
		{"other shapes than the policy's", npzFile(t, "__metadata__.npy", metadataOf(huge), "layers.0.weight.npy", npyOf("<f4", []int{4000, 4}, strings.Repeat("\x00", 64000))), ErrDamaged},
		{"a bomb", npzFile(t, "__metadata__.npy", metadataOf(huge), "layers.0.weight.npy", npyOf("<f4", []int{1}, strings.Repeat("\x00", 1<<24))), ErrDamaged},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Read(bytes.NewReader(c.data))
			runtime.ReadMemStats(&after)
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > allowed {
				t.Errorf("%d bytes were allocated for a file of %d", n, len(c.data))
			}
		})
	}
}

// Whatever a file is cut to, and whichever bit of its values is flipped, it is refused.
func TestReadDamaged(t *testing.T) {
	m := sample(t)
	for _, f := range formats {
		data := encode(t, m, f)
		for n := range len(data) - 1 {
			if _, err := Read(bytes.NewReader(data[:n])); err == nil {
				t.Errorf("%s cut to %d of %d bytes was read", f, n, len(data))
			}
		}
		flipped := bytes.Clone(data)
		if f == JSON {
			flipped = bytes.Replace(data, []byte("-0.3333333"), []byte("-0.3333334"), 1)
		} else {
			flipped[bytes.Index(data, bytes32(m.Theta[5:6]))] ^= 1
		}
		if bytes.Equal(flipped, data) {
			t.Fatalf("%s: nothing was flipped", f)
		}
		if _, err := Read(bytes.NewReader(flipped)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s with a flipped bit: %v", f, err)
		}
	}
}

// What is read can be written, and reads as the same again.
func FuzzRead(f *testing.F) {
	m := sample(f)
	for _, format := range formats {
		f.Add(encode(f, m, format))
	}
	f.Add(safetensorsFile(`{"__metadata__":` + huge + `}`))
	f.Add(npzFile(f, "__metadata__.npy", metadataOf(huge)))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		data = encode(t, got, Safetensors)
		again, err := Read(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("written again it is refused: %v", err)
		}
		if !bytes.Equal(encode(t, again, Safetensors), data) {
			t.Fatalf("%+v\nis read again as\n%+v", got, again)
		}
	})
}
