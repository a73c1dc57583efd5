package settings

import (
	"context"
	"fmt"

	"github.com/evoswarm/evoswarm/internal/devices"
	"github.com/evoswarm/evoswarm/internal/gpu"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/schedule"
	"github.com/evoswarm/evoswarm/node/verb"
)

// GPU is which devices compute, as the flags --gpu and --gpu-only say.
type GPU struct {
	setting string
	only    bool
}

// Bind defines the flags.
func (g *GPU) Bind(fs *verb.Flags) {
	g.setting = "auto"
	fs.String(&g.setting, "gpu", "auto|off|N", "evaluate on GPUs too: on all that pass their tests (auto, the default), on none, or on the device "+
		"of that number or name (evonode device list)")
	fs.Bool(&g.only, "gpu-only", "leave all candidates to the GPU; cores only fold and run held-out episodes")
}

// Check returns an error where the flags name a device that is not there or cannot be used.
func (g *GPU) Check() error {
	if g.setting == "auto" {
		return nil // asking drivers takes time: Use does it on the side
	}
	chosen, err := gpu.Choose(g.setting)
	if err != nil {
		return verb.Misused(err.Error(), "evonode device list shows what there is; --gpu off computes on the cores alone")
	}
	if g.only && len(chosen) == 0 {
		return verb.Misused("--gpu-only with --gpu off leaves nothing to compute on", "leave one of the two out")
	}
	for _, info := range chosen {
		if info.Err != nil {
			return fmt.Errorf("%s: %w", info.Name, info.Err)
		}
	}
	return nil
}

// Off reports whether no device is to be used.
func (g *GPU) Off() bool { return g.setting == "off" || g.setting == "" }

// Only reports whether the cores leave all candidates to devices.
func (g *GPU) Only() bool { return g.only }

// Use finds and opens the devices on the side, and adds them to s. say is called with a line for each, from any
// goroutine: that it computes, or why it does not. The function that it returns waits for a device that the user
// named, or that is to compute alone, or until ctx ends: a short run would end without it.
func (g *GPU) Use(s *schedule.Scheduler, plan rollout.Plan, say func(used bool, text string)) (wait func(ctx context.Context)) {
	ready := make(chan struct{})
	go func() {
		defer close(ready)
		if g.Off() {
			return
		}
		chosen, err := gpu.Choose(g.setting)
		if err != nil {
			say(false, err.Error())
		}
		if g.only && len(chosen) == 0 {
			say(false, "there is no GPU to compute on: the cores compute")
		}
		devices.Use(s, chosen, plan, g.only, say)()
	}()
	return func(ctx context.Context) {
		if g.only || g.setting != "auto" {
			select {
			case <-ready:
			case <-ctx.Done():
			}
		}
	}
}
