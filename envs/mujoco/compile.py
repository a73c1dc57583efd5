"""Compiles the MuJoCo models of Gymnasium's v5 environments and writes what the engine needs of them to models.json.

    pip install mujoco gymnasium
    python compile.py            # writes models.json
    python compile.py --check    # says whether this version of MuJoCo would write another one

Numbers are hexadecimal, so no bit is lost. unroll.py turns models.json into Go; it needs neither MuJoCo nor Gymnasium.
"""

import hashlib
import json
import os
import sys

import gymnasium
import mujoco
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ASSETS = os.path.join(os.path.dirname(gymnasium.__file__), "envs", "mujoco", "assets")

# the package of each world, and Gymnasium's file
MODELS = {
    "invertedpendulum": "inverted_pendulum.xml",
    "inverteddoublependulum": "inverted_double_pendulum.xml",
    "reacher": "reacher.xml",
    "swimmer": "swimmer.xml",
    "hopper": "hopper.xml",
    "halfcheetah": "half_cheetah.xml",
    "walker2d": "walker2d_v5.xml",
    "ant": "ant.xml",
    "humanoid": "humanoid.xml",
}

OPTIONS = ["timestep", "gravity", "wind", "density", "viscosity", "integrator", "solver", "cone", "jacobian",
           "iterations", "tolerance", "ls_iterations", "ls_tolerance", "disableflags", "enableflags"]

FIELDS = """
nq nv nu nbody njnt ngeom nsite ntree nC
qpos0 qpos_spring
body_parentid body_rootid body_weldid body_jntnum body_jntadr body_dofnum body_dofadr body_geomnum body_geomadr
body_simple body_sameframe body_pos body_quat body_ipos body_iquat body_mass body_subtreemass body_inertia
body_invweight0 body_contype body_conaffinity
jnt_type jnt_qposadr jnt_dofadr jnt_bodyid jnt_limited jnt_solref jnt_solimp jnt_pos jnt_axis jnt_stiffness
jnt_range jnt_margin
dof_bodyid dof_jntid dof_parentid dof_simplenum dof_armature dof_damping dof_frictionloss dof_invweight0 dof_M0
dof_treeid
M_rownnz M_rowadr M_colind
geom_type geom_contype geom_conaffinity geom_condim geom_bodyid geom_priority geom_sameframe geom_solmix geom_solref
geom_solimp geom_size geom_rbound geom_pos geom_quat geom_friction geom_margin geom_gap geom_rgba
site_bodyid site_sameframe site_pos site_quat
actuator_trntype actuator_dyntype actuator_gaintype actuator_biastype actuator_trnid actuator_ctrllimited
actuator_ctrlrange actuator_gear actuator_gainprm
""".split()

# what the engine leaves out must not be there
ABSENT = ["na", "neq", "npair", "nexclude", "nmesh", "nhfield", "nplugin", "nflex", "nmocap"]


def plain(x):
    """Turns numpy's values into lists of integers and hexadecimal strings."""
    x = np.asarray(x)
    if x.dtype.kind == "f":
        return [float(v).hex() for v in x.ravel()]
    return [int(v) for v in x.ravel()]


def names(model, kind, n):
    return [mujoco.mj_id2name(model, kind, i) or "" for i in range(n)]


def compiled(file):
    model = mujoco.MjModel.from_xml_path(os.path.join(ASSETS, file))
    for field in ABSENT:
        if getattr(model, field, 0):
            raise SystemExit(f"{file} has {field} = {getattr(model, field)}, which the engine lacks")
    out = {"file": file, "xml": hashlib.sha256(open(os.path.join(ASSETS, file), "rb").read()).hexdigest()}
    out["opt"] = {f: plain(getattr(model.opt, f)) for f in OPTIONS}
    for f in FIELDS:
        if hasattr(model, f):
            out[f] = plain(getattr(model, f))
    out["meaninertia"] = plain(model.stat.meaninertia)
    out["body_names"] = names(model, mujoco.mjtObj.mjOBJ_BODY, model.nbody)
    out["joint_names"] = names(model, mujoco.mjtObj.mjOBJ_JOINT, model.njnt)
    out["geom_names"] = names(model, mujoco.mjtObj.mjOBJ_GEOM, model.ngeom)
    out["site_names"] = names(model, mujoco.mjtObj.mjOBJ_SITE, model.nsite)
    return out


def version(text):
    return [int(n) for n in text["mujoco"].split(".")]


def main():
    models = {name: compiled(file) for name, file in MODELS.items()}
    text = json.dumps({"mujoco": mujoco.__version__, "gymnasium": gymnasium.__version__,
                       "sha256": hashlib.sha256(json.dumps(models, sort_keys=True).encode()).hexdigest(),
                       "models": models}, separators=(",", ":"))
    text = text.replace('},"', '},\n"').replace('],"', '],\n"') + "\n"
    path = os.path.join(HERE, "models.json")
    if "--check" in sys.argv:
        old, new = json.load(open(path)), json.loads(text)
        if version(new) < version(old):
            print(f"MuJoCo {new['mujoco']} is older than {old['mujoco']}, which models.json is from")
            return
        for name in MODELS:
            for field in sorted(set(old["models"][name]) | set(new["models"][name])):
                a, b = old["models"][name].get(field), new["models"][name].get(field)
                if a != b:
                    print(f"{name} {field}: {a} in MuJoCo {old['mujoco']}, {b} in {new['mujoco']}")
        sys.exit(old["models"] != new["models"] or old["sha256"] != new["sha256"])
    open(path, "w").write(text)
    print("wrote models.json with MuJoCo", mujoco.__version__)


if __name__ == "__main__":
    main()
