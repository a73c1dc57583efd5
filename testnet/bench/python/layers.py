"""How fast numpy, torch and jax compute the layers of policies on one core, each in its fastest way.

    python layers.py numpy 4     # one library, some 4 seconds for each of its ways; run.sh calls it for all

Prints one JSON line per way: library, version, shape, way, value in GMAC/s of the fastest slice. A pass is all layers
with biases and no activation; every candidate has its own weights, and observations and outputs are in memory. Shapes are
those of evonode bench kernel. Every way is checked against float64 before it is timed.
"""
import json
import sys
import time

import numpy

SHAPES = {  # name: widths, candidates, observations of each
    "24-64-64-4 of 256 candidates x 1": ((24, 64, 64, 4), 256, 1),
    "24-64-64-4 of 256 candidates x 16": ((24, 64, 64, 4), 256, 16),
    "376-256-256-17": ((376, 256, 256, 17), 1, 1),
}


def data(widths, candidates, rows):
    """x [candidates, rows, in], weights [candidates, in, out], biases [candidates, 1, out]."""
    g = numpy.random.default_rng(1)
    normal = lambda *shape: g.standard_normal(shape, dtype=numpy.float32)
    pairs = list(zip(widths, widths[1:]))
    return (normal(candidates, rows, widths[0]), [normal(candidates, i, o) / numpy.float32(i**0.5) for i, o in pairs],
            [normal(candidates, 1, o) for _, o in pairs])


def turned(ws):
    """The weights with inputs last, as torch's linear layers have them."""
    return [numpy.ascontiguousarray(w.transpose(0, 2, 1)) for w in ws]


def numpy_ways(x, ws, bs):
    single = len(x) == 1
    hs = [numpy.empty((len(x), x.shape[1], w.shape[2]), numpy.float32) for w in ws]
    ts = turned(ws)

    def matmul():
        y = x
        for w, b, h in zip(ws, bs, hs):
            numpy.matmul(y, w, out=h)
            y = numpy.add(h, b, out=h)
        return y

    def matmul_turned():
        y = x
        for t, b, h in zip(ts, bs, hs):
            numpy.matmul(y, t.transpose(0, 2, 1), out=h)
            y = numpy.add(h, b, out=h)
        return y

    def einsum():
        y = x
        for w, b in zip(ws, bs):
            y = numpy.einsum("cri,cio->cro", y, w) + b
        return y

    def each():  # one candidate after the other, as in a rollout
        for c in range(len(x)):
            y = x[c]
            for w, b, h in zip(ws, bs, hs):
                numpy.dot(y, w[c], out=h[c])
                y = numpy.add(h[c], b[c], out=h[c])
        return hs[-1]

    yield "matmul", matmul
    yield "matmul, inputs last", matmul_turned
    yield "einsum", einsum
    yield "dot of each", each
    if single and x.shape[1] == 1:
        x1, w1, b1, t1, h1 = x[0, 0], [w[0] for w in ws], [b[0, 0] for b in bs], [t[0] for t in ts], [h[0, 0] for h in hs]

        def vector(weights, left):
            y = x1
            for w, b, h in zip(weights, b1, h1):
                numpy.dot(w, y, out=h) if left else numpy.dot(y, w, out=h)
                y = numpy.add(h, b, out=h)
            return y

        yield "vector times matrix", lambda: vector(w1, False)
        yield "matrix times vector", lambda: vector(t1, True)


def torch_ways(x, ws, bs):
    import torch
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    single = len(x) == 1
    x, ws, bs, ts = torch.from_numpy(x), [torch.from_numpy(w) for w in ws], [torch.from_numpy(b) for b in bs], [torch.from_numpy(t) for t in turned(ws)]

    def baddbmm(x, ws, bs):
        for w, b in zip(ws, bs):
            x = torch.baddbmm(b, x, w)
        return x

    def baddbmm_turned(x, ts, bs):
        for t, b in zip(ts, bs):
            x = torch.baddbmm(b, x, t.transpose(1, 2))
        return x

    def einsum(x, ws, bs):
        for w, b in zip(ws, bs):
            x = torch.einsum("cri,cio->cro", x, w) + b
        return x

    def products(x, ws, bs):  # no library for matrices: what a compiler may make vectors of
        for w, b in zip(ws, bs):
            x = (x.transpose(1, 2) * w).sum(1, keepdim=True) + b
        return x

    ways = [("baddbmm", baddbmm, ws), ("baddbmm, inputs last", baddbmm_turned, ts), ("einsum", einsum, ws)]
    if x.shape[1] == 1:
        ways.append(("products", products, ws))
    for name, f, weights in ways:
        yield name, lambda f=f, weights=weights: f(x, weights, bs)
    if single:
        x1, b1, t1 = x[0], [b[0, 0] for b in bs], [t[0] for t in ts]

        def linear(x, ts, bs):
            for t, b in zip(ts, bs):
                x = torch.nn.functional.linear(x, t, b)
            return x

        yield "linear", lambda: linear(x1, t1, b1)
        ways.append(("linear", None, None))
        yield from compiled(torch, "linear", linear, (x1, t1, b1))
    for name, f, weights in ways:
        if f is not None:
            yield from compiled(torch, name, f, (x, weights, bs))


def compiled(torch, name, f, args):
    torch._dynamo.reset()
    g = torch.compile(f)
    try:
        g(*args)
    except Exception as fault:  # no C++ compiler, for example
        print(f"torch.compile of {name} fails: {str(fault).splitlines()[0]}", file=sys.stderr)
        return
    yield f"{name}, compiled", lambda: g(*args)


def jax_ways(x, ws, bs):
    import jax
    import jax.numpy as jnp
    exact = jax.lax.Precision.HIGHEST

    def matmul(x, ws, bs):
        for w, b in zip(ws, bs):
            x = jnp.matmul(x, w, precision=exact) + b
        return x

    def matmul_turned(x, ts, bs):
        for t, b in zip(ts, bs):
            x = jnp.einsum("cri,coi->cro", x, t, precision=exact) + b
        return x

    def products(x, ws, bs):
        for w, b in zip(ws, bs):
            x = jnp.sum(x[:, :, :, None] * w[:, None], axis=2) + b
        return x

    def vector(x, ws, bs):
        x = x[0, 0]
        for w, b in zip(ws, bs):
            x = jnp.dot(x, w[0], precision=exact) + b[0, 0]
        return x

    ways = [("matmul", matmul, ws), ("matmul, inputs last", matmul_turned, turned(ws)), ("products", products, ws)]
    if x.shape[:2] == (1, 1):
        ways.append(("vector times matrix", vector, ws))
    for name, f, weights in ways:
        args = jax.device_put((x, weights, bs))
        g = jax.jit(f)
        yield f"{name}, jit", lambda g=g, args=args: g(*args).block_until_ready()


WAYS = {"numpy": numpy_ways, "torch": torch_ways, "jax": jax_ways}


def fastest(f, seconds):
    """The time of a call in the fastest slice of half a millisecond or more."""
    f()
    repeat = 1
    while True:
        begin = time.perf_counter()
        for _ in range(repeat):
            f()
        took = time.perf_counter() - begin
        if took >= 5e-4:
            break
        repeat *= 2
    best, end = took, time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        for _ in range(repeat):
            f()
        best = min(best, time.perf_counter() - begin)
    return best / repeat


def main():
    library, seconds = sys.argv[1], float(sys.argv[2])
    version = __import__(library).__version__
    for name, (widths, candidates, rows) in SHAPES.items():
        x, ws, bs = data(widths, candidates, rows)
        want = x.astype(numpy.float64)
        for w, b in zip(ws, bs):
            want = want @ w.astype(numpy.float64) + b
        pairs = candidates * rows * sum(i * o for i, o in zip(widths, widths[1:]))
        for way, f in WAYS[library](x, ws, bs):
            got = numpy.asarray(f()).reshape(want.shape)
            if not numpy.allclose(got, want, atol=1e-3):
                raise SystemExit(f"{library} {way} computes something else for {name}")
            print(json.dumps({"library": library, "version": version, "shape": name, "way": way, "value": pairs / fastest(f, seconds) / 1e9}), flush=True)


if __name__ == "__main__":
    main()
