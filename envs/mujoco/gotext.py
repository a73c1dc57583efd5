"""Texts of Go: lines, tables, numbers, and the templates of what no model changes."""

import os

from trace import text

TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")


def template(name, **values):
    """The text of templates/NAME.go.txt, with each $KEY$ replaced by its value."""
    out = open(os.path.join(TEMPLATES, name + ".go.txt")).read()
    for key, v in values.items():
        out = out.replace(f"${key}$", str(v))
    return out


def camel(name):
    out = "".join(w[:1].upper() + w[1:] for w in name.replace("-", "_").split("_"))
    return out


def indented(lines, tabs=1):
    return "".join("\t" * tabs + l + "\n" for l in lines)


def table(name, kind, rows):
    """A Go array of numbers, or of arrays of numbers."""
    if rows and isinstance(rows[0], (list, tuple)):
        body = "".join("\t{" + ", ".join(text(float(x)) for x in r) + "},\n" for r in rows)
        return f"var {name} = {kind}{{\n{body}}}\n\n"
    return f"var {name} = {kind}{{{', '.join(text(float(x)) for x in rows)}}}\n\n"


def go(x):
    s = text(x)
    return f"({s})" if s.startswith("-") else s
