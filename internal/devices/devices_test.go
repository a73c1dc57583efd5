package devices_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"

	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/internal/devices"
	"github.com/evoswarm/evoswarm/internal/gpu"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/schedule"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// said collects what is said of devices.
type said struct {
	mu    sync.Mutex
	lines []string
}

func (s *said) say(used bool, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprint(used, " ", text))
}

func rules(t *testing.T) *seedlog.Rules {
	t.Helper()
	r, err := runspec.New(runspec.Options{Env: "CartPole-v1", Strategy: "openai-es"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestUnfit: a device that cannot be used is named with the reason, and the cores compute.
func TestUnfit(t *testing.T) {
	plan := rules(t).Plan
	routines := schedule.NewRoutines(plan)
	s := schedule.New(schedule.Config{Start: routines.Start}, 1)
	defer routines.Wait()
	defer s.Close()
	var heard said
	devices.Use(s, []gpu.Info{{Name: "toaster", Err: gpu.ErrUnfit}}, plan, true, heard.say)()
	if want := "false toaster is not used: " + gpu.ErrUnfit.Error(); len(heard.lines) != 1 || heard.lines[0] != want || s.Devices() != 0 {
		t.Errorf("%d devices, and heard %q; want none, and %q", s.Devices(), heard.lines, want)
	}
	compare(t, s, plan)
}

// TestUse puts every device of this computer to work, alone: the results are those of a pool.
func TestUse(t *testing.T) {
	infos, err := gpu.Devices()
	if len(infos) == 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("no device, where .ci/tools has installed one: ", err)
		}
		t.Skip("no device: ", err)
	}
	plan := rules(t).Plan
	routines := schedule.NewRoutines(plan)
	s := schedule.New(schedule.Config{Start: routines.Start}, 1)
	defer routines.Wait()
	defer s.Close()
	var heard said
	devices.Use(s, infos, plan, true, heard.say)()
	if s.Devices() != len(infos) || len(heard.lines) != len(infos) || !strings.HasPrefix(heard.lines[0], "true ") {
		t.Fatalf("%d of %d devices are used: %q", s.Devices(), len(infos), heard.lines)
	}
	compare(t, s, plan)
	if s.Devices() != len(infos) {
		t.Errorf("%d of %d devices are left: %q", s.Devices(), len(infos), heard.lines)
	}
}

// compare evaluates a task through s and by a pool.
func compare(t *testing.T, s *schedule.Scheduler, plan rollout.Plan) {
	t.Helper()
	task := rollout.Task{State: plan.Initial(3), Episodes: [][]uint64{{1, 2}}}
	for i := range uint64(100) {
		task.Seeds = append(task.Seeds, i)
	}
	want, err := rollout.NewPool(plan, 1).Evaluate(task, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := (&schedule.Blocking{Scheduler: s}).Evaluate(task, nil)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("results differ from those of a pool (error %v)", err)
	}
}
