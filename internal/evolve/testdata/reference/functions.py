"""The four test functions, to be minimised, for any array module, over the last axis."""

import math

ELLIPSOID_CONDITION = 1e6


def sphere(xp, x):
    return (x * x).sum(-1)


def ellipsoid(xp, x):
    """Axis-parallel, condition 1e6: 10^(6 i/(n-1)) on coordinate i."""
    n = x.shape[-1]
    scale = xp.asarray([ELLIPSOID_CONDITION ** (i / (n - 1)) for i in range(n)], dtype=x.dtype)
    return (scale * x * x).sum(-1)


def ellipsoid3(xp, x):
    """Axis-parallel, condition 1e3."""
    n = x.shape[-1]
    scale = xp.asarray([1e3 ** (i / (n - 1)) for i in range(n)], dtype=x.dtype)
    return (scale * x * x).sum(-1)


def rosenbrock(xp, x):
    a, b = x[..., :-1], x[..., 1:]
    return (100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2).sum(-1)


def rastrigin(xp, x):
    return (x * x + 10.0 * (1.0 - xp.cos(2.0 * math.pi * x))).sum(-1)


FUNCTIONS = {
    "sphere": sphere,
    "ellipsoid": ellipsoid,
    "ellipsoid-1e3": ellipsoid3,
    "rosenbrock": rosenbrock,
    "rastrigin": rastrigin,
}
