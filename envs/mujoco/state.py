"""What a world stores: sizes, names and tables of its model, its state, and how that begins."""

from gotext import camel, indented, table
from smooth import EULER, FREE
from trace import text


class State:
    """Writes model.go and data.go: sizes, names, tables, the state, and how it begins."""

    def head(self):
        m, names = self.m, ""
        for i, n in enumerate(m.body_names):
            if n and n != "world":
                names += f"\tbody{camel(n)} = {i}\n"
        for i, n in enumerate(m.site_names):
            if n:
                names += f"\tsite{camel(n)} = {i}\n"
        self.add(f"""// Sizes of the model, and the most rows of constraints and contacts that there is room for.
const (
	nq = {m.nq}
	nv = {m.nv}
	nu = {m.nu}
	nbody = {m.nbody}
	ngeom = {m.ngeom}
	nsite = {m.nsite}
	maxRows = {self.max_rows}
	stepSize = {text(m.timestep)} // [s]
)

// Bodies and sites by name.
const (
{names})

""")
        self.add("// qpos0 is the pose that the model is defined in.\n" + table("qpos0", "[nq]float64", m.qpos0))
        self.add("// ctrlRange bounds controls.\n" + table("ctrlRange", "[nu][2]float64", m.actuator_ctrlrange))
        self.add("// bodyMass has the masses of the bodies [kg].\n" + table("bodyMass", "[nbody]float64", m.body_mass))
        geoms = "".join(f"\t{{Type: {m.geom_type[g]}, Body: {m.geom_bodyid[g]}, Size: [3]float64{{"
                        + ", ".join(text(x) for x in m.geom_size[g]) + "}, Rgba: [4]float64{"
                        + ", ".join(text(x) for x in m.geom_rgba[g]) + "}},\n" for g in range(m.ngeom))
        self.add(f"// geoms are the shapes.\nvar geoms = [ngeom]mujoco.Geom{{\n{geoms}}}\n\n")

    def struct(self):
        m = self.m
        field = {
            "Xpos": "Xpos [nbody][3]float64 // positions of bodies [m]",
            "Xipos": "Xipos [nbody][3]float64 // mass centers of bodies [m]",
            "Cvel": "Cvel [nbody][6]float64 // velocities of bodies about the mass center: rotation, translation",
            "Cinert": "Cinert [nbody][10]float64 // inertias of bodies about the mass center",
            "CfrcExt": "CfrcExt [nbody][6]float64 // forces of contacts on bodies: torque, force; of RnePostConstraint",
            "SiteXpos": "SiteXpos [nsite][3]float64 // positions of sites [m]",
        }
        exported = "".join("\t" + field[e] + "\n" for e in self.exports)
        self.add(f"""// Data is MuJoCo's mjData of this model: the state, and what the last evaluation of its forces derived from it.
// Copying it copies the simulation. Names are MuJoCo's.
type Data struct {{
	Qpos          [nq]float64 // positions
	Qvel          [nv]float64 // velocities
	QaccWarmstart [nv]float64 // where the solver starts: the last accelerations
	Time          float64     // [s]
	Rules         int32       // mujoco.Rules40, ...
	Bad           bool        // the state went beyond what is possible, and was reset: the episode must end, and Step does nothing

	// Derived, of the last evaluation: that of the state before the last step, or of Runge-Kutta's last stage.
{exported}	GeomXpos       [ngeom][3]float64 // centers of geoms [m]
	GeomAxis       [ngeom][3]float64 // their z axes
	QfrcActuator   [nv]float64
	QfrcConstraint [nv]float64
	Qacc           [nv]float64
	Ncon           int32 // contacts
	Nefc           int32 // rows of constraints

	com       [3]float64 // mass center of the tree
	cdof      [nv][6]float64
	m         [{len(m.M_colind)}]float64 // inertia, lower triangle, without what is always zero
	qLD       [{len(m.M_colind)}]float64 // its factors L and D
	qLDiagInv [nv]float64
	qfrcSmooth [nv]float64
	qaccSmooth [nv]float64
""")
        if self.rolled:
            if "Cinert" not in self.exports:
                self.add("	cinert [nbody][10]float64\n	Xipos [nbody][3]float64\n	Cvel [nbody][6]float64\n")
            self.add("	crb [nbody][10]float64\n	xmat [nbody][9]float64\n	cacc [nbody][6]float64\n	cfrc [nbody][6]float64\n")
        self.kept_at = len(self.out)
        self.add("")
        if self.bodies:
            self.add("	found mujoco.Touch\n")
        if self.limits or self.pairs:
            self.add("""
	efcJ     [maxRows][nv]float64
	efcD     [maxRows]float64
	efcAref  [maxRows]float64
	efcB     [maxRows]float64 // J*qaccSmooth - aref
	jar      [maxRows]float64 // J*Qacc - aref
	efcForce [maxRows]float64
""")
            if self.newton:
                self.add("""	active   [maxRows]bool
	was      [maxRows]bool
	jv       [maxRows]float64
	quad     [maxRows][3]float64
	ma       [nv]float64
	mv       [nv]float64
	grad     [nv]float64
	mgrad    [nv]float64
	search   [nv]float64
	update1  [nv]float64
	h        [nv][nv]float64 // Newton's matrix, then its Cholesky factor
	gauss    [2]float64
	evals    int32
""" + ("	touched  float64 // trace of M for the trees that constraints touch\n" if m.ntree > 1 else ""))
            else:
                self.add("""	efcR     [maxRows]float64
	efcY     [maxRows][nv]float64
	ar       [maxRows][maxRows]float64
	arInv    [maxRows]float64
	arDiag   [maxRows]float64
	before   [maxRows]float64
	momentum [maxRows]float64
	visits   [maxRows]int32
	rootD    [nv]float64
""")
        if self.forces:
            self.add(f"\n\tcontacts [{self.max_contacts}]contact\n")
        if m.integrator != EULER:
            self.add("""
	x0q [nq]float64
	x0v [nv]float64
	dxv [nv]float64
	dxa [nv]float64
	sumV [nv]float64
	sumA [nv]float64
""")
            if FREE in m.jnt_type:
                self.add("	rate [nv]float64 // of positions: velocities, but for rotations\n")
        else:
            self.add("""
	qH [%d]float64
	qHDiagInv [nv]float64
""" % len(m.M_colind))
        self.add("}\n\n")
        if self.forces:
            self.add("""// contact is what is known of a contact after the collision.
type contact struct {
	row, dim     int32
	body1, body2 int32
	friction     float64
	pos          [3]float64
	frame        [9]float64
}

""")

    def start(self):
        acted = {}
        for u, t in enumerate(self.m.actuator_trnid):
            acted.setdefault(self.m.jnt_dofadr[t[0]], []).append(u)
        lines = []
        for i in sorted(acted):
            assert len(acted[i]) == 1
            u = acted[i][0]
            lo, hi = self.m.actuator_ctrlrange[u]
            gain, gear = self.m.actuator_gainprm[u * (len(self.m.actuator_gainprm) // self.m.nu)], self.m.actuator_gear[u][0]
            force = f"mujoco.Clamp(ctrl[{u}], {text(lo)}, {text(hi)})"
            assert gain == 1
            lines.append(f"d.QfrcActuator[{i}] = {text(gear)} * {force}")
        self.add(f"""// Init makes d a simulation of the model under the given rules, in its initial pose, at rest. Forward has not run yet.
func (d *Data) Init(rules int32) {{
	*d = Data{{Rules: rules}}
	d.Qpos = qpos0
}}

// Reset puts d into the given state with an empty warm start, and evaluates its forces without controls.
func (d *Data) Reset(qpos, qvel []float64) {{
	for i := range d.QaccWarmstart {{
		d.QaccWarmstart[i] = 0
	}}
	d.set(qpos, qvel)
}}

// SetState puts d into the given state, warm start included, and evaluates its forces without controls.
func (d *Data) SetState(qpos, qvel, warmstart []float64) {{
	for i := range d.QaccWarmstart {{
		d.QaccWarmstart[i] = warmstart[i]
	}}
	d.set(qpos, qvel)
}}

func (d *Data) set(qpos, qvel []float64) {{
	for i := range d.Qpos {{
		d.Qpos[i] = qpos[i]
	}}
	for i := range d.Qvel {{
		d.Qvel[i] = qvel[i]
		d.QfrcActuator[i] = 0
	}}
	d.Time = 0
	d.Bad = false
	d.check()
	d.forward()
	d.check()
}}

// check puts d to rest in its initial pose if its state is none.
func (d *Data) check() {{
	bad := d.Bad
	for _, x := range d.Qpos {{
		bad = bad || mujoco.Wild(x)
	}}
	for i, x := range d.Qvel {{
		bad = bad || mujoco.Wild(x) || mujoco.Wild(d.QaccWarmstart[i]) || mujoco.Wild(d.Qacc[i])
	}}
	if !bad {{
		return
	}}
	d.Qpos = qpos0
	for i := range d.Qvel {{
		d.Qvel[i] = 0
		d.QaccWarmstart[i] = 0
		d.Qacc[i] = 0
		d.QfrcActuator[i] = 0
	}}
	d.Bad = false
	d.forward()
	d.Bad = true
}}

// actuate turns controls into forces. Controls that are not all numbers are none.
func (d *Data) actuate(ctrl []float64) {{
	for i := range nu {{
		if mujoco.Wild(ctrl[i]) {{
			for k := range d.QfrcActuator {{
				d.QfrcActuator[k] = 0
			}}
			return
		}}
	}}
{indented(lines)}}}

// Forward evaluates the forces and accelerations of the state under the given controls.
func (d *Data) Forward(ctrl []float64) {{
	d.actuate(ctrl)
	d.forward()
}}

""")
