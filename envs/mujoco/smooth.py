"""MuJoCo's algorithms for bodies, joints and inertia, in its order of operations.

Their loops over bodies, joints and degrees of freedom run now; what they compute are the formulas of trace.py.
"""


import math

from trace import absolute, call, const, load, sqrt, value

FREE, BALL, SLIDE, HINGE = range(4)
PLANE, SPHERE, CAPSULE, CYLINDER = 0, 2, 3, 5
NEWTON, PGS = 2, 0
EULER, RK4 = 0, 1
MINVAL = 1e-15
MINIMP, MAXIMP = 0.0001, 0.9999


class Model:
    """A compiled model: MuJoCo's arrays, as lists of numbers, with one list per row where there are rows."""

    def __init__(self, package, data):
        self.package = package
        for key, v in data.items():
            if key == "opt":
                for k, w in v.items():
                    setattr(self, "opt_" + k, self.numbers(w))
            elif key.endswith("_names") or isinstance(v, str):
                setattr(self, key, v)
            else:
                setattr(self, key, self.numbers(v))
        for n in ("nq", "nv", "nu", "nbody", "njnt", "ngeom", "nsite", "ntree"):
            setattr(self, n, getattr(self, n)[0])
        for n in ("timestep", "density", "viscosity", "integrator", "solver", "iterations", "tolerance",
                  "ls_iterations", "ls_tolerance"):
            setattr(self, n, getattr(self, "opt_" + n)[0])
        self.meaninertia = self.meaninertia[0]
        for name, width in {"body_pos": 3, "body_quat": 4, "body_ipos": 3, "body_iquat": 4, "body_inertia": 3,
                            "body_invweight0": 2, "jnt_solref": 2, "jnt_solimp": 5, "jnt_pos": 3, "jnt_axis": 3,
                            "jnt_range": 2, "geom_solref": 2, "geom_solimp": 5, "geom_size": 3, "geom_pos": 3,
                            "geom_quat": 4, "geom_friction": 3, "geom_rgba": 4, "site_pos": 3, "site_quat": 4,
                            "actuator_trnid": 2, "actuator_ctrlrange": 2, "actuator_gear": 6}.items():
            flat = getattr(self, name)
            setattr(self, name, [flat[i:i + width] for i in range(0, len(flat), width)])
        self.check()

    @staticmethod
    def numbers(v):
        return [float.fromhex(x) if isinstance(x, str) else x for x in v]

    def check(self):
        """Refuses what the engine lacks."""
        assert self.opt_cone == [0] and self.opt_jacobian == [2] and self.nv < 60 and self.opt_wind == [0, 0, 0]
        assert self.opt_disableflags == [0] and self.opt_enableflags == [0]
        assert not any(self.dof_frictionloss) and not any(self.geom_gap) and not any(self.geom_priority)
        assert all(t in (FREE, SLIDE, HINGE) for t in self.jnt_type)
        assert not any(self.actuator_trntype + self.actuator_dyntype + self.actuator_gaintype + self.actuator_biastype)
        assert all(self.actuator_ctrllimited) and all(g == [g[0], 0, 0, 0, 0, 0] for g in self.actuator_gear)
        assert all(i[4] == 2 for i in self.jnt_solimp + self.geom_solimp)
        assert all(s[0] > 0 and s[1] > 0 for s in self.jnt_solref + self.geom_solref)

    def row(self, i):
        """The ancestors of degree of freedom i, the root first, and i itself: the columns of row i of M."""
        a = self.M_rowadr[i]
        return self.M_colind[a:a + self.M_rownnz[i]]

    def chain(self, body):
        """The degrees of freedom that move a body, the root's first."""
        body = self.body_weldid[body]
        if not self.body_dofnum[body]:
            return []
        i, out = self.body_dofadr[body] + self.body_dofnum[body] - 1, []
        while i >= 0:
            out.insert(0, i)
            i = self.dof_parentid[i]
        return out

    def pairs(self):
        """Pairs of geoms that may touch, in the order of MuJoCo's contacts."""
        out = []
        for b1 in range(self.nbody):
            for b2 in range(b1 + 1, self.nbody):
                w1, w2 = self.body_weldid[b1], self.body_weldid[b2]
                p1, p2 = self.body_weldid[self.body_parentid[w1]], self.body_weldid[self.body_parentid[w2]]
                if w1 == w2 or w1 and w2 and (w1 == p2 or w2 == p1):
                    continue
                if not self.body_dofnum[w1] and not self.body_dofnum[w2]:
                    continue
                for g1 in self.geoms(b1):
                    for g2 in self.geoms(b2):
                        if not (self.geom_contype[g1] & self.geom_conaffinity[g2] or
                                self.geom_contype[g2] & self.geom_conaffinity[g1]):
                            continue
                        a, b = (g1, g2) if self.geom_type[g1] <= self.geom_type[g2] else (g2, g1)
                        assert self.geom_type[b] in (SPHERE, CAPSULE), "no such collision"
                        out.append((a, b))
        return out

    def geoms(self, body):
        a = self.body_geomadr[body]
        return range(a, a + self.body_geomnum[body]) if a >= 0 else []


class Pair:
    """What is known of the contacts of two geoms beforehand."""

    def __init__(self, m, g1, g2):
        self.g1, self.g2 = g1, g2
        self.b1, self.b2 = m.geom_bodyid[g1], m.geom_bodyid[g2]
        self.dim = max(m.geom_condim[g1], m.geom_condim[g2])
        assert self.dim in (1, 3)
        s1, s2 = m.geom_solmix[g1], m.geom_solmix[g2]
        mix = s1 / (s1 + s2)
        ref = [mix * a + (1 - mix) * b for a, b in zip(m.geom_solref[g1], m.geom_solref[g2])]
        imp = [mix * a + (1 - mix) * b for a, b in zip(m.geom_solimp[g1], m.geom_solimp[g2])]
        self.friction = max(m.geom_friction[g1][0], m.geom_friction[g2][0])
        self.margin = m.geom_margin[g1] + m.geom_margin[g2]
        self.margin33 = max(m.geom_margin[g1], m.geom_margin[g2])
        self.k, self.b, self.imp = constants(m, ref, imp)
        tran = m.body_invweight0[self.b1][0] + m.body_invweight0[self.b2][0]
        self.diag = tran if self.dim == 1 else tran + self.friction * self.friction * tran



def constants(m, ref, imp):
    """Stiffness and damping of a constraint's reference, and its impedance, from solref and solimp."""
    ref = [max(ref[0], 2 * m.timestep), ref[1]]
    imp = [min(MAXIMP, max(MINIMP, imp[0])), min(MAXIMP, max(MINIMP, imp[1])), max(0, imp[2]),
           min(MAXIMP, max(MINIMP, imp[3]))]
    k = 1 / max(MINVAL, imp[1] * imp[1] * ref[0] * ref[0] * ref[1] * ref[1])
    b = 2 / max(MINVAL, imp[1] * ref[0])
    return k, b, imp


# ---- vectors of Values ---------------------------------------------------------------------------------------------

def values(x):
    return [value(v) for v in x]


def add_(a, b):
    return [x + y for x, y in zip(a, b)]


def sub_(a, b):
    return [x - y for x, y in zip(a, b)]


def scl(a, s):
    return [x * s for x in a]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def mul_mat_vec3(m, v):
    return [m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2] for i in range(3)]


def mul_matt_vec3(m, v):
    return [m[i] * v[0] + m[3 + i] * v[1] + m[6 + i] * v[2] for i in range(3)]


def mul_quat(a, b):
    return [a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]]


def rot_vec_quat(v, q):
    t = [q[0] * v[0] + q[2] * v[2] - q[3] * v[1],
         q[0] * v[1] + q[3] * v[0] - q[1] * v[2],
         q[0] * v[2] + q[1] * v[1] - q[2] * v[0]]
    return [v[0] + 2 * (q[2] * t[2] - q[3] * t[1]),
            v[1] + 2 * (q[3] * t[0] - q[1] * t[2]),
            v[2] + 2 * (q[1] * t[1] - q[2] * t[0])]


def quat_to_mat(q):
    if [const(x) for x in q] == [1, 0, 0, 0]:
        return values([1, 0, 0, 0, 1, 0, 0, 0, 1])
    q00, q01, q02, q03 = (q[0] * q[i] for i in range(4))
    q11, q12, q13 = (q[1] * q[i] for i in range(1, 4))
    q22, q23, q33 = q[2] * q[2], q[2] * q[3], q[3] * q[3]
    r = [None] * 9
    r[0] = q00 + q11 - q22 - q33
    r[4] = q00 - q11 + q22 - q33
    r[8] = q00 - q11 - q22 + q33
    r[1], r[2] = 2 * (q12 - q03), 2 * (q13 + q02)
    r[3], r[5] = 2 * (q12 + q03), 2 * (q23 - q01)
    r[6], r[7] = 2 * (q13 - q02), 2 * (q23 + q01)
    return r


def normalize4(q):
    """For a quaternion whose norm is about one."""
    norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if const(norm) is not None:
        inv = value(1 / const(norm) if abs(const(norm) - 1) > MINVAL else 1)
    else:
        inv = call("mujoco.NormInv", 1, norm)[0]
    return scl(q, inv)


def dot(a, b):
    """mju_dot: four sums side by side."""
    n4 = len(a) // 4 * 4
    r = [value(0)] * 4
    for i in range(0, n4, 4):
        for k in range(4):
            r[k] = r[k] + a[i + k] * b[i + k]
    s = (r[0] + r[2]) + (r[1] + r[3])
    rest = [a[i] * b[i] for i in range(n4, len(a))]
    if rest:
        t = rest[0]
        for x in rest[1:]:
            t = t + x
        s = s + t
    return s


def dot_sparse(a, b):
    """mju_dotSparse: the same, but what is left is added one by one."""
    n4 = len(a) // 4 * 4
    r = [value(0)] * 4
    for i in range(0, n4, 4):
        for k in range(4):
            r[k] = r[k] + a[i + k] * b[i + k]
    s = (r[0] + r[2]) + (r[1] + r[3])
    for i in range(n4, len(a)):
        s = s + a[i] * b[i]
    return s


def cross_motion(w, v):
    r = [-w[2] * v[1] + w[1] * v[2], w[2] * v[0] - w[0] * v[2], -w[1] * v[0] + w[0] * v[1],
         -w[2] * v[4] + w[1] * v[5], w[2] * v[3] - w[0] * v[5], -w[1] * v[3] + w[0] * v[4]]
    r[3] = r[3] + (-w[5] * v[1] + w[4] * v[2])
    r[4] = r[4] + (w[5] * v[0] - w[3] * v[2])
    r[5] = r[5] + (-w[4] * v[0] + w[3] * v[1])
    return r


def cross_force(w, f):
    r = [-w[2] * f[1] + w[1] * f[2], w[2] * f[0] - w[0] * f[2], -w[1] * f[0] + w[0] * f[1],
         -w[2] * f[4] + w[1] * f[5], w[2] * f[3] - w[0] * f[5], -w[1] * f[3] + w[0] * f[4]]
    r[0] = r[0] + (-w[5] * f[4] + w[4] * f[5])
    r[1] = r[1] + (w[5] * f[3] - w[3] * f[5])
    r[2] = r[2] + (-w[4] * f[3] + w[3] * f[4])
    return r


def inert_com(inert, mat, dif, mass):
    tmp = [mat[3 * j + i] * inert[i] for i in range(3) for j in range(3)]
    r = [mat[0] * tmp[0] + mat[1] * tmp[3] + mat[2] * tmp[6],
         mat[3] * tmp[1] + mat[4] * tmp[4] + mat[5] * tmp[7],
         mat[6] * tmp[2] + mat[7] * tmp[5] + mat[8] * tmp[8],
         mat[0] * tmp[1] + mat[1] * tmp[4] + mat[2] * tmp[7],
         mat[0] * tmp[2] + mat[1] * tmp[5] + mat[2] * tmp[8],
         mat[3] * tmp[2] + mat[4] * tmp[5] + mat[5] * tmp[8]]
    mass = value(mass)
    r[0] = r[0] + mass * (dif[1] * dif[1] + dif[2] * dif[2])
    r[1] = r[1] + mass * (dif[0] * dif[0] + dif[2] * dif[2])
    r[2] = r[2] + mass * (dif[0] * dif[0] + dif[1] * dif[1])
    r[3] = r[3] - mass * dif[0] * dif[1]
    r[4] = r[4] - mass * dif[0] * dif[2]
    r[5] = r[5] - mass * dif[1] * dif[2]
    return r + [mass * dif[0], mass * dif[1], mass * dif[2], mass]


def mul_inert_vec(i, v):
    return [i[0] * v[0] + i[3] * v[1] + i[4] * v[2] - i[8] * v[4] + i[7] * v[5],
            i[3] * v[0] + i[1] * v[1] + i[5] * v[2] + i[8] * v[3] - i[6] * v[5],
            i[4] * v[0] + i[5] * v[1] + i[2] * v[2] - i[7] * v[3] + i[6] * v[4],
            i[8] * v[1] - i[7] * v[2] + i[9] * v[3],
            i[6] * v[2] - i[8] * v[0] + i[9] * v[4],
            i[7] * v[0] - i[6] * v[1] + i[9] * v[5]]


def mul_dof_vec(dofs, vec):
    """The sum of six-vectors, each times a number."""
    r = values([0] * 6)
    for d, v in zip(dofs, vec):
        r = add_(r, scl(d, v))
    return r


def dot6(a, b):
    return ((a[0] * b[0] + a[2] * b[2]) + (a[1] * b[1] + a[3] * b[3])) + (a[4] * b[4] + a[5] * b[5])


# ---- the smooth part of forward dynamics ---------------------------------------------------------------------------

class Smooth:
    """Kinematics, inertia, bias and passive forces of a model, traced. Its fields have MuJoCo's names.

    Where a model is rolled, what is the same for each of its many bodies is left to loops of the program (inertias in
    templates): written out, it would be more code than a processor reads in time. Then cinert, M and the forces of
    bodies are read from where the loops leave them.
    """

    def __init__(self, m, rolled):
        self.m, self.rolled = m, rolled
        self.qpos = [load(f"d.Qpos[{i}]") for i in range(m.nq)]
        self.qvel = [load(f"d.Qvel[{i}]") for i in range(m.nv)]
        self.kinematics()
        self.com_pos()
        self.crb()
        self.qLD, self.qLDiagInv = factor(m, self.M)
        self.com_vel()
        self.passive()
        self.rne()
        actuator = [load(f"d.QfrcActuator[{i}]") for i in range(m.nv)]
        acted = {m.jnt_dofadr[t[0]] for t in m.actuator_trnid}
        self.qfrc_smooth = [p - b + (actuator[i] if i in acted else 0)
                            for i, (p, b) in enumerate(zip(self.qfrc_passive, self.qfrc_bias))]
        self.qacc_smooth = solve(m, self.qLD, self.qLDiagInv, self.qfrc_smooth)

    def kinematics(self):
        m = self.m
        self.xpos, self.xquat = [values([0, 0, 0])], [values([1, 0, 0, 0])]
        self.xmat = [values([1, 0, 0, 0, 1, 0, 0, 0, 1])]
        self.xanchor, self.xaxis = [None] * m.njnt, [None] * m.njnt
        for i in range(1, m.nbody):
            j0, n = m.body_jntadr[i], m.body_jntnum[i]
            if n == 1 and m.jnt_type[j0] == FREE:
                q = m.jnt_qposadr[j0]
                xpos = self.qpos[q:q + 3]
                xquat = call("mujoco.Normalize4", 4, *self.qpos[q + 3:q + 7])
                self.xanchor[j0], self.xaxis[j0] = xpos, values(m.jnt_axis[j0])
            else:
                p = m.body_parentid[i]
                if p:
                    xpos = add_(mul_mat_vec3(self.xmat[p], values(m.body_pos[i])), self.xpos[p])
                    xquat = mul_quat(self.xquat[p], values(m.body_quat[i]))
                else:
                    xpos, xquat = values(m.body_pos[i]), values(m.body_quat[i])
                for j in range(j0, j0 + n):
                    axis, pos, q = values(m.jnt_axis[j]), values(m.jnt_pos[j]), m.jnt_qposadr[j]
                    xaxis = rot_vec_quat(axis, xquat)
                    xanchor = add_(rot_vec_quat(pos, xquat), xpos)
                    angle = self.qpos[q] - m.qpos0[q]
                    if m.jnt_type[j] == SLIDE:
                        xpos = add_(xpos, scl(xaxis, angle))
                    else:
                        s, c = call("exact.Sincos", 2, angle * 0.5)
                        xquat = mul_quat(xquat, [c] + scl(axis, s))
                        xpos = sub_(xanchor, rot_vec_quat(pos, xquat))
                    self.xanchor[j], self.xaxis[j] = xanchor, xaxis
                xquat = normalize4(xquat)
            self.xpos.append(xpos)
            self.xquat.append(xquat)
            self.xmat.append(quat_to_mat(xquat))
        self.xipos, self.ximat = [values([0, 0, 0])], [values([1, 0, 0, 0, 1, 0, 0, 0, 1])]
        for i in range(1, m.nbody):
            p, r = self.global_(i, m.body_sameframe[i], m.body_ipos[i], m.body_iquat[i])
            self.xipos.append(p)
            self.ximat.append(r)
        frames = [self.global_(m.geom_bodyid[g], m.geom_sameframe[g], m.geom_pos[g], m.geom_quat[g])
                  for g in range(m.ngeom)]
        self.geom_xpos, self.geom_xmat = [f[0] for f in frames], [f[1] for f in frames]
        self.site_xpos = [self.global_(m.site_bodyid[s], m.site_sameframe[s], m.site_pos[s], m.site_quat[s])[0]
                          for s in range(m.nsite)]

    def global_(self, body, same, pos, quat):
        """mj_local2Global."""
        if same in (0, 3, 4):
            p = add_(mul_mat_vec3(self.xmat[body], values(pos)), self.xpos[body])
        else:
            p = self.xpos[body] if same == 1 else self.xipos[body]
        if same == 0:
            r = quat_to_mat(mul_quat(self.xquat[body], values(quat)))
        else:
            r = self.xmat[body] if same in (1, 3) else self.ximat[body]
        return p, r

    def com_pos(self):
        m = self.m
        com = [scl(self.xipos[i], m.body_mass[i]) for i in range(m.nbody)]
        for i in range(m.nbody - 1, 0, -1):
            p = m.body_parentid[i]
            com[p] = add_(com[p], com[i])
        self.subtree_com = [scl(com[i], 1.0 / m.body_subtreemass[i]) if m.body_subtreemass[i] >= MINVAL
                            else self.xipos[i] for i in range(m.nbody)]
        self.cinert = [values([0] * 10)]
        if self.rolled:
            self.cinert += [[load(f"d.{self.rolled}[{i}][{k}]") for k in range(10)] for i in range(1, m.nbody)]
        for i in range(1, m.nbody) if not self.rolled else ():
            offset = sub_(self.xipos[i], self.subtree_com[m.body_rootid[i]])
            self.cinert.append(inert_com(m.body_inertia[i], self.ximat[i], offset, m.body_mass[i]))
        self.cdof = [None] * m.nv
        for i in range(1, m.nbody):
            for j in range(m.body_jntadr[i], m.body_jntadr[i] + m.body_jntnum[i]):
                d = m.jnt_dofadr[j]
                offset = sub_(self.subtree_com[m.body_rootid[i]], self.xanchor[j])
                if m.jnt_type[j] == FREE:
                    for k in range(3):
                        self.cdof[d + k] = values([float(n == 3 + k) for n in range(6)])
                        axis = [self.xmat[i][k], self.xmat[i][k + 3], self.xmat[i][k + 6]]
                        self.cdof[d + 3 + k] = axis + cross(axis, offset)
                elif m.jnt_type[j] == SLIDE:
                    self.cdof[d] = values([0, 0, 0]) + self.xaxis[j]
                else:
                    self.cdof[d] = self.xaxis[j] + cross(self.xaxis[j], offset)

    def crb(self):
        m = self.m
        crb = list(self.cinert)
        for i in range(m.nbody - 1, 0, -1):
            p = m.body_parentid[i]
            if p > 0:
                crb[p] = add_(crb[p], crb[i])
        self.crb_ = crb
        self.M = []
        if self.rolled:
            self.M = [[load(f"d.m[{m.M_rowadr[i] + a}]") for a in range(m.M_rownnz[i])] for i in range(m.nv)]
            return
        for i in range(m.nv):
            if m.dof_simplenum[i]:
                assert m.M_rownnz[i] == 1
                self.M.append([value(m.dof_M0[i])])
                continue
            buf = mul_inert_vec(crb[m.dof_bodyid[i]], self.cdof[i])
            row = [dot6(self.cdof[j], buf) for j in m.row(i)]
            row[-1] = m.dof_armature[i] + row[-1]
            self.M.append(row)

    def com_vel(self):
        m = self.m
        self.cvel, self.cdof_dot = [values([0] * 6)], [None] * m.nv
        for i in range(1, m.nbody):
            cvel, d, n = self.cvel[m.body_parentid[i]], m.body_dofadr[i], m.body_dofnum[i]
            j = 0
            while j < n:
                if m.jnt_type[m.dof_jntid[d + j]] == FREE:
                    for k in range(3):
                        self.cdof_dot[d + k] = values([0] * 6)
                    cvel = add_(cvel, mul_dof_vec(self.cdof[d:d + 3], self.qvel[d:d + 3]))
                    for k in range(3, 6):
                        self.cdof_dot[d + k] = cross_motion(cvel, self.cdof[d + k])
                    cvel = add_(cvel, mul_dof_vec(self.cdof[d + 3:d + 6], self.qvel[d + 3:d + 6]))
                    j += 6
                else:
                    self.cdof_dot[d + j] = cross_motion(cvel, self.cdof[d + j])
                    cvel = add_(cvel, scl(self.cdof[d + j], self.qvel[d + j]))
                    j += 1
            self.cvel.append(cvel)

    def passive(self):
        m = self.m
        spring, damper, fluid = (values([0] * m.nv) for _ in range(3))
        for j in range(m.njnt):
            if m.jnt_stiffness[j]:
                assert m.jnt_type[j] != FREE
                q = m.jnt_qposadr[j]
                x = self.qpos[q] - m.qpos_spring[q]
                spring[m.jnt_dofadr[j]] = -x * m.jnt_stiffness[j]
        for i in range(m.nv):
            damper[i] = -self.qvel[i] * m.dof_damping[i]
        if m.density or m.viscosity:
            for i in range(1, m.nbody):
                if m.body_mass[i] >= MINVAL:
                    fluid = add_(fluid, self.fluid(i)[0])
                    fluid = add_(fluid, self.fluid(i)[1])
        self.qfrc_passive = add_(add_(spring, damper), fluid)

    def fluid(self, i):
        """mj_inertiaBoxFluidModel: the forces of a body on all degrees of freedom, of its force and of its torque."""
        m = self.m
        inertia, mass = m.body_inertia[i], m.body_mass[i]
        sides = [(1, 2, 0), (0, 2, 1), (0, 1, 2)]
        box = [math.sqrt(max(MINVAL, inertia[a] + inertia[b] - inertia[c]) / mass * 6.0) for a, b, c in sides]
        com = self.subtree_com[m.body_rootid[i]]
        vel = self.cvel[i][:3] + sub_(self.cvel[i][3:], cross(sub_(self.xipos[i], com), self.cvel[i][:3]))
        lvel = mul_matt_vec3(self.ximat[i], vel[:3]) + mul_matt_vec3(self.ximat[i], vel[3:])
        lfrc = values([0] * 6)
        pi = 3.14159265358979323846
        if m.viscosity > 0:
            diam = (box[0] + box[1] + box[2]) / 3.0
            lfrc = scl(lvel[:3], -pi * diam * diam * diam * m.viscosity) + \
                scl(lvel[3:], -3.0 * pi * diam * m.viscosity)
        if m.density > 0:
            def fourth(x):
                return x * x * x * x
            for k, (a, b) in enumerate([(1, 2), (0, 2), (0, 1)]):
                v = lvel[3 + k]
                lfrc[3 + k] = lfrc[3 + k] - 0.5 * m.density * box[a] * box[b] * absolute(v) * v
                v = lvel[k]
                lfrc[k] = lfrc[k] - m.density * box[k] * (fourth(box[a]) + fourth(box[b])) * absolute(v) * v / 64.0
        torque, force = mul_mat_vec3(self.ximat[i], lfrc[:3]), mul_mat_vec3(self.ximat[i], lfrc[3:])
        jacp, jacr = self.jac(i, self.xipos[i])
        by_force, by_torque = values([0] * m.nv), values([0] * m.nv)
        for c in m.chain(i):
            for k in range(3):
                by_force[c] = by_force[c] + jacp[c][k] * force[k]
                by_torque[c] = by_torque[c] + jacr[c][k] * torque[k]
        return by_force, by_torque

    def jac(self, body, point):
        """mj_jac: for each degree of freedom that moves the body, the velocity of a point and of rotation."""
        m = self.m
        offset = sub_(point, self.subtree_com[m.body_rootid[body]])
        jacp, jacr = {}, {}
        for c in m.chain(body):
            jacr[c] = self.cdof[c][:3]
            jacp[c] = add_(self.cdof[c][3:], cross(self.cdof[c][:3], offset))
        return jacp, jacr

    def rne(self):
        m = self.m
        gravity = m.opt_gravity
        cacc, force = [values([0, 0, 0] + [-g for g in gravity])], [values([0] * 6)]
        for i in range(1, m.nbody):
            d, n = m.body_dofadr[i], m.body_dofnum[i]
            tmp = mul_dof_vec(self.cdof_dot[d:d + n], self.qvel[d:d + n]) if n else values([0] * 6)
            cacc.append(add_(cacc[m.body_parentid[i]], tmp))
            if self.rolled:
                force.append([load(f"d.cfrc[{i}][{k}]") for k in range(6)])
                continue
            f = mul_inert_vec(self.cinert[i], cacc[i])
            force.append(add_(f, cross_force(self.cvel[i], mul_inert_vec(self.cinert[i], self.cvel[i]))))
        self.cacc = cacc
        for i in range(m.nbody - 1, 0, -1):
            p = m.body_parentid[i]
            if p:
                force[p] = add_(force[p], force[i])
        self.qfrc_bias = [dot6(self.cdof[v], force[m.dof_bodyid[v]]) for v in range(m.nv)]


def factor(m, mat):
    """mj_factorI: L'*D*L of a matrix with the sparsity of M, as rows; the inverse of D."""
    mat = [list(r) for r in mat]
    inv = [None] * m.nv
    for k in range(m.nv - 1, -1, -1):
        cols = m.row(k)
        inv[k] = 1 / mat[k][-1]
        for a in range(len(cols) - 2, -1, -1):
            i = cols[a]
            s = -mat[k][a] * inv[k]
            for c in range(len(mat[i])):
                mat[i][c] = mat[i][c] + mat[k][c] * s
        for a in range(len(cols) - 1):
            mat[k][a] = mat[k][a] * inv[k]
    return mat, inv


def solve(m, ld, inv, x):
    """mj_solveLD."""
    x = list(x)
    for i in range(m.nv - 1, -1, -1):
        for a, c in enumerate(m.row(i)[:-1]):
            x[c] = x[c] - ld[i][a] * x[i]
    x = [v * d for v, d in zip(x, inv)]
    for i in range(m.nv):
        cols = m.row(i)[:-1]
        if cols:
            x[i] = x[i] - dot_sparse(ld[i][:-1], [x[c] for c in cols])
    return x


def half_solve(m, ld, root, x):
    """mj_solveM2."""
    x = list(x)
    for i in range(m.nv - 1, 0, -1):
        for a, c in enumerate(m.row(i)[:-1]):
            x[c] = x[c] - ld[i][a] * x[i]
    return [v * d for v, d in zip(x, root)]


def mul_sym(m, mat, x):
    """mju_mulSymVecSparse."""
    r = [None] * m.nv
    for i in range(m.nv):
        cols = m.row(i)
        r[i] = mat[i][-1] * x[i]
        for k in range(len(cols) - 2, -1, -1):
            r[i] = r[i] + mat[i][k] * x[cols[k]]
            r[cols[k]] = r[cols[k]] + mat[i][k] * x[i]
    return r
