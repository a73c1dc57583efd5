"""A timestep: the integrators, and what MuJoCo calls forward, up to the constraints."""

from gotext import go, indented, table, template
from smooth import EULER, FREE, constants, factor, solve
from trace import Writer, load, text


class Step:
    """Writes integrate.go, smooth.go and collide.go: a timestep, and all of it that knows no constraints."""

    def step(self):
        m = self.m
        free = [j for j in range(m.njnt) if m.jnt_type[j] == FREE]
        add_pos = []
        for j in range(m.njnt):
            q, v = m.jnt_qposadr[j], m.jnt_dofadr[j]
            n = 3 if m.jnt_type[j] == FREE else 1
            for k in range(n):
                add_pos.append(f"d.Qpos[{q + k}] += float64(stepSize * v[{v + k}])")
            if m.jnt_type[j] == FREE:
                add_pos += [f"q := [4]float64{{d.Qpos[{q + 3}], d.Qpos[{q + 4}], d.Qpos[{q + 5}], d.Qpos[{q + 6}]}}",
                            f"w := [3]float64{{v[{v + 3}], v[{v + 4}], v[{v + 5}]}}",
                            "mujoco.Integrate(&q, &w, stepSize)"]
                add_pos += [f"d.Qpos[{q + 3 + k}] = q[{k}]" for k in range(4)]
        self.add(f"""// move adds the velocity v over one timestep to the positions.
func (d *Data) move(v *[nv]float64) {{
{indented(add_pos)}}}

""")
        if m.integrator == EULER:
            M = self.rows_of("m")
            H = [list(r) for r in M]
            for i in range(m.nv):
                H[i][-1] = H[i][-1] + m.timestep * m.dof_damping[i]
            ld, inv = factor(m, H)
            rhs = [load(f"d.qfrcSmooth[{i}]") + load(f"d.QfrcConstraint[{i}]") for i in range(m.nv)]
            acc = solve(m, ld, inv, rhs)
            lines, _, _ = Writer().lines([(f"a[{i}]", acc[i]) for i in range(m.nv)])
            self.add(f"""// damped returns the accelerations with which velocities are integrated: those of joints whose dampers act implicitly.
func (d *Data) damped(a *[nv]float64) {{
{indented(lines)}}}

// Step advances the simulation by one timestep under the given controls, by Euler's method. It does
// nothing to one that is Bad.
func (d *Data) Step(ctrl []float64) {{
	if d.Bad {{
		return
	}}
	d.actuate(ctrl)
	d.forward()
	var a [nv]float64
	d.damped(&a)
	for i := range d.Qvel {{
		d.Qvel[i] += float64(a[i] * stepSize)
	}}
	v := d.Qvel
	d.move(&v)
	d.Time += stepSize
	d.QaccWarmstart = d.Qacc
	d.check()
}}

""")
            return
        if free:
            assert free == [0]
        self.add(template("runge_kutta", BEGIN="\t\td.rate[i] = d.Qvel[i]\n" if free else "", RATE="d.rate" if free else "d.Qvel",
                          BEND=template("bend") if free else ""))

    def forward(self):
        m, s = self.m, self.smooth
        stores = []

        def put(name, values_):
            for i, v in enumerate(values_):
                stores.append((f"d.{name}[{i}]", v))

        def put2(name, rows):
            for i, r in enumerate(rows):
                put(f"{name}[{i}]", r)

        segments = []

        def cut(function):
            """Ends a part of smooth, after which a loop of the program runs."""
            segments.append((list(stores), function))
            stores.clear()

        if "Xpos" in self.exports:
            put2("Xpos", s.xpos)
        if "Xipos" in self.exports:
            put2("Xipos", s.xipos)
        put2("GeomXpos", s.geom_xpos)
        put2("GeomAxis", [[r[2], r[5], r[8]] for r in s.geom_xmat])
        if "SiteXpos" in self.exports:
            put2("SiteXpos", s.site_xpos)
        if self.pairs:
            put("com", s.subtree_com[1])
        if self.rolled:
            put2("xmat", s.ximat)
            if "Xipos" not in self.exports:
                put2("Xipos", s.xipos)
            put2("cdof", s.cdof)
            put2("Cvel", s.cvel)
            put2("cacc", s.cacc)
            cut("inertias")
            put2("crb", s.crb_)
            cut("massMatrix")
        elif "Cinert" in self.exports:
            put2("Cinert", s.cinert)
        if self.pairs and not self.rolled:
            put2("cdof", s.cdof)
        for i in range(m.nv) if not self.rolled else ():
            for a in range(len(s.M[i])):
                stores.append((f"d.m[{self.adr(i, a)}]", s.M[i][a]))
        for i in range(m.nv - 1, -1, -1):
            for a in range(len(s.M[i])):
                stores.append((f"d.qLD[{self.adr(i, a)}]", s.qLD[i][a]))
            stores.append((f"d.qLDiagInv[{i}]", s.qLDiagInv[i]))
        if "Cvel" in self.exports and not self.rolled:
            put2("Cvel", s.cvel)
        put("qfrcSmooth", s.qfrc_smooth)
        put("qaccSmooth", s.qacc_smooth)
        cut("")
        code, names, kept = Writer(350).functions("d *Data", "smooth", "evaluates everything but constraints.", segments, "d.kept")
        if kept:
            self.files["data"][self.kept_at] = f"	kept [{kept}]float64 // between parts of smooth\n"
        self.file("smooth")
        self.add(code)
        if self.rolled:
            self.roll()
        calls = "".join(f"\td.{n}()\n" for n in names)
        limits = ""
        for j in self.limits:
            q, v = m.jnt_qposadr[j], m.jnt_dofadr[j]
            k, b, imp = constants(m, m.jnt_solref[j], m.jnt_solimp[j])
            args = ", ".join(text(float(x)) for x in [m.jnt_margin[j], k, b] + imp[:4] + [m.dof_invweight0[v]])
            lo, hi = m.jnt_range[j]
            limits += f"""	if dist := d.Qpos[{q}] - {go(lo)}; dist < {text(m.jnt_margin[j])} {{
		d.limit({v}, 1, dist, {args})
	}}
	if dist := {text(hi)} - d.Qpos[{q}]; dist < {text(m.jnt_margin[j])} {{
		d.limit({v}, -1, dist, {args})
	}}
"""
        self.file("collide")
        listed = len(self.bodies) > 8
        assert self.pairs == self.floor + self.bodies
        contacts = "".join(self.test(p) for p in (self.floor if listed else self.pairs))
        if listed:
            contacts += self.list_pairs()
        rules = "\told := d.Rules == mujoco.Rules33\n" if any(p.margin != p.margin33 for p in self.pairs) else ""
        self.file("integrate")
        self.add(f"""// forward evaluates forces and accelerations of the state.
func (d *Data) forward() {{
{calls}	d.Nefc = 0
	d.Ncon = 0
{"	d.limits()" if self.limits else ""}
{"	d.collide()" if self.pairs else ""}
	d.constrain()
}}

""")
        self.file("collide")
        if self.limits:
            self.add(f"// limits adds the rows of joints that are beyond their limits.\nfunc (d *Data) limits() {{\n{limits}}}\n\n")
        if self.pairs:
            self.add(f"""// collide finds contacts and adds their rows.
func (d *Data) collide() {{
{rules}{contacts}}}

""")

    def roll(self):
        """The loops over bodies and degrees of freedom of a large model."""
        m = self.m
        assert m.jnt_type[0] == FREE and all(b == 1 for b in m.body_rootid[1:]) and not any(m.dof_simplenum)
        self.add(table("bodyInertia", "[nbody][3]float64", m.body_inertia).replace("var", "// bodyInertia has the inertias of bodies about their axes.\nvar", 1))
        for name, comment, values in (("dofBody", "is the body of a degree of freedom", m.dof_bodyid),
                                      ("rowStart", "is where the rows of m begin", m.M_rowadr + [len(m.M_colind)]),
                                      ("column", "has the columns of m", m.M_colind)):
            self.add(f"// {name} {comment}.\nvar {name} = [{len(values)}]int32{{{', '.join(map(str, values))}}}\n\n")
        self.add(table("armature", "[nv]float64", m.dof_armature).replace("var", "// armature is added to the diagonal of m.\nvar", 1))
        self.add(template("inertias", CINERT=self.rolled))
