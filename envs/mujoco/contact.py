"""Contacts: pairs of geoms that may touch, and the rows of constraints that limits and contacts make."""

from gotext import indented, table, template
from smooth import CAPSULE, PLANE, SPHERE, add_, cross, dot, sub_
from trace import Writer, call, const, load, text, value, var


class Contact:
    """Writes constraint.go, and what collide.go does with each pair: contacts and the rows of constraints."""

    def margin(self, p):
        """Statements for a pair's margin, and its name."""
        if p.margin == p.margin33:
            return "", text(p.margin)
        return f"\t\tmargin := {text(p.margin)}\n\t\tif old {{\n\t\t\tmargin = {text(p.margin33)}\n\t\t}}\n", "margin"

    def test(self, p, listed=False):
        """Go code that finds the contacts of a pair."""
        m, s = self.m, self.smooth
        g1, g2 = p.g1, p.g2
        lines, margin = self.margin(p)
        largest = max(p.margin, p.margin33)
        if m.geom_type[g1] == PLANE:
            assert [const(x) for x in s.geom_xmat[g1]] == [1, 0, 0, 0, 1, 0, 0, 0, 1] and const(s.geom_xpos[g1][2]) == 0
            radius = m.geom_size[g2][0]
            out = f"\t{{ // {self.name(g2)} on the floor\n{lines}"
            ends = [0]
            if m.geom_type[g2] == CAPSULE:
                ends = [m.geom_size[g2][1], -m.geom_size[g2][1]]
            for e in ends:
                z = f"d.GeomXpos[{g2}][2]"
                if e:
                    z += f" {'+' if e > 0 else '-'} float64({text(abs(e))}*d.GeomAxis[{g2}][2])"
                limit = f"{margin}+{text(radius)}" if margin == "margin" else text(p.margin + radius)
                out += f"""		if z := {z}; z <= {limit} {{
			d.floor{g2}({text(e)}, z, {margin})
		}}
"""
            return out + "\t}\n"
        reach = m.geom_rbound[g1] + m.geom_rbound[g2]
        a1, a2 = f"&d.GeomXpos[{g1}], &d.GeomAxis[{g1}]", f"&d.GeomXpos[{g2}], &d.GeomAxis[{g2}]"
        r1, r2 = text(m.geom_size[g1][0]), text(m.geom_size[g2][0])
        kinds = (m.geom_type[g1], m.geom_type[g2])
        if kinds == (SPHERE, SPHERE):
            found = f"mujoco.Spheres(&d.found, {margin}, {a1}, {r1}, {a2}, {r2})"
        elif kinds == (SPHERE, CAPSULE):
            found = f"mujoco.SphereCapsule(&d.found, {margin}, {a1}, {r1}, {a2}, {r2}, {text(m.geom_size[g2][1])})"
        else:
            found = (f"mujoco.Capsules(&d.found, d.Rules, {margin}, {a1}, {r1}, {text(m.geom_size[g1][1])}, "
                     f"{a2}, {r2}, {text(m.geom_size[g2][1])})")
        args = ", ".join(text(float(x)) for x in [p.friction, p.diag, p.k, p.b] + p.imp[:4])
        narrow = f"""{lines}		d.found.N = 0
		{found}
		d.touch({p.b1}, {p.b2}, {p.dim}, {margin}, {args})
"""
        square = (reach + largest) * (reach + largest)
        if listed:
            return square, narrow
        x, y, z = (load(f"d.GeomXpos[{g1}][{i}]") - load(f"d.GeomXpos[{g2}][{i}]") for i in range(3))
        distance = Writer().lines([("s", x * x + y * y + z * z)], prefix="u")[0]
        return indented(["{"] + ["\t" + l for l in distance[:-1]]) + f"""	if {distance[-1][4:]} <= {text(square)} {{ // {self.name(g1)} and {self.name(g2)}
{narrow}	}}
	}}
"""

    def list_pairs(self):
        """The pairs of a model with many as a list, and what to do with those that are near."""
        tests = [self.test(p, True) for p in self.bodies]
        n = len(tests)
        self.add("// pairs are the geoms that may touch each other.\n"
                 f"var pairs = [{n}][2]int32{{\n" + "".join(f"\t{{{p.g1}, {p.g2}}}, // {self.name(p.g1)}, {self.name(p.g2)}\n" for p in self.bodies) + "}\n\n")
        self.add("// reach is the square of the distance from which on they do not.\n" + table("reach", f"[{n}]float64", [t[0] for t in tests]))
        cases = "".join(f"\tcase {k}:\n{t[1]}" for k, t in enumerate(tests))
        old = "\told := d.Rules == mujoco.Rules33\n" if "if old" in cases else ""
        self.add(f"""// meet finds the contacts of a pair that is near.
func (d *Data) meet(pair int) {{
{old}	switch pair {{
{cases}	}}
}}

""")
        return """	for i := range pairs {
		a, b := &d.GeomXpos[pairs[i][0]], &d.GeomXpos[pairs[i][1]]
		x, y, z := a[0]-b[0], a[1]-b[1], a[2]-b[2]
		if (float64(x*x)+float64(y*y))+float64(z*z) <= reach[i] {
			d.meet(i)
		}
	}
"""

    def name(self, g):
        return self.m.geom_names[g] or f"geom {g} of {self.m.body_names[self.m.geom_bodyid[g]]}"

    def constraints(self):
        m, s = self.m, self.smooth
        if not self.limits and not self.pairs:
            return
        rows = "\td.efcR[n] = r\n" if not self.newton else ""
        if self.limits:
            self.add(f"""// limit adds the row of a joint that is beyond a limit by -dist.
func (d *Data) limit(dof int32, sign, dist, margin, stiffness, damping, low, high, width, mid, inverse float64) {{
	n := d.Nefc
	if n >= maxRows {{
		d.Bad = true
		return
	}}
	d.Nefc = n + 1
	row := &d.efcJ[n]
	for i := range row {{
		row[i] = 0
	}}
	row[dof] = sign
	imp := mujoco.Impedance(dist-margin, low, high, width, mid)
	r := mujoco.Regularize(imp, inverse)
{rows}	aref := -float64(damping*float64(sign*d.Qvel[dof])) - float64(float64(stiffness*imp)*(dist-margin))
	d.efcD[n] = 1 / r
	d.efcAref[n] = aref
	d.efcB[n] = float64(sign*d.qaccSmooth[dof]) - aref
	d.jar[n] = float64(sign*d.QaccWarmstart[dof]) - aref
}}

""")
        cdof = [[c if const(c) is not None else load(f"d.cdof[{i}][{k}]") for k, c in enumerate(s.cdof[i])]
                for i in range(m.nv)] if self.pairs else []
        for p in self.floor:
            self.floor_rows(p, cdof)
        if self.bodies:
            self.touch_rows()

    def floor_rows(self, p, cdof):
        """A function that adds the rows of a geom's contact with the floor."""
        m, s, g = self.m, self.smooth, p.g2
        radius = m.geom_size[g][0]
        pos = [load(f"d.GeomXpos[{g}][{i}]") if const(s.geom_xpos[g][i]) is None else s.geom_xpos[g][i] for i in range(2)]
        axis = [s.geom_xmat[g][2], s.geom_xmat[g][5]]
        axis = [a if const(a) is not None else load(f"d.GeomAxis[{g}][{i}]") for i, a in enumerate(axis)]
        end, z, dist = var("end"), var("z"), var("dist")
        point = [x + end * a for x, a in zip(pos, axis)] if m.geom_type[g] == CAPSULE else pos
        point = point + [z + (-dist / 2 - radius)]
        if m.geom_type[g] == SPHERE:
            t = [value(0), value(1)]
        elif const(axis[1]) == 0:
            t = [call("mujoco.Unit", 1, axis[0])[0], value(0)]
        else:
            t = call("mujoco.Unit2", 2, *axis)
        com = [c if const(c) is not None else load(f"d.com[{i}]") for i, c in enumerate(s.subtree_com[1])]
        offset = sub_(point, com)
        chain = m.chain(p.b2)
        zero = value(0)
        normal, first, second = [zero] * m.nv, [zero] * m.nv, [zero] * m.nv
        for c in chain:
            j = add_(cdof[c][3:], cross(cdof[c][:3], offset))
            normal[c] = j[2]
            first[c] = t[0] * j[0] + t[1] * j[1]
            second[c] = -t[1] * j[0] + t[0] * j[1]
        if p.dim == 1:
            rows = [normal]
        else:
            rows = []
            for tangent in (first, second):
                rows.append([a + b * p.friction for a, b in zip(normal, tangent)])
                rows.append([a + b * -p.friction for a, b in zip(normal, tangent)])
        qvel, smooth_, warm = self.vector("Qvel"), self.vector("qaccSmooth"), self.vector("QaccWarmstart")
        stores = []
        for k, row in enumerate(rows):
            for i in range(m.nv):
                stores.append((f"row{k}[{i}]", row[i]))
        for k, row in enumerate(rows):
            aref = -(p.b * dot(row, qvel)) - var("pull")
            stores.append((f"d.efcAref[n+{k}]", aref))
            stores.append((f"d.efcB[n+{k}]", dot(row, smooth_) - aref))
            stores.append((f"d.jar[n+{k}]", dot(row, warm) - aref))
        lines, _, _ = Writer().lines(stores)
        n = len(rows)
        pointers = "".join(f"\trow{k} := &d.efcJ[n+{k}]\n" for k in range(n))
        keep = ""
        if self.forces:
            tangent = ["0", "1"] if m.geom_type[g] == SPHERE else None
            unit = "tx, ty := 0.0, 1.0" if tangent else f"tx, ty := mujoco.Unit2(d.GeomAxis[{g}][0], d.GeomAxis[{g}][1])"
            px, py, pz = ("d.GeomXpos[%d][%d]" % (g, i) + (f" + float64(end*d.GeomAxis[{g}][{i}])" if not tangent else "")
                          for i in range(3))
            keep = f"""	c := &d.contacts[d.Ncon-1]
	c.row, c.dim, c.body1, c.body2, c.friction = n, {p.dim}, {p.b1}, {p.b2}, {text(p.friction)}
	c.pos[0], c.pos[1], c.pos[2] = {px}, {py}, z + (-float64(dist/2) - {text(radius)})
	{unit}
	c.frame = [9]float64{{0, 0, 1, tx, ty, 0, -ty, tx, 0}}
"""
        excluded = "\t\td.contacts[d.Ncon-1].row = -1\n" if self.forces else ""
        spread = [f"d.efcD[n+{k}] = weight" for k in range(n)] + ([f"d.efcR[n+{k}] = r" for k in range(n)] if not self.newton else [])
        full = f"d.Ncon >= {self.max_contacts} || " if self.forces else ""
        self.add(f"""// floor{g} adds the contact of {self.name(g)} with the floor. end is where on its axis, at the height z.
func (d *Data) floor{g}(end, z, margin float64) {{
	dist := z - {text(radius)}
	n := d.Nefc
	if {full}n+{n} > maxRows {{
		d.Bad = true
		return
	}}
	d.Ncon++
	if dist >= margin {{
{excluded}		return
	}}
	d.Nefc = n + {n}
	imp := mujoco.Impedance(dist-margin, {', '.join(text(float(x)) for x in p.imp[:4])})
	r := {"" if n == 1 else text(2 * p.friction * p.friction) + " * "}mujoco.Regularize(imp, {text(p.diag)})
	weight := 1 / r
	pull := float64(float64({text(p.k)}*imp)*(dist-margin))
{pointers}{indented(spread)}{indented(lines)}{keep}}}

""")

    def touch_rows(self):
        m = self.m
        moves = []
        for b in range(m.nbody):
            mask = 0
            for c in m.chain(b):
                mask |= 1 << c
            moves.append(mask)
        self.add("// movedBy has a bit for each degree of freedom that moves a body.\nvar movedBy = [nbody]uint32{"
                 + ", ".join(str(x) for x in moves) + "}\n\n")
        keep = """		c := &d.contacts[d.Ncon-1]
		c.row, c.dim, c.body1, c.body2, c.friction = n, dim, body1, body2, friction
		c.pos = t.Pos[i]
		c.frame = frame
"""
        self.add(template("touch", MAXCON=self.max_contacts, DOTS=self.row_dots(),
                          R="\t\td.efcR[k] = r\n" if not self.newton else "",
                          FULL=f"d.Ncon >= {self.max_contacts} || " if self.forces else "",
                          KEEP=keep if self.forces else "",
                          OUT="\t\t\td.contacts[d.Ncon-1].row = -1\n" if self.forces else ""))

    def row_dots(self):
        row = [load(f"row[{i}]") for i in range(self.m.nv)]
        aref = var("aref")
        lines, _, _ = Writer().lines([
            ("aref", -(var("damping") * dot(row, self.vector("Qvel"))) - var("pull"))])
        lines[-1] = lines[-1].replace("aref = ", "aref := ")
        more, _, _ = Writer().lines([("d.efcAref[k]", aref),
                                     ("d.efcB[k]", dot(row, self.vector("qaccSmooth")) - aref),
                                     ("d.jar[k]", dot(row, self.vector("QaccWarmstart")) - aref)], prefix="u")
        return indented(lines + more, 2)
