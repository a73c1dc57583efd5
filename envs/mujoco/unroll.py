"""Writes the engine of each world of MuJoCo, unrolled for the world's model: model.go, data.go, integrate.go, smooth.go,
collide.go, constraint.go, solver.go and forces.go in the world's package.

    python unroll.py             # writes the files for every model of models.json
    python unroll.py --check     # says which would change

It needs nothing but Python and gofmt. trace.py computes with formulas, smooth.py has MuJoCo's algorithms for bodies,
contact.py and solver.py those for constraints, state.py and step.py what a world stores and how it advances. physics.py puts
all into files. Code that no model changes is in templates.
"""

import json
import os
import subprocess
import sys

import physics
from smooth import Model
from trace import Value

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    check = "--check" in sys.argv
    data = json.load(open(os.path.join(HERE, "models.json")))
    only = [a for a in sys.argv[1:] if not a.startswith("-")]
    changed = []
    for package, d in data["models"].items():
        if only and package not in only:
            continue
        Value.table.clear()
        os.makedirs(os.path.join(HERE, package), exist_ok=True)
        for name, code in physics.write(Model(package, d), data).items():
            out = subprocess.run(["gofmt"], input=code, capture_output=True, text=True)
            if out.returncode:
                sys.exit(f"{package}/{name}: {out.stderr[:2000]}")
            path = os.path.join(HERE, package, name)
            old = open(path).read() if os.path.exists(path) else ""
            if old != out.stdout:
                changed.append(f"{package}/{name}")
                if not check:
                    open(path, "w").write(out.stdout)
    print("changed:" if changed else "nothing changed", *changed)
    sys.exit(bool(check and changed))


if __name__ == "__main__":
    main()
