"""Writes physics.go of each world of MuJoCo: the engine, unrolled for the world's model.

    python unroll.py             # writes <world>/physics.go for every model of models.json
    python unroll.py --check     # says which would change

It needs nothing but Python and gofmt. trace.py computes with formulas, smooth.py has MuJoCo's algorithms for bodies, and
physics.py those for constraints.
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
        text_ = physics.write(Model(package, d), data)
        text_ = subprocess.run(["gofmt"], input=text_, capture_output=True, text=True)
        if text_.returncode:
            sys.exit(f"{package}: {text_.stderr[:2000]}")
        path = os.path.join(HERE, package, "physics.go")
        old = open(path).read() if os.path.exists(path) else ""
        if old != text_.stdout:
            changed.append(package)
            if not check:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                open(path, "w").write(text_.stdout)
    print("changed:" if changed else "nothing changed", *changed)
    sys.exit(bool(check and changed))


if __name__ == "__main__":
    main()
