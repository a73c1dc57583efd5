package model

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// tensor is a named array of float32 of a file, row by row and little-endian.
type tensor struct {
	name  string
	shape []int
	// load returns the values. It is called once the shape was found right.
	load func() ([]byte, error)
}

// values returns the number of values.
func (t *tensor) values() int {
	n := 1
	for _, k := range t.shape {
		n *= k
	}
	return n
}

// shapeOf is the shape that a part of theta has in a file: a bias is a vector.
func shapeOf(t policy.Tensor) []int {
	if t.Rows == 1 && strings.HasSuffix(t.Name, ".bias") {
		return []int{t.Cols}
	}
	return []int{t.Rows, t.Cols}
}

// tensors lists what a file holds: the parts of theta in their order, then the state.
func (m *Model) tensors() ([]tensor, error) {
	plan, err := m.Plan()
	if err != nil {
		return nil, err
	}
	var all []tensor
	for _, t := range plan.Policy.Layout() {
		part := m.Theta[t.Offset : t.Offset+t.Rows*t.Cols]
		all = append(all, tensor{t.Name, shapeOf(t), func() ([]byte, error) { return bytes32(part), nil }})
	}
	for i := range m.Slots {
		all = append(all, tensorOf(&m.Slots[i]))
	}
	return all, nil
}

// tensorOf is a slot as a vector.
func tensorOf(slot *evolve.Slot) tensor {
	return tensor{slot.Name, []int{len(slot.Values)}, func() ([]byte, error) { return bytes32(slot.Values), nil }}
}

// appendValues appends the values that data holds to x.
func appendValues(x []float32, data []byte) []float32 {
	for ; len(data) > 0; data = data[4:] {
		x = append(x, math.Float32frombits(binary.LittleEndian.Uint32(data)))
	}
	return x
}

func bytes32(x []float32) []byte {
	b := make([]byte, 0, 4*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// pair is a line of a file's metadata.
type pair struct{ key, value string }

// metadata says where the tensors come from and what they mean, in the order in which it is written.
func (m *Model) metadata() ([]pair, error) {
	spec, err := json.Marshal(m.policy())
	if err != nil {
		return nil, err
	}
	episodes, err := json.Marshal(m.Episodes)
	if err != nil {
		return nil, err
	}
	all := []pair{
		{"run", m.Run}, {"height", strconv.FormatUint(m.Height, 10)}, {"head", m.Head},
		{"env", m.Env.ID}, {"env_revision", strconv.FormatUint(m.Env.Revision, 10)}, {"policy", string(spec)}, {"episodes", string(episodes)},
		{"theta", m.Digest()}, {"layout", "weight is [inputs, outputs]"},
	}
	if m.Env.Params != nil {
		params, err := json.Marshal(m.Env.Params)
		if err != nil {
			return nil, err
		}
		all = append(all, pair{"env_params", string(params)})
	}
	if m.Observations != nil {
		observations, err := json.Marshal(m.Observations)
		if err != nil {
			return nil, err
		}
		all = append(all, pair{"observations", string(observations)})
	}
	return all, nil
}

// assemble makes a model of a file's metadata and tensors. Nothing is loaded before every shape was compared with that
// of the policy.
func assemble(meta map[string]string, all []tensor) (*Model, error) {
	m, err := described(meta)
	if err != nil {
		return nil, err
	}
	_, pol, err := resolve(m.Env, m.Policy)
	if err != nil {
		return nil, err
	}
	parts, rest, err := match(pol.Layout(), all)
	if err != nil {
		return nil, err
	}
	for _, t := range parts {
		data, err := t.load()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		m.Theta = appendValues(m.Theta, data)
	}
	if m.Slots, err = loadSlots(rest); err != nil {
		return nil, err
	}
	return m, m.verify(meta["theta"])
}

// verify checks the slots and the names of run and head, and compares theta with the digest that the file states, if it
// does.
func (m *Model) verify(digest string) error {
	if _, err := m.Plan(); err != nil {
		return err
	}
	for _, name := range []string{m.Run, m.Head} {
		if _, err := seedlog.ParseLink(name); name != "" && err != nil {
			return fmt.Errorf("%w: %.80q is no id of a run or an entry", ErrDamaged, name)
		}
	}
	if got := m.Digest(); digest != "" && digest != got {
		return fmt.Errorf("%w: the values have the digest %s, the file says %.64q", ErrDamaged, got, digest)
	}
	return nil
}

// described reads metadata.
func described(meta map[string]string) (*Model, error) {
	m := &Model{Run: meta["run"], Head: meta["head"]}
	m.Env.ID = meta["env"]
	for _, f := range []struct {
		key string
		to  *uint64
	}{{"height", &m.Height}, {"env_revision", &m.Env.Revision}} {
		text, ok := meta[f.key]
		if !ok && f.key == "height" {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: %s is %.40q, no number", ErrForeign, f.key, text)
		}
		*f.to = n
	}
	if m.Env.ID == "" {
		return nil, fmt.Errorf("%w: its metadata names no env", ErrForeign)
	}
	if text, ok := meta["env_params"]; ok {
		if err := strictJSON([]byte(text), &m.Env.Params); err != nil {
			return nil, fmt.Errorf("%w: env_params: %v", ErrForeign, err)
		}
	}
	if err := strictJSON([]byte(meta["policy"]), &m.Policy); err != nil {
		return nil, fmt.Errorf("%w: policy: %v", ErrForeign, err)
	}
	if err := strictJSON([]byte(meta["episodes"]), &m.Episodes); err != nil {
		return nil, fmt.Errorf("%w: episodes: %v", ErrForeign, err)
	}
	if text, ok := meta["observations"]; ok {
		if err := strictJSON([]byte(text), &m.Observations); err != nil {
			return nil, fmt.Errorf("%w: observations: %v", ErrForeign, err)
		}
	}
	return m, nil
}

// match finds the parts of layout among all, in its order, and returns the rest as well.
func match(layout []policy.Tensor, all []tensor) (parts, rest []tensor, err error) {
	parts = make([]tensor, len(layout))
	found := make([]bool, len(layout))
	for _, t := range all {
		i := slices.IndexFunc(layout, func(p policy.Tensor) bool { return p.Name == t.name })
		if i < 0 {
			rest = append(rest, t)
			continue
		}
		if want := shapeOf(layout[i]); !slices.Equal(t.shape, want) {
			return nil, nil, fmt.Errorf("%w: %s has the shape %v; the policy needs %v", ErrDamaged, t.name, t.shape, want)
		}
		if found[i] {
			return nil, nil, fmt.Errorf("%w: %s is there twice", ErrDamaged, t.name)
		}
		parts[i], found[i] = t, true
	}
	if i := slices.Index(found, false); i >= 0 {
		return nil, nil, fmt.Errorf("%w: %s is missing", ErrDamaged, layout[i].Name)
	}
	return parts, rest, nil
}

// isSlotName reports whether a vector besides the policy's may have a name: obs/, and some of a few characters.
func isSlotName(name string) bool {
	rest, ok := strings.CutPrefix(name, "obs/")
	return ok && len(rest) >= 1 && len(rest) <= 28 && !strings.ContainsFunc(rest, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.' && r != '/' && r != '-'
	})
}

// loadSlots reads the vectors that are not part of theta.
func loadSlots(rest []tensor) ([]evolve.Slot, error) {
	if len(rest) > maxSlots {
		return nil, fmt.Errorf("%w: %d vectors besides the policy's, at most %d", ErrTooLarge, len(rest), maxSlots)
	}
	var slots []evolve.Slot
	for _, t := range rest {
		if !isSlotName(t.name) {
			return nil, fmt.Errorf("%w: the policy has no %.40q", ErrForeign, t.name)
		}
		if len(t.shape) != 1 || t.shape[0] == 0 || t.shape[0] > maxSlotValues {
			return nil, fmt.Errorf("%w: %s has the shape %v, not one dimension of 1 to %d", ErrDamaged, t.name, t.shape, maxSlotValues)
		}
		if slices.ContainsFunc(slots, func(s evolve.Slot) bool { return s.Name == t.name }) {
			return nil, fmt.Errorf("%w: %s is there twice", ErrDamaged, t.name)
		}
		data, err := t.load()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		slots = append(slots, evolve.Slot{Name: t.name, Values: appendValues(nil, data)})
	}
	return slots, nil
}
