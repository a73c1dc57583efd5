package sim

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/coordinator"
)

// TestStrangerKnowsAllMessages finds a type of message that the stranger never sends.
func TestStrangerKnowsAllMessages(t *testing.T) {
	s, err := New(Options{Seed: 1, Natives: 1, DelayMin: 1, DelayMax: 1, Attacks: []Attack{{New: func() Adversary { return NewStranger(2, true) }}}})
	if err != nil {
		t.Fatal(err)
	}
	st := s.actors[0].adversary.(*Stranger)
	st.actor, st.best = s.actors[0], s.actors[0].Best()
	var known []byte
	for _, m := range messages {
		v := reflect.New(reflect.TypeOf(m).Elem())
		st.fill(v.Elem(), 0)
		known = append(known, coordinator.EncodeMessage(v.Interface().(coordinator.Message))[0])
	}
	for kind := range 256 {
		_, err := coordinator.DecodeMessage([]byte{byte(kind), 0x80})
		if exists := err == nil || !strings.Contains(err.Error(), "unknown type"); exists != slices.Contains(known, byte(kind)) {
			t.Errorf("message %d exists: %t, the stranger knows %v", kind, exists, known)
		}
	}
}
