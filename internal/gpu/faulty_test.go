package gpu

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/rollout"
)

// faulty is a device that goes wrong below the self-test.
type faulty struct {
	session
	corrupt func(b buffer, at int, data []byte)  // changes what is read; nil: nothing
	fail    func(kernel string, items int) error // fails a launch; nil: none
	room    int                                  // the largest piece of memory; 0: no limit
}

func (f *faulty) read(b buffer, at int, data []byte) error {
	err := f.session.read(b, at, data)
	if f.corrupt != nil {
		f.corrupt(b, at, data)
	}
	return err
}

func (f *faulty) run(kernel string, items, group int, args ...any) error {
	if f.fail != nil {
		if err := f.fail(kernel, items); err != nil {
			return err
		}
	}
	return f.session.run(kernel, items, group, args...)
}

func (f *faulty) alloc(n int) (buffer, error) {
	if f.room > 0 && n > f.room {
		return 0, fmt.Errorf("%w: reserving %d bytes", ErrMemory, n)
	}
	return f.session.alloc(n)
}

// faultyDevice is a device whose session f changes.
func faultyDevice(t *testing.T, plan rollout.Plan, f *faulty) *Device {
	t.Helper()
	info := usable(t)
	open := info.open
	info.open = func() (session, error) {
		s, err := open()
		f.session = s
		return f, err
	}
	d, err := Open(info, plan)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// TestFlippedBit: a device that begins to flip a bit in one of ten results is found, and not used again.
func TestFlippedBit(t *testing.T) {
	plan := setup(t, "CartPole-v1", "vanilla-es", nil)
	f := new(faulty)
	d := faultyDevice(t, plan, f)
	want, err := rollout.NewPool(plan, 0).Evaluate(task(plan, 10, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	tasks := 0
	evaluate := func() error {
		tasks++
		got, err := d.Evaluate(task(plan, 10, 1), nil)
		if err == nil && tasks < 5 && fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("task %d: %v, want %v", tasks, got, want)
		}
		return err
	}
	for tasks < 5 {
		if err := evaluate(); err != nil {
			t.Fatal(err)
		}
	}
	f.corrupt = func(_ buffer, _ int, data []byte) {
		if len(data) == 80 && data[3*8+7] == 0x40 { // ten returns: those of CartPole begin like that
			data[3*8+6] ^= 8
		}
	}
	for err == nil && tasks < 500 {
		err = evaluate()
	}
	if !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), "the CPU gets") {
		t.Fatalf("after %d tasks: %v, want ErrDiffers", tasks, err)
	}
	f.corrupt = nil
	if _, again := d.Evaluate(task(plan, 10, 1), nil); !errors.Is(again, ErrDiffers) {
		t.Errorf("a device that was found is used again: %v", again)
	}
}

// TestFlippedArithmetic: a device with other arithmetic does not open, and the message says which operation differs.
func TestFlippedArithmetic(t *testing.T) {
	info := usable(t)
	open := info.open
	for k, name := range operations {
		reads := 0
		info.open = func() (session, error) {
			s, err := open()
			return &faulty{session: s, corrupt: func(_ buffer, _ int, data []byte) {
				if reads++; reads == 7 {
					data[8*(arithmeticResults*12345+k)] ^= 1
				}
			}}, err
		}
		_, err := Open(info, setup(t, "CartPole-v1", "dises", nil))
		if !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), name+" of") {
			t.Errorf("%s: %v, want ErrDiffers", name, err)
		}
	}
}

// TestRetest: a device whose arithmetic goes wrong later is found by the test that comes every so often.
func TestRetest(t *testing.T) {
	plan := setup(t, "CartPole-v1", "dises", nil)
	f := new(faulty)
	d := faultyDevice(t, plan, f)
	reads := 0
	f.corrupt = func(_ buffer, _ int, data []byte) {
		if len(data) == 8*arithmeticResults*arithmeticPiece {
			reads++
			data[0] ^= 1
		}
	}
	if _, err := d.Evaluate(task(plan, 4, 1), nil); err != nil || reads != 0 {
		t.Fatalf("%d tests of arithmetic at once, %v", reads, err)
	}
	d.tested = d.tested.Add(-retest)
	for range 2 {
		if _, err := d.Evaluate(task(plan, 4, 1), nil); !errors.Is(err, ErrDiffers) || reads != 1 {
			t.Errorf("%d tests of arithmetic, %v, want one and ErrDiffers", reads, err)
		}
	}
}

// TestFlippedEpisode: a device whose episodes end otherwise does not open.
func TestFlippedEpisode(t *testing.T) {
	info := usable(t)
	open := info.open
	info.open = func() (session, error) {
		s, err := open()
		return &faulty{session: s, corrupt: func(_ buffer, _ int, data []byte) {
			if len(data) == 8*goldenCandidates*goldenEpisodes {
				data[0] ^= 1
			}
		}}, err
	}
	if _, err := Open(info, setup(t, "CartPole-v1", "dises", nil)); !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), "LunarLander-v3") {
		t.Errorf("%v, want ErrDiffers", err)
	}
}

// TestLost: after a launch that failed the device is not used again, and the error says so.
func TestLost(t *testing.T) {
	plan := setup(t, "CartPole-v1", "dises", nil)
	f := new(faulty)
	d := faultyDevice(t, plan, f)
	f.fail = func(kernel string, _ int) error {
		if kernel == "play" {
			return fmt.Errorf("%w: running play", ErrLost)
		}
		return nil
	}
	for range 2 {
		if _, err := d.Evaluate(task(plan, 4, 1), nil); !errors.Is(err, ErrLost) {
			t.Errorf("%v, want ErrLost", err)
		}
		f.fail = nil
	}
}

// TestMemory: with less memory than the device promised, batches get smaller; with too little for one candidate, the
// error says so, and the device stays in use.
func TestMemory(t *testing.T) {
	plan := setup(t, "CartPole-v1", "dises", nil)
	f := new(faulty)
	d := faultyDevice(t, plan, f)
	launches := 0
	f.fail = func(kernel string, items int) error {
		if kernel == "play" {
			launches = max(launches, items/d.player.layout.lanes) // so few have groups of their own
		}
		return nil
	}
	f.room = d.player.episode * 2 * 9 // nine candidates
	work := task(plan, 40, 2)
	want, err := rollout.NewPool(plan, 0).Evaluate(work, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Evaluate(work, nil)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if launches == 0 || launches > 18 {
		t.Errorf("a launch of %d episodes, want 18 at most", launches)
	}
	f.room = 10
	if _, err := d.Evaluate(work, nil); !errors.Is(err, ErrMemory) {
		t.Errorf("without memory: %v, want ErrMemory", err)
	}
	f.room = 0
	if _, err := d.Evaluate(work, nil); err != nil {
		t.Errorf("with memory again: %v", err)
	}
}

// TestCancel: work that is canceled between launches ends, and the device stays in use.
func TestCancel(t *testing.T) {
	plan := setup(t, "CartPole-v1", "dises", nil)
	d := faultyDevice(t, plan, new(faulty))
	asked := 0
	if _, err := d.Evaluate(task(plan, 4, 1), func() bool { asked++; return asked > 1 }); !errors.Is(err, rollout.ErrCanceled) {
		t.Errorf("%v, want ErrCanceled", err)
	}
	if _, err := d.Evaluate(task(plan, 4, 1), func() bool { return false }); err != nil {
		t.Error(err)
	}
	d.Close()
	if _, err := d.Evaluate(task(plan, 4, 1), nil); !errors.Is(err, ErrLost) {
		t.Errorf("a closed device: %v, want ErrLost", err)
	}
}
