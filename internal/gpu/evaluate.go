package gpu

import (
	"encoding/binary"
	"fmt"
	"time"
	"unsafe"

	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

const (
	// launchTime is how long a launch should take: long launches make a desktop stutter, and drivers end them.
	launchTime = 250 * time.Millisecond
	// firstBurst is the number of env-steps of the first launch, whose pace nobody knows.
	firstBurst = 8
	maxBurst   = 1 << 16
	// tileGPU is how many vectors are stored element by element: a GPU's work-items step together, so neighbors read
	// what is adjacent. CPUs read one vector after the other.
	tileGPU = 32
	// memoryShare is the part of a device's memory that is used; the rest is for its stacks, and for others.
	memoryShare = 0.5
	// maxItems bounds the episodes of a batch: more do not make a device faster.
	maxItems = 1 << 18
	// cpuMemory bounds what is used of a device that is a CPU.
	cpuMemory = 1 << 30
)

// player has a world's program on a device, and plays episodes of a plan. One goroutine may use it at a time.
type player struct {
	s     session
	plan  rollout.Plan
	world world

	tile    int
	episode int   // bytes of an episode in progress
	memory  int64 // that may be used
	largest int64 // piece of memory

	table, net, real, norm buffer
	buffers                []buffer

	burst, piece int // env-steps and episodes of a launch
}

// newPlayer prepares a session for a plan.
func newPlayer(s session, info Info, plan rollout.Plan) (*player, error) {
	w, err := worldOf(plan.Env)
	if err != nil {
		return nil, err
	}
	p := &player{s: s, plan: plan, world: w, tile: tileGPU, burst: firstBurst, piece: maxItems,
		memory: int64(float64(info.Memory) * memoryShare), largest: info.Largest}
	if info.CPU {
		p.tile, p.memory = 1, min(p.memory, cpuMemory)
	}
	if err := s.build(w.program()); err != nil {
		return nil, err
	}
	if err := p.prepare(); err != nil {
		p.free()
		return nil, err
	}
	return p, nil
}

// prepare fills what all batches share, and measures an episode.
func (p *player) prepare() (err error) {
	size, err := p.alloc(8)
	if err != nil {
		return err
	}
	b := make([]byte, 8)
	if err := p.s.run("episode_size", 1, 1, size); err != nil {
		return err
	}
	if err := p.s.read(size, 0, b); err != nil {
		return err
	}
	p.episode = int(binary.LittleEndian.Uint64(b))
	if p.episode < 100 || p.episode > 1<<20 {
		return fmt.Errorf("%w: an episode of %s takes %d bytes there; the CPU's cores compute", ErrDiffers, p.plan.Env.ID, p.episode)
	}
	if p.table, err = p.alloc(4 * noise.TableSize); err != nil {
		return err
	}
	if err := p.s.write(p.table, 0, bytesOf(noise.Table()[:])); err != nil {
		return err
	}
	for _, part := range []struct {
		b    *buffer
		size int
	}{{&p.net, 4 * netSize}, {&p.real, 8 * (3 + 2*p.world.actDim + len(p.plan.Env.Params))}, {&p.norm, 4 * (2*p.world.obsDim + 1)}} {
		if *part.b, err = p.alloc(part.size); err != nil {
			return err
		}
	}
	return nil
}

// alloc reserves memory that free gives back.
func (p *player) alloc(n int) (buffer, error) {
	b, err := p.s.alloc(n)
	if err == nil {
		p.buffers = append(p.buffers, b)
	}
	return b, err
}

// free gives back all memory.
func (p *player) free() { p.release(0) }

// release gives back what was reserved after the first kept pieces.
func (p *player) release(kept int) {
	for _, b := range p.buffers[kept:] {
		p.s.free(b)
	}
	p.buffers = p.buffers[:kept]
}

// netSize is the number of words of net in play.cl.
const netSize = 19

// describe sends what all episodes of o have in common.
func (p *player) describe(o *rollout.Offload) error {
	n := &o.Setup.Net
	net := [netSize]int32{n.Layers, n.Activation, flag(n.Bias), n.Head, n.Bins, o.Setup.Hold, flag(o.Setup.Normalize), p.world.variant, int32(len(p.plan.Env.Params))}
	copy(net[9:], n.Sizes[:])
	real := make([]float64, 3+2*p.world.actDim)
	real[0], real[1], real[2] = o.Setup.Bonus, o.Setup.Penalty, o.Setup.Jitter
	copy(real[3:], o.Bounds)
	real = append(real, p.plan.Env.Values()...)
	norm := make([]float32, 2*p.world.obsDim+1)
	copy(norm, o.Norm)
	norm[len(norm)-1] = o.Setup.Clip
	for _, part := range []struct {
		b    buffer
		data []byte
	}{{p.net, bytesOf(net[:])}, {p.real, bytesOf(real)}, {p.norm, bytesOf(norm)}} {
		if err := p.s.write(part.b, 0, part.data); err != nil {
			return err
		}
	}
	return nil
}

func flag(on bool) int32 {
	if on {
		return 1
	}
	return 0
}

// width is the length of each of an episode's three vectors: observation and outputs of layers.
func (p *player) width(o *rollout.Offload) int { return max(int(o.Setup.Widest), p.world.obsDim) }

// evaluate returns the outcomes of all candidates of o. It takes as many at a time as the memory has room for, and
// fewer if the device says that it has less.
func (p *player) evaluate(o *rollout.Offload, cancel func() bool) ([]rollout.Outcome, error) {
	if err := p.describe(o); err != nil {
		return nil, err
	}
	outcomes := make([]rollout.Outcome, 0, o.Items())
	each := len(o.Episodes(0))
	size := p.batch(o, each)
	for len(outcomes) < cap(outcomes) {
		n := min(size, cap(outcomes)-len(outcomes))
		more, err := p.play(o, len(outcomes), n, each, cancel)
		if isMemory(err) && n > 1 {
			size = n / 2
			continue
		}
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, more...)
	}
	return outcomes, nil
}

// batch is how many candidates fit into the memory, at least one: if even that is too much, the device says so.
func (p *player) batch(o *rollout.Offload, each int) int {
	dim := int64(p.plan.Policy.Dim())
	episode := int64(p.episode) + 12*int64(p.width(o)) + 40
	n := p.memory / (4*dim + int64(each)*episode)
	n = min(n, p.largest/(4*dim), p.largest/(int64(each)*episode), int64(maxItems/each))
	if n > int64(p.tile) {
		n -= n % int64(p.tile)
	}
	return int(max(n, 1))
}

// play returns the outcomes of n candidates from the given one on, each in as many episodes.
func (p *player) play(o *rollout.Offload, from, n, each int, cancel func() bool) ([]rollout.Outcome, error) {
	kept := len(p.buffers)
	defer func() { p.release(kept) }()
	theta, err := p.candidates(o, from, n)
	if err != nil {
		return nil, err
	}
	items := n * each
	rows := (min(items, p.piece) + p.tile - 1) / p.tile * p.tile
	m := new(memory)
	for _, part := range []struct {
		b    *buffer
		size int
	}{{&m.episodes, p.episode * items}, {&m.list, 4 * rows}, {&m.seeds, 8 * items}, {&m.mem, 12 * p.width(o) * rows},
		{&m.returns, 8 * items}, {&m.steps, 8 * items}, {&m.over, 4 * rows}} {
		if *part.b, err = p.alloc(part.size); err != nil {
			return nil, err
		}
	}
	seeds := make([]uint64, 0, items)
	for k := range n {
		seeds = append(seeds, o.Episodes(from+k)...)
	}
	if err := p.s.write(m.seeds, 0, bytesOf(seeds)); err != nil {
		return nil, err
	}
	if err := p.finish(o, m, theta, items, each, rows, cancel); err != nil {
		return nil, err
	}
	returns, steps := make([]float64, items), make([]int64, items)
	if err := p.s.read(m.returns, 0, bytesOf(returns)); err != nil {
		return nil, err
	}
	if err := p.s.read(m.steps, 0, bytesOf(steps)); err != nil {
		return nil, err
	}
	outcomes := make([]rollout.Outcome, n)
	for k := range outcomes {
		outcomes[k].Fitness = rollout.Fitness(returns[k*each : (k+1)*each])
		for _, taken := range steps[k*each : (k+1)*each] {
			outcomes[k].Steps += uint64(taken)
		}
	}
	return outcomes, nil
}

// memory is what a batch has on the device.
type memory struct{ episodes, list, seeds, mem, returns, steps, over buffer }

// finish plays items episodes until all are over, in launches of up to rows episodes and p.burst env-steps. Episodes
// that are over leave the list, so that those of a launch are next to each other.
func (p *player) finish(o *rollout.Offload, m *memory, theta buffer, items, each, rows int, cancel func() bool) error {
	list := make([]int32, items)
	for i := range list {
		list[i] = int32(i)
	}
	over := make([]int32, rows)
	for first := true; len(list) > 0; first = false {
		left := list[:0]
		for at := 0; at < len(list); {
			if cancel != nil && cancel() {
				return rollout.ErrCanceled
			}
			part := list[at:min(at+min(rows, p.piece), len(list))]
			if err := p.s.write(m.list, 0, bytesOf(part)); err != nil {
				return err
			}
			begin := time.Now()
			if err := p.s.run("play", len(part), groupSize, m.episodes, m.list, int32(len(part)), flag(first), int64(p.burst), o.Setup.Limit,
				m.seeds, int32(each), theta, int64(p.plan.Policy.Dim()), m.mem, int64(p.width(o)), int64(p.tile),
				p.net, p.real, p.norm, p.table, m.returns, m.steps, m.over); err != nil {
				return err
			}
			if err := p.s.read(m.over, 0, bytesOf(over[:len(part)])); err != nil {
				return err
			}
			p.adapt(time.Since(begin))
			at += len(part)
			for i, k := range part {
				if over[i] == 0 {
					left = append(left, k) // behind what part still has to give
				}
			}
		}
		list = left
	}
	return nil
}

// adapt brings the next launches closer to launchTime.
func (p *player) adapt(took time.Duration) {
	switch {
	case took > 2*launchTime && p.burst == 1:
		p.piece = max(p.piece/2, groupSize)
	case took > launchTime:
		p.burst = max(int(float64(p.burst)*float64(launchTime)/float64(took)), p.burst/4, 1)
	case took < launchTime/2:
		p.burst = min(2*p.burst, maxBurst)
	}
}

// candidates puts the parameters of n candidates from the given one on into the device's memory, in tiles.
func (p *player) candidates(o *rollout.Offload, from, n int) (theta buffer, err error) {
	dim := p.plan.Policy.Dim()
	rows := (n + p.tile - 1) / p.tile * p.tile
	if theta, err = p.alloc(4 * dim * rows); err != nil {
		return 0, err
	}
	center, _, _, ok := o.Around(from)
	seeds, scales := make([]uint64, n), make([]float32, n)
	for k := 0; k < n && ok; k++ {
		var own []float32
		own, seeds[k], scales[k], ok = o.Around(from + k)
		ok = ok && &own[0] == &center[0]
	}
	if !ok {
		return theta, p.upload(o, theta, from, n)
	}
	return theta, p.perturb(theta, center, seeds, scales)
}

// perturb computes candidates around a center.
func (p *player) perturb(theta buffer, center []float32, seeds []uint64, scales []float32) error {
	var parts [3]buffer
	for i, data := range [][]byte{bytesOf(center), bytesOf(seeds), bytesOf(scales)} {
		b, err := p.alloc(len(data))
		if err != nil {
			return err
		}
		if err := p.s.write(b, 0, data); err != nil {
			return err
		}
		parts[i] = b
	}
	rows := (len(seeds) + p.tile - 1) / p.tile * p.tile
	return p.s.run("perturb", rows*((len(center)+7)/8), groupSize, theta, parts[0], parts[1], parts[2], p.table,
		int64(len(center)), int64(p.tile), int32(len(seeds)))
}

// upload computes candidates here, a tile at a time.
func (p *player) upload(o *rollout.Offload, theta buffer, from, n int) error {
	dim := p.plan.Policy.Dim()
	row, tile := make([]float32, dim), make([]float32, dim*p.tile)
	for at := 0; at < n; at += p.tile {
		for k := range min(p.tile, n-at) {
			o.Theta(row, from+at+k)
			for i, x := range row {
				tile[i*p.tile+k] = x
			}
		}
		if err := p.s.write(theta, 4*dim*at, bytesOf(tile)); err != nil {
			return err
		}
	}
	return nil
}

// bytesOf returns the memory of x. Devices that are fit are little-endian, and so are the computers that have them.
func bytesOf[T int32 | int64 | uint64 | float32 | float64](x []T) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))
}
