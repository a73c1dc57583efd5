"""Formulas that are traced instead of computed, and written as Go.

A Value is a number that is known when the program is made, or an operation on Values. Operators build operations and
leave out what changes no bit of finite numbers: + 0, * 1, * 0. Equal operations are one Value, so they are computed once.
"""

import math


class Value:
    __slots__ = ("op", "args", "id", "size")
    table = {}

    def __new__(cls, op, *args):
        key = (op,) + tuple(a.id if isinstance(a, Value) else a for a in args)
        if op == "const":
            key = ("const", args[0].hex())
        v = cls.table.get(key)
        if v is None:
            v = object.__new__(cls)
            v.op, v.args, v.id = op, args, len(cls.table)
            v.size = 1 + sum(a.size for a in args if isinstance(a, Value) and a.op not in ("const", "load", "var"))
            cls.table[key] = v
        return v

    def __add__(self, o): return add(self, value(o))
    def __radd__(self, o): return add(value(o), self)
    def __sub__(self, o): return sub(self, value(o))
    def __rsub__(self, o): return sub(value(o), self)
    def __mul__(self, o): return mul(self, value(o))
    def __rmul__(self, o): return mul(value(o), self)
    def __truediv__(self, o): return div(self, value(o))
    def __rtruediv__(self, o): return div(value(o), self)
    def __neg__(self): return neg(self)


def value(x):
    return x if isinstance(x, Value) else Value("const", float(x) + 0.0)


def const(v):
    return v.args[0] if v.op == "const" else None


def load(place):
    return Value("load", place)


def var(name):
    return Value("var", name)


def call(function, results, *args):
    """The results of a Go function that has no effect."""
    args = [value(a) for a in args]
    made = Value("call", function, results, *args)
    return [Value("result", made, i) for i in range(results)]


def order(a, b):
    return (a, b) if a.id <= b.id else (b, a)


def neg(a):
    c = const(a)
    if c is not None:
        return value(-c)
    if a.op == "neg":
        return a.args[0]
    if a.op == "sub":
        return Value("sub", a.args[1], a.args[0])
    return Value("neg", a)


def add(a, b):
    x, y = const(a), const(b)
    if x is not None and y is not None:
        return value(x + y)
    if x == 0:
        return b
    if y == 0:
        return a
    if b.op == "neg":
        return sub(a, b.args[0])
    if a.op == "neg":
        return sub(b, a.args[0])
    return Value("add", *order(a, b))


def sub(a, b):
    x, y = const(a), const(b)
    if x is not None and y is not None:
        return value(x - y)
    if y == 0:
        return a
    if x == 0:
        return neg(b)
    if a is b:
        return value(0)
    if b.op == "neg":
        return add(a, b.args[0])
    if a.op == "neg":
        return neg(add(a.args[0], b))
    return Value("sub", a, b)


def mul(a, b):
    x, y = const(a), const(b)
    if x is not None and y is not None:
        return value(x * y)
    for c, o in ((x, b), (y, a)):
        if c == 0:
            return value(0)
        if c == 1:
            return o
        if c == -1:
            return neg(o)
    if a.op == "neg":
        return neg(mul(a.args[0], b))
    if b.op == "neg":
        return neg(mul(a, b.args[0]))
    if x is not None and x < 0:
        return neg(mul(value(-x), b))
    if y is not None and y < 0:
        return neg(mul(a, value(-y)))
    return Value("mul", *order(a, b))


def div(a, b):
    x, y = const(a), const(b)
    if x is not None and y is not None:
        return value(x / y)
    if y == 1:
        return a
    if x == 0:
        return value(0)
    if a.op == "neg":
        return neg(div(a.args[0], b))
    return Value("div", a, b)


def sqrt(a):
    c = const(a)
    return value(math.sqrt(c)) if c is not None else Value("sqrt", a)


def absolute(a):
    c = const(a)
    if c is not None:
        return value(abs(c))
    return Value("abs", a.args[0] if a.op == "neg" else a)


def text(c):
    """A constant in Go, which reads it back with the same bits."""
    return repr(int(c)) if c == int(c) and abs(c) < 1e15 else repr(c)


INLINE = 7  # operations in one expression


class Writer:
    """Writes functions of Go that store Values, one function after another when they grow long."""

    def __init__(self, limit=700):
        self.limit = limit  # local variables of a function: the stack of step code is bounded
        self.known = {}     # Values that were stored: where

    def lines(self, stores, known=None, prefix="t"):
        """Statements for stores: pairs of a place, or None, and a Value. Returns lines and what was stored."""
        uses = {}
        known = dict(known or {})
        seen = set()

        def count(v):
            if not isinstance(v, Value) or v.op in ("const", "load", "var"):
                return
            uses[v] = uses.get(v, 0) + 1
            if v in seen or v in known:
                return
            seen.add(v)
            for a in v.args:
                count(a)

        for _, v in stores:
            count(v)
        out, named, calls = [], {}, {}
        n = [0]

        def name(v):
            n[0] += 1
            return f"{prefix}{n[0]}"

        def body(v):
            a = v.args
            if v.op == "add":
                return f"{term(a[0])} + {term(a[1], True)}"
            if v.op == "sub":
                return f"{term(a[0])} - {term(a[1], True)}"
            if v.op == "mul":
                return f"{factor(a[0])}*{factor(a[1], True)}"
            if v.op == "div":
                return f"{factor(a[0])} / {factor(a[1], True)}"
            if v.op == "neg":
                return f"-{factor(a[0], True)}"
            if v.op == "sqrt":
                return f"exact.Sqrt({atom(a[0])})"
            if v.op == "abs":
                return f"exact.Abs({atom(a[0])})"
            raise ValueError(v.op)

        def is_named(v):
            return v in known or v in named

        def atom(v):
            """The expression of v, which must have been prepared."""
            if v.op == "const":
                return text(v.args[0])
            if v.op in ("load", "var"):
                return v.args[0]
            if v in known:
                return known[v]
            if v in named:
                return named[v]
            return body(v)

        def term(v, right=False):
            """As an operand of a sum: products are rounded first, and quotients, which may be computed as products."""
            s = atom(v)
            if v.op in ("const", "load", "var") or is_named(v):
                return f"({s})" if s.startswith("-") else s
            if v.op in ("mul", "div"):
                return f"float64({s})"
            if v.op in ("add", "sub", "neg"):
                return f"({s})"
            return s

        def factor(v, right=False):
            s = atom(v)
            if v.op in ("const", "load", "var") or is_named(v):
                return f"({s})" if s.startswith("-") else s
            if v.op == "mul":
                return f"float64({s})"
            if v.op in ("add", "sub", "neg") or right and v.op == "div":
                return f"({s})"
            return s

        def prepare(v):
            """Writes the statements that v needs, and v itself if it is used again or long."""
            if v.op in ("const", "load", "var") or is_named(v):
                return
            if v.op == "result":
                made, i = v.args
                if made not in calls:
                    for a in made.args[2:]:
                        prepare(a)
                    left = [name(v) for _ in range(made.args[1])]
                    wanted = [uses.get(Value("result", made, k), 0) > 0 for k in range(made.args[1])]
                    arguments = ", ".join(atom(a) for a in made.args[2:])
                    out.append(f"{', '.join(l if w else '_' for l, w in zip(left, wanted))} := {made.args[0]}({arguments})")
                    calls[made] = left
                named[v] = calls[made][i]
                return
            for a in v.args:
                prepare(a)
            if uses.get(v, 0) > 1 or inline(v) > INLINE:
                s = body(v)
                if v.op in ("mul", "div"):
                    s = f"float64({s})"
                named[v] = ""
                named[v] = name(v)
                out.append(f"{named[v]} := {s}")

        def inline(v):
            if v.op in ("const", "load", "var") or is_named(v):
                return 0
            return 1 + sum(inline(a) for a in v.args if isinstance(a, Value))

        for place, v in stores:
            prepare(v)
            if place:
                out.append(f"{place} = {atom(v)}")
                if v.op not in ("const", "load", "var") and place.startswith("d."):
                    known[v] = named.get(v, place) if v in named else place
        return out, {v: p for v, p in known.items()}, n[0]

    def functions(self, receiver, title, comment, segments, spill):
        """Writes stores as one function or more, which are to be called in order. Returns text and names.

        A segment is a list of stores, and the name of a function of the program that runs after it, or "". What a later
        function needs of an earlier one is kept in places spill[0], spill[1], ...; the number of those is the third
        result.
        """
        parts, after = [], []
        for stores, function in segments:
            i = 0
            while i < len(stores):
                low, high = i + 1, len(stores)
                before = self.places([s for p in parts for s in p] + stores[:i])
                while True:  # the longest run of stores whose variables fit
                    _, _, n = self.lines(stores[i:high], before)
                    if n <= self.limit or high <= low:
                        break
                    high = i + max(1, (high - i) * self.limit // (n + 1))
                parts.append(list(stores[i:high]))
                after.append(function if high == len(stores) else "")
                i = high
        made, kept = {}, {}  # where a Value is computed first, and where it is kept
        for k, part in enumerate(parts):
            stored = self.places([s for p in parts[:k] for s in p])
            stack, seen = [v for _, v in reversed(part)], set()
            while stack:
                v = stack.pop()
                if not isinstance(v, Value) or v.op in ("const", "load", "var") or v in seen or v in stored:
                    continue
                seen.add(v)
                cheap = v.op in ("add", "sub", "mul", "neg") and all(
                    a.op in ("const", "load", "var") or a in stored or a in kept for a in v.args)
                if made.get(v, k) < k and v.op != "call" and not cheap:
                    kept.setdefault(v, f"{spill}[{len(kept)}]")
                    continue
                stack += [a for a in v.args if isinstance(a, Value)]
            for v in seen:
                if v not in kept:
                    made.setdefault(v, k)
        for v, place in kept.items():
            parts[made[v]].append((place, v))
        names, out = [], []
        for k, part in enumerate(parts):
            lines, _, _ = self.lines(part, self.places([s for p in parts[:k] for s in p]))
            function = title if len(parts) == 1 else f"{title}{k + 1}"
            names += [function] + [after[k]] * bool(after[k])
            words = f"{function} {comment}" if k == 0 else f"{function} continues."
            out.append(f"// {words}\nfunc ({receiver}) {function}() {{\n"
                       + "".join("\t" + l + "\n" for l in lines) + "}\n\n")
        return "".join(out), names, len(kept)

    @staticmethod
    def places(stores):
        """Where the Values of stores are afterwards, and those that differ from them in their sign."""
        known = {}
        for place, v in stores:
            if v.op in ("const", "load", "var"):
                continue
            known.setdefault(v, place)
            if v.op == "neg":
                known.setdefault(v.args[0], "-" + place)
            if v.op == "sub":
                known.setdefault(Value("sub", v.args[1], v.args[0]), "-" + place)
        return known
