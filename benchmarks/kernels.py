"""Every kernel against what this machine can do: its flop rate, its memory bandwidth, and a bare read of the same rows.

The limits are measured here, in the same run, with the same threads: multiply-adds on numbers in the first-level cache,
a sum over an array far larger than any cache, and, for products with a block, a loop that reads the very rows that the
kernel reads, in the same order, and does nothing else with them. The limit that binds is the slower of the last two
and the flop rate; a kernel's figure is the time at that limit over the time it takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numba
import numpy as np

import spectraplex as sx
from spectraplex.datasets import Ratings, ratings_like
from spectraplex.places import deck as quasi_newton
from spectraplex.places import numpy as arrays
from spectraplex.places.pattern import Pattern
from spectraplex.places.threads import workers

from .data import problem, ratings

GOAL = 0.5


@numba.njit(nogil=True, fastmath={"reassoc", "contract"})
def _multiply_add(a, x, times):  # type: ignore[no-untyped-def]
    """Horner's rule, 16 multiply-adds for every number loaded: the arithmetic units alone are busy."""
    for _ in range(times):
        for e in range(np.uint64(a.size)):
            t = a[e]
            for _ in range(16):
                t = t * x + 0.5
            a[e] = t


@numba.njit(nogil=True, fastmath={"reassoc", "contract"})
def _sum(low, high, a):  # type: ignore[no-untyped-def]
    total = 0.0
    for e in range(low, high):
        total += a[e]
    return total


@numba.njit(nogil=True, fastmath={"reassoc", "contract"})
def _read_rows(low, high, indptr, indices, V, out):  # type: ignore[no-untyped-def]
    """Touch every row that a product touches; one addition per number, no other work."""
    columns = np.uint64(V.shape[1])
    for row in range(low, high):
        first, last = indptr[row], indptr[row + np.uint64(1)]
        whole = first + (last - first) // np.uint64(4) * np.uint64(4)
        total = 0.0
        for e in range(first, whole, np.uint64(4)):
            p, q = indices[e], indices[e + np.uint64(1)]
            r, s = indices[e + np.uint64(2)], indices[e + np.uint64(3)]
            for k in range(columns):
                total += (V[p, k] + V[q, k]) + (V[r, k] + V[s, k])
        for e in range(whole, last):
            for k in range(columns):
                total += V[indices[e], k]
        out[row] = total


def best(job: Callable[[], object], repeats: int = 7) -> float:
    """The shortest of a few times: the others were disturbed."""
    job()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        job()
        times.append(time.perf_counter() - began)
    return min(times)


def flop_rate() -> float:
    """Multiply-adds per second, all threads."""
    blocks = [np.ones(1024) for _ in range(workers.count)]
    seconds = best(lambda: workers.share(lambda i: _multiply_add(blocks[i], 0.5, 10_000), workers.count))
    return workers.count * 1024 * 16 * 10_000 / seconds


def bandwidth() -> float:
    """Bytes read per second from memory, all threads."""
    large = np.ones(40_000_000)
    seconds = best(lambda: arrays.in_pieces(large.size, lambda _, low, high: _sum(low, high, large)))
    return large.nbytes / seconds


def run() -> Iterator[str]:
    flops, stream = flop_rate(), bandwidth()
    yield (
        f"this machine, {workers.count} threads: {flops / 1e9:.1f}e9 multiply-adds a second in double precision, "
        f"{stream / 1e9:.1f} GB/s from memory"
    )
    wide = ratings_like(100_000, 20_000, 10_000_000)
    for table, ranks in ((ratings("100k"), (16, 128)), (ratings("1m"), (64, 232)), (wide, (32,))):
        pattern = problem(table, 1.0).objective.pattern
        for rank in ranks:
            yield from _products(table, pattern, rank, flops)
        yield from _passes(table, pattern, stream)
    yield from _serial(ratings("100k"))


def _products(table: Ratings, pattern: Pattern, rank: int, flops: float) -> Iterator[str]:
    rng = np.random.default_rng(0)
    m, n = pattern.shape
    data = rng.standard_normal(pattern.size)
    flipped, turned = pattern.flip(data)
    for kind in (np.float64, np.float32):
        U, V = rng.standard_normal((m, rank)).astype(kind), rng.standard_normal((n, rank)).astype(kind)
        work = pattern.size * rank
        for name, job, there, block in (
            ("sampled product", lambda U=U, V=V: pattern.sample(U, V), pattern, V),
            ("sparse × block", lambda V=V: pattern.multiply(data, V), pattern, V),
            ("its transpose", lambda U=U: flipped.multiply(turned, U), flipped, U),
        ):
            out = np.empty(there.shape[0])
            rows = best(lambda there=there, block=block, out=out, work=work: there.sweep(_read_rows, work, block, out))
            seconds = best(job)
            limit = max(rows, work / flops)
            yield (
                f"{len(table):9d} observations, rank {rank:3d}, {np.dtype(kind).name}: {name:15s} "
                f"{1e3 * seconds:7.2f} ms, {work / seconds / 1e9:5.1f}e9 multiply-adds/s, "
                f"{100 * work / flops / seconds:3.0f} % of the flop rate, "
                f"{100 * rows / seconds:3.0f} % of a bare read of the rows: "
                f"{100 * limit / seconds:3.0f} % of the limit {_met(limit / seconds)}"
            )


def _passes(table: Ratings, pattern: Pattern, stream: float) -> Iterator[str]:
    """Passes over long vectors: bytes moved against the bandwidth (more than all of it: they were in cache)."""
    rng = np.random.default_rng(0)
    z, b, dz = (rng.standard_normal(pattern.size) for _ in range(3))
    size = 40 * sum(pattern.shape)
    Y, g, ahead = (rng.standard_normal(size).astype(np.float32) for _ in range(3))
    S, T = (rng.standard_normal((7, size)).astype(np.float32) for _ in range(2))
    at, c, scaling = np.arange(6), rng.standard_normal(6), np.ones(size, np.float32)
    work, product = np.empty(size, np.float32), rng.standard_normal(size)
    for name, job, moved in (
        ("slope of a squared loss", lambda: arrays.squared(z, b, None), 24 * z.size),
        ("image along a line", lambda: arrays.blend(1.0, z, 0.5, dz), 24 * z.size),
        ("entries transposed", lambda: pattern.flip(z), 20 * z.size),
        ("quasi-Newton, back", lambda: quasi_newton.back(g, T, at, c, scaling, work, False), 4 * 9 * size),
        (
            "quasi-Newton, forth",
            lambda: quasi_newton.forth(work, 1.0, S, at, c, g, Y, S[6], ahead, False),
            4 * 11 * size,
        ),
        (
            "quasi-Newton, turn",
            lambda: quasi_newton.turned(product, ahead, 0.0, 1.0, g, S, at, S[6], scaling, T[6], False),
            4 * 14 * size,
        ),
    ):
        seconds = best(job)
        rate = moved / seconds
        yield (
            f"{len(table):9d} observations, {name:24s} {1e3 * seconds:7.2f} ms, {rate / 1e9:5.1f} GB/s, "
            f"{100 * rate / stream:3.0f} % of the bandwidth {_met(rate / stream)}"
        )


def _serial(table: Ratings) -> Iterator[str]:
    """The kernels on one thread against all: what the second core brings, and what sharing costs."""
    pattern = problem(table, 1.0).objective.pattern
    V = np.random.default_rng(0).standard_normal((pattern.shape[1], 128))
    data = np.ones(pattern.size)
    all_threads = best(lambda: pattern.multiply(data, V), 20)
    before = sx.set_threads(1)
    one = best(lambda: pattern.multiply(data, V), 20)
    sx.set_threads(before)
    gain = f"{one / all_threads:.2f}× as fast on {before} threads as on one"
    yield f"{len(table):9d} observations, sparse × 128 columns: {gain}"


def _met(share: float) -> str:
    return "" if share >= GOAL else f"(goal {100 * GOAL:.0f} %: MISSED)"
