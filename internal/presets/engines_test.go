package presets_test

import (
	"runtime"
	"testing"

	"github.com/evoswarm/evoswarm/internal/worlds"
)

// onEachEngine runs a test of golden answers with Go and, in a browser or Node, with the translated worlds.
func onEachEngine(t *testing.T, test func(t *testing.T)) {
	t.Run(worlds.Go, test)
	if runtime.GOOS != "js" {
		return
	}
	defer worlds.Use(worlds.Go)
	if err := worlds.Use(worlds.C); err != nil {
		t.Fatal(err)
	}
	t.Run(worlds.C, test)
}
