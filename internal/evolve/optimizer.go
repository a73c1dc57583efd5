package evolve

import "github.com/evoswarm/evoswarm/internal/exact"

// Names of the optimizers' slots.
const (
	slotM        = "adam/m"
	slotV        = "adam/v"
	slotVelocity = "optimizer/velocity"
)

// optimizerSettings describes which optimizer a method uses, by default choice, and its constants. The step
// size alpha and its schedule are separate settings. since is the revision of the method that introduced the
// choice; before it there was only Adam.
func optimizerSettings(choice string, since uint64) []Setting {
	return []Setting{
		{Name: "beta1", Doc: "Adam's decay of the mean gradient", Default: 0.9, Min: 0, Max: 0.999999},
		{Name: "beta2", Doc: "Adam's decay of the mean squared gradient", Default: 0.999, Min: 0, Max: 0.999999},
		{Name: "epsilon", Doc: "what Adam adds to the root mean square before dividing by it", Default: 1e-8, Min: 1e-12, Max: 1},
		{Name: "max_speed", Doc: "ClipUp's bound on the norm of the velocity, in units of alpha", Default: 2.0, Min: 1e-6, Max: 1e6, Since: since},
		{Name: "momentum", Doc: "fraction of the velocity that momentum and clipup keep in a step", Default: 0.9, Min: 0, Max: 0.999999, Since: since},
		{Name: "optimizer", Doc: "how a gradient becomes a step: sgd, momentum (heavy ball), adam, or clipup (Toklu et al. 2020)", Default: choice,
			Choices: []string{"sgd", "momentum", "adam", "clipup"}, Since: since},
	}
}

// optimizer turns gradients into steps. Its memory is in slots of the state.
type optimizer struct {
	kind                  string
	alpha                 schedule
	beta1, beta2, epsilon float64 // adam
	momentum              float64 // momentum, clipup
	maxSpeed              float64 // clipup; in units of alpha
}

// newOptimizer reads the settings of optimizerSettings and of the schedule "alpha".
func newOptimizer(p Params) optimizer {
	return optimizer{
		kind: p.text("optimizer"), alpha: newSchedule(p, "alpha"),
		beta1: p.number("beta1"), beta2: p.number("beta2"), epsilon: p.number("epsilon"),
		momentum: p.number("momentum"), maxSpeed: p.number("max_speed"),
	}
}

// slots returns the shapes of its slots for dim parameters.
func (o optimizer) slots(dim int) []SlotShape {
	switch o.kind {
	case "adam":
		return []SlotShape{{slotM, Float32, dim}, {slotV, Float32, dim}}
	case "momentum", "clipup":
		return []SlotShape{{slotVelocity, Float32, dim}}
	}
	return nil
}

// ascend moves theta along grad and updates the optimizer's slots, which begin at slots[0]. gen is the
// generation, counted from 0, and thus the number of earlier steps. All vectors have the same length. Every
// operation rounds once to float32, except norms, which are summed in float64 in index order. Bit exact.
func (o optimizer) ascend(theta []float32, slots []Slot, grad []float32, gen uint64) {
	alpha := o.alpha.at(gen)
	switch o.kind {
	case "adam":
		o.adam(theta, slots[0].Values, slots[1].Values, grad, alpha, gen+1)
	case "momentum":
		heavyBall(theta, slots[0].Values, grad, alpha, float32(o.momentum))
	case "clipup":
		clipUp(theta, slots[0].Values, grad, alpha, o.momentum, o.maxSpeed)
	default:
		for i, g := range grad {
			theta[i] += float32(alpha * g)
		}
	}
}

// adam is the optimizer of Kingma and Ba, "Adam: a method for stochastic
// optimization" (2015), in the form of the last sentence of their section 2: the bias
// corrections are folded into the step size. t counts the steps from 1.
func (o optimizer) adam(theta, m, v, grad []float32, alpha float32, t uint64) {
	c1 := 1 - exact.Pow(o.beta1, float64(t))
	c2 := 1 - exact.Pow(o.beta2, float64(t))
	rate := float32(float64(alpha) * exact.Sqrt(c2) / c1)
	b1, b2, eps := float32(o.beta1), float32(o.beta2), float32(o.epsilon)
	r1, r2 := float32(1-o.beta1), float32(1-o.beta2)
	for i, g := range grad {
		m[i] = float32(b1*m[i]) + float32(r1*g)
		v[i] = float32(b2*v[i]) + float32(r2*float32(g*g))
		theta[i] += float32(rate*m[i]) / (exact.Sqrt32(v[i]) + eps)
	}
}

// heavyBall is Polyak's momentum: velocity = momentum*velocity + alpha*grad.
func heavyBall(theta, velocity, grad []float32, alpha, momentum float32) {
	for i, g := range grad {
		velocity[i] = float32(momentum*velocity[i]) + float32(alpha*g)
		theta[i] += velocity[i]
	}
}

// clipUp makes a step of fixed length along the gradient, with momentum, and clips the norm of the velocity to
// maxSpeed*alpha: Toklu, Liskowski, Srivastava, "ClipUp: a simple and powerful optimizer for distribution-based policy
// evolution" (2020), algorithm 2. With a gradient of zero the velocity alone decides.
func clipUp(theta, velocity, grad []float32, alpha float32, momentum, maxSpeed float64) {
	step := float32(0)
	if n := norm(grad); n > 0 {
		step = float32(float64(alpha) / n)
	}
	keep := float32(momentum)
	for i, g := range grad {
		velocity[i] = float32(keep*velocity[i]) + float32(step*g)
	}
	limit := float64(float64(alpha) * maxSpeed)
	if n := norm(velocity); n > limit {
		shrink := float32(limit / n)
		for i := range velocity {
			velocity[i] *= shrink
		}
	}
	for i, v := range velocity {
		theta[i] += v
	}
}

// norm returns the Euclidean norm of x, summed in float64 in index order, so that squares of float32 neither
// overflow nor underflow. Bit exact.
func norm(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(float64(v) * float64(v))
	}
	return exact.Sqrt(sum)
}
