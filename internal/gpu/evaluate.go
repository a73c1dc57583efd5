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
	info  Info
	plan  rollout.Plan
	world world

	episode      int   // bytes of an episode in progress
	episodeLocal int   // of these in local memory
	memory       int64 // that may be used
	layout       layout

	table, net, real, norm buffer
	buffers                []buffer
	memories               [memories]memory // of batches
	around                 bool             // groups compute the weights of this batch themselves

	burst, piece int // actions and episodes of a launch
}

// newPlayer prepares a session for a plan.
func newPlayer(s session, info Info, plan rollout.Plan) (*player, error) {
	w, err := worldOf(plan.Env)
	if err != nil {
		return nil, err
	}
	p := &player{s: s, info: info, plan: plan, world: w, burst: firstBurst, piece: maxItems, memory: int64(float64(info.Memory) * memoryShare)}
	if info.CPU {
		p.memory = min(p.memory, cpuMemory)
	}
	if err := s.build(w.program()); err != nil {
		return nil, err
	}
	err = p.prepare()
	if err == nil {
		p.layout, err = p.chooseLayout()
	}
	if err != nil {
		p.free()
		return nil, err
	}
	return p, nil
}

// prepare fills what all batches share, and measures an episode.
func (p *player) prepare() (err error) {
	size, err := p.alloc(16)
	if err != nil {
		return err
	}
	b := make([]byte, 16)
	if err := p.s.run("episode_size", 1, 1, size); err != nil {
		return err
	}
	if err := p.s.read(size, 0, b); err != nil {
		return err
	}
	p.episode = int(binary.LittleEndian.Uint64(b))
	p.episodeLocal = int(binary.LittleEndian.Uint64(b[8:]))
	if p.episode < 100 || p.episode > 1<<20 || p.episode%8 != 0 || p.episodeLocal != 0 && p.episodeLocal != p.episode {
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
func (p *player) free() {
	for _, b := range p.buffers {
		p.s.free(b)
	}
	p.buffers = nil
	for i := range p.memories {
		p.memories[i].drop(p.s)
	}
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

// evaluate returns the outcomes of all candidates of o. It takes as many at a time as the memory has room for, and
// fewer if the device says that it has less.
func (p *player) evaluate(o *rollout.Offload, cancel func() bool) ([]rollout.Outcome, error) {
	if err := p.describe(o); err != nil {
		return nil, err
	}
	outcomes := make([]rollout.Outcome, 0, o.Items())
	each := len(o.Episodes(0))
	size := p.batch(each)
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
func (p *player) batch(each int) int {
	dim, episode := int64(p.plan.Policy.Dim()), int64(p.episode)
	n := p.memory / (4*dim + 12 + int64(each)*(episode+32))
	n = min(n, p.info.Largest/(4*dim), p.info.Largest/(int64(each)*episode), int64(maxItems/each))
	return int(max(n, 1))
}

// play returns the outcomes of n candidates from the given one on, each in as many episodes.
func (p *player) play(o *rollout.Offload, from, n, each int, cancel func() bool) ([]rollout.Outcome, error) {
	items := n * each
	if err := p.reserve(n, items); err != nil {
		return nil, err
	}
	if err := p.candidates(o, from, n); err != nil {
		return nil, err
	}
	seeds := make([]uint64, 0, items)
	for k := range n {
		seeds = append(seeds, o.Episodes(from+k)...)
	}
	if err := p.s.write(p.memories[seedsMemory].b, 0, bytesOf(seeds)); err != nil {
		return nil, err
	}
	if err := p.finish(o, items, each, cancel); err != nil {
		return nil, err
	}
	returns, steps := make([]float64, items), make([]int64, items)
	if err := p.s.read(p.memories[returnsMemory].b, 0, bytesOf(returns)); err != nil {
		return nil, err
	}
	if err := p.s.read(p.memories[stepsMemory].b, 0, bytesOf(steps)); err != nil {
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

// finish plays items episodes until all are over, in launches of up to p.piece episodes and p.burst actions. Episodes
// that are over leave the list, so that those of a launch are next to each other. The next batch begins with
// launches as long as the first ones of this batch get, since the last ones have fewer episodes.
func (p *player) finish(o *rollout.Offload, items, each int, cancel func() bool) error {
	list, over := make([]int32, items), make([]int32, min(items, p.piece))
	for i := range list {
		list[i] = int32(i)
	}
	opening := p.burst
	defer func() { p.burst = opening }()
	for first := true; len(list) > 0; first = false {
		left := list[:0]
		for at := 0; at < len(list); {
			if cancel != nil && cancel() {
				return rollout.ErrCanceled
			}
			part := list[at:min(at+p.piece, at+len(over), len(list))]
			begin := time.Now()
			if err := p.launch(o, part, each, first, over[:len(part)]); err != nil {
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
		if first {
			opening = p.burst
		}
	}
	return nil
}

// launch plays on in the episodes of a list, and says which are over.
func (p *player) launch(o *rollout.Offload, list []int32, each int, first bool, over []int32) error {
	m := &p.memories
	if err := p.s.write(m[listMemory].b, 0, bytesOf(list)); err != nil {
		return err
	}
	l := p.layout.spread(len(list), p.info.Units)
	if err := p.s.run("play", l.items(len(list)), l.lanes, m[episodesMemory].b, m[listMemory].b, int32(len(list)), int32(l.rows), int32(l.few), flag(first),
		int64(p.burst), o.Setup.Limit, m[seedsMemory].b, int32(each), m[thetaMemory].b, int64(p.plan.Policy.Dim()), flag(l.held), int32(l.width),
		m[centerMemory].b, m[keysMemory].b, m[scalesMemory].b, flag(p.around), p.net, p.real, p.norm, p.table, m[returnsMemory].b, m[stepsMemory].b, m[overMemory].b, local(p.local(l))); err != nil {
		return err
	}
	return p.s.read(m[overMemory].b, 0, bytesOf(over))
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

// candidates puts the parameters of n candidates from the given one on into the device's memory, or what they are
// computed from where groups hold them.
func (p *player) candidates(o *rollout.Offload, from, n int) error {
	center, _, _, ok := o.Around(from)
	seeds, scales := make([]uint64, n), make([]float32, n)
	for k := 0; k < n && ok; k++ {
		var own []float32
		own, seeds[k], scales[k], ok = o.Around(from + k)
		ok = ok && &own[0] == &center[0]
	}
	p.around = ok && p.layout.held
	if p.around {
		return p.send(center, seeds, scales)
	}
	if err := p.memories[thetaMemory].grow(p.s, 4*n*p.plan.Policy.Dim()); err != nil {
		return err
	}
	if !ok {
		return p.upload(o, from, n)
	}
	return p.perturb(center, seeds, scales)
}

// send copies what candidates around a center are computed from.
func (p *player) send(center []float32, seeds []uint64, scales []float32) error {
	m := &p.memories
	for _, part := range []struct {
		b    buffer
		data []byte
	}{{m[centerMemory].b, bytesOf(center)}, {m[keysMemory].b, bytesOf(seeds)}, {m[scalesMemory].b, bytesOf(scales)}} {
		if err := p.s.write(part.b, 0, part.data); err != nil {
			return err
		}
	}
	return nil
}

// perturb computes candidates around a center.
func (p *player) perturb(center []float32, seeds []uint64, scales []float32) error {
	if err := p.send(center, seeds, scales); err != nil {
		return err
	}
	m := &p.memories
	lanes := min(groupSize, p.s.group("perturb"))
	groups := ((len(center)+7)/8 + lanes - 1) / lanes
	return p.s.run("perturb", len(seeds)*groups*lanes, lanes, m[thetaMemory].b, m[centerMemory].b, m[keysMemory].b, m[scalesMemory].b, p.table,
		int64(len(center)), int32(len(seeds)), local(4*9*lanes))
}

// upload computes candidates here, a few at a time.
func (p *player) upload(o *rollout.Offload, from, n int) error {
	const few = 32
	dim := p.plan.Policy.Dim()
	rows := make([]float32, min(n, few)*dim)
	for at := 0; at < n; at += few {
		here := min(few, n-at)
		for k := range here {
			o.Theta(rows[k*dim:(k+1)*dim], from+at+k)
		}
		if err := p.s.write(p.memories[thetaMemory].b, 4*dim*at, bytesOf(rows[:here*dim])); err != nil {
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
