package translate_test

import (
	"testing"

	"github.com/evoswarm/evoswarm/internal/translate"
)

// TestMujoco translates the worlds that are not in internal/worlds yet: C for tabs, OpenCL C for devices.
func TestMujoco(t *testing.T) {
	names := []string{"ant", "halfcheetah", "hopper", "humanoid", "inverteddoublependulum", "invertedpendulum", "reacher", "swimmer", "walker2d"}
	patterns := []string{"github.com/evoswarm/evoswarm/internal/episode", "github.com/evoswarm/evoswarm/internal/kernel"}
	for _, name := range names {
		patterns = append(patterns, "github.com/evoswarm/evoswarm/envs/mujoco/"+name)
	}
	p, err := translate.Load(".", nil, []string{"translate", "purego"}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			state := "envs/mujoco/" + name + ".State"
			own := []translate.Space{translate.Private, translate.Private, translate.Private, translate.Private}
			play, device := translate.WorldsOptions(), translate.Options{Target: translate.OpenCL}
			play.Worlds = []translate.World{{Name: name, Type: state}}
			play.Roots = []translate.Root{{Name: "internal/episode.Play"}}
			for _, method := range []string{"Choose", "Set", "Begin", "Act"} {
				play.Roots = append(play.Roots, translate.Root{Name: state + "." + method})
				device.Roots = append(device.Roots, translate.Root{Name: state + "." + method, Spaces: own})
			}
			for _, options := range []translate.Options{play, device} {
				text, err := p.Translate(options)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%d bytes", len(text))
			}
		})
	}
}
