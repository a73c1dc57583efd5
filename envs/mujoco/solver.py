"""The constraint solvers: Newton's method, and PGS for the model that asks for it."""

from gotext import indented, template
from smooth import dot, half_solve, mul_sym, solve
from trace import Writer, call, load, sqrt, text, value, var


class Solver:
    """Writes solver.go: Newton's method, or PGS for the model that asks for it."""

    def trace_scale(self):
        m = self.m
        if m.ntree > 1:
            return 1 / load("d.touched")
        total = value(0)
        for i in range(m.nv):
            if m.dof_treeid[i] == 0:
                total = total + load(f"d.m[{self.adr(i, m.M_rownnz[i] - 1)}]")
        return 1 / total

    def common(self):
        """What both solvers compute with."""
        m = self.m
        x = [load(f"x[{i}]") for i in range(m.nv)]
        row = [load(f"row[{i}]") for i in range(m.nv)]
        self.add("// dot multiplies a row of J with x.\nfunc dot(row, x *[nv]float64) float64 {\n"
                 + self.expression("s", dot(row, x)) + "}\n\n")
        lines, _, _ = Writer().lines([(f"y[{i}]", load(f"y[{i}]") + row[i] * var("f")) for i in range(m.nv)])
        self.add("// addRow adds f times a row of J to y.\nfunc addRow(y, row *[nv]float64, f float64) {\n"
                 + indented(lines) + "}\n\n")
        ld, inv = self.rows_of("qLD"), self.vector("qLDiagInv")
        out = solve(m, ld, inv, x)
        lines, _, _ = Writer().lines([(f"t[{i}]", v) for i, v in enumerate(out)])
        self.add("// solveM solves M*x = x. t is another place, for the result.\nfunc (d *Data) solveM(t, x *[nv]float64) {\n"
                 + indented(lines) + "}\n\n")

    def newton_solver(self):
        m = self.m
        if not self.limits and not self.pairs:
            self.add("""// constrain sets accelerations: there are no constraints.
func (d *Data) constrain() {
	d.Qacc = d.qaccSmooth
}
""")
            return
        self.common()
        nv = m.nv
        M = self.rows_of("m")
        x = [load(f"x[{i}]") for i in range(nv)]
        lines, _, _ = Writer().lines([(f"y[{i}]", v) for i, v in enumerate(mul_sym(m, M, x))])
        self.add("// mulM sets y to M*x.\nfunc (d *Data) mulM(y, x *[nv]float64) {\n" + indented(lines) + "}\n\n")
        self.add("// dofDot is the product of two vectors of degrees of freedom.\nfunc dofDot(row, x *[nv]float64) float64 {\n"
                 "\treturn dot(row, x)\n}\n\n")
        self.add("// inertiaScale is what costs and gradients are scaled with: one over the trace of M.\n"
                 "func (d *Data) inertiaScale() float64 {\n" + self.expression("s", self.trace_scale()) + "}\n\n")
        # Newton's matrix
        lines = []
        for i in range(nv):
            for k in range(i + 1):
                lines.append(f"d.h[{i}][{k}] = 0")
        acc = []
        for i in range(nv):
            acc.append(f"if s := row[{i}]; s != 0 {{")
            acc.append("\tw := float64(s * weight)")
            acc.append(f"\ty := &d.h[{i}]")
            for k in range(i + 1):
                acc.append(f"\ty[{k}] += float64(row[{k}] * w)")
            acc.append("}")
        tail = [f"d.h[{i}][{c}] += d.m[{self.adr(i, a)}]" for i in range(nv) for a, c in enumerate(m.row(i))]
        self.add("// hessian sets h to M + J'*D*J of the active rows, and factorizes it.\nfunc (d *Data) hessian() {\n"
                 + indented(lines) + "\tfor i := range d.Nefc {\n\t\tif !d.active[i] {\n\t\t\tcontinue\n\t\t}\n"
                 "\t\trow := &d.efcJ[i]\n\t\tweight := d.efcD[i]\n" + indented(acc, 2) + "\t}\n" + indented(tail)
                 + "\td.cholesky()\n}\n\n")
        L = [[load(f"d.h[{i}][{k}]") for k in range(nv)] for i in range(nv)]
        stores = []
        for j in range(nv):
            t = L[j][j]
            if j:
                t = t - dot(L[j][:j], L[j][:j])
            L[j][j] = sqrt(call("mujoco.Pivot", 1, t)[0])
            stores.append((f"d.h[{j}][{j}]", L[j][j]))
            t = 1 / L[j][j]
            for i in range(j + 1, nv):
                L[i][j] = (L[i][j] - (dot(L[i][:j], L[j][:j]) if j else 0)) * t
                stores.append((f"d.h[{i}][{j}]", L[i][j]))
        self.method("cholesky", "factorizes h in place.", stores)
        L = [[load(f"d.h[{i}][{k}]") for k in range(nv)] for i in range(nv)]
        x = self.vector("grad")
        for i in range(nv):
            if i:
                x[i] = x[i] - dot(L[i][:i], x[:i])
            x[i] = x[i] / L[i][i]
        for i in range(nv - 1, -1, -1):
            for j in range(i + 1, nv):
                x[i] = x[i] - L[j][i] * x[j]
            x[i] = x[i] / L[i][i]
        self.method("descend", "sets mgrad to h\\grad.", [(f"d.mgrad[{i}]", x[i]) for i in range(nv)])
        trees = ""
        if m.ntree > 1:
            trees = "\t// Bodies that no constraint touches need no solver, and their inertia does not count.\n\td.touched = 0\n"
            for t in range(m.ntree):
                dofs = [i for i in range(nv) if m.dof_treeid[i] == t]
                touched = " || ".join(f"row[{i}] != 0" for i in dofs)
                inertia = " + ".join(f"d.m[{self.adr(i, m.M_rownnz[i] - 1)}]" for i in dofs)
                trees += f"""	touched{t} := false
	for i := range d.Nefc {{
		row := &d.efcJ[i]
		touched{t} = touched{t} || {touched}
	}}
	if touched{t} {{
		d.touched += {inertia}
	}} else {{
{indented([f"d.Qacc[{i}] = d.qaccSmooth[{i}]" for i in dofs], 2)}	}}
"""
            trees += "\td.mulM(&d.ma, &d.Qacc)\n"
        self.add(template("newton", TREES=trees, TOL=text(m.tolerance), GTOL=text(m.tolerance * m.ls_tolerance),
                          LSITER=m.ls_iterations, ITER=m.iterations))

    def pgs_solver(self):
        m = self.m
        self.common()
        ld = self.rows_of("qLD")
        root = self.vector("rootD")
        lines, _, _ = Writer().lines([(f"y[{i}]", v) for i, v in enumerate(
            half_solve(m, ld, root, [load(f"x[{i}]") for i in range(m.nv)]))])
        self.add("// halfSolve sets y to sqrt(inv(D))*inv(L')*x.\nfunc (d *Data) halfSolve(y, x *[nv]float64) {\n"
                 + indented(lines) + "}\n\n")
        stores = [(f"d.rootD[{i}]", 1 / sqrt(ld[i][-1])) for i in range(m.nv)]
        self.method("roots", "sets rootD to the square roots of inv(D).", stores)
        self.add("// inertiaScale is what costs are scaled with: one over the trace of M.\n"
                 "func (d *Data) inertiaScale() float64 {\n" + self.expression("s", self.trace_scale()) + "}\n\n")
        mean = 1 / (m.meaninertia * max(1, m.nv))
        self.add(template("pgs", TOL=text(m.tolerance), ITER=m.iterations, MEAN=text(mean)))
