"""Fused kernels along an observed pattern, in Triton: products, samples, and a loss with one side's gradient in a pass.

Written by hand because neither Torch nor cuSPARSE samples U·Vᴴ, takes the slope of a loss and multiplies with the same
gathered rows. Rows are cut into *segments* of a few hundred entries, one program each (or one lane, where they are
short and the block is narrow). The sums of a long row's segments are folded in a fixed order, so results are the same
bits on every run. Lanes beyond a rank that is no power of two load nothing: these kernels wait for memory, so the rank
costs what it is.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _slope(z, b, w, delta, LOSS: tl.constexpr, WEIGHTED: tl.constexpr):  # type: ignore[no-untyped-def]
    """Value and slope of the loss of every entry: squared, Huber, logistic."""
    if LOSS == 0:
        r = z - b
        value, slope = 0.5 * r * r, r
    elif LOSS == 1:
        r = z - b
        size = tl.abs(r)
        inside = tl.minimum(size, delta)
        value, slope = inside * (size - 0.5 * inside), r * (delta / tl.maximum(size, delta))
    else:
        margin = b * z
        small = tl.exp(-tl.abs(margin))
        value = tl.maximum(-margin, 0.0) + tl.log(1.0 + small)
        chance = tl.where(margin >= 0.0, small, 1.0) / (1.0 + small)
        slope = -b * chance
    if WEIGHTED:
        value, slope = value * w, slope * w
    return value, slope


@triton.jit
def fused(
    seg_row, seg_low, seg_high, seg_slot, indices, targets, weights, delta, scale, P, Q, out, part, values, pairs,
    width,
    LOSS: tl.constexpr, WEIGHTED: tl.constexpr, VALUE: tl.constexpr, TILE: tl.constexpr, K: tl.constexpr,
    EVEN: tl.constexpr,
):  # fmt: skip
    """One segment: z = scale·p·q for its entries, the slope there, and Σ slope·q; P has the rows, Q is gathered."""
    i = tl.program_id(0)
    row = tl.load(seg_row + i).to(tl.int64)
    low, high, slot = tl.load(seg_low + i), tl.load(seg_high + i), tl.load(seg_slot + i)
    c = tl.arange(0, K)
    inside = c < width
    if EVEN:
        p = scale * tl.load(P + row * width + c)
    else:
        p = scale * tl.load(P + row * width + c, mask=inside, other=0.0)
    acc = tl.zeros((K,), tl.float32)
    total = tl.zeros((TILE,), tl.float32)  # of one segment; segments are added up in double
    match = tl.zeros((TILE,), tl.float32)
    for first in range(low, high, TILE):
        e = first + tl.arange(0, TILE)
        there = e < high
        at = tl.load(indices + e, mask=there, other=0).to(tl.int64) * width
        if EVEN:
            q = tl.load(Q + at[:, None] + c[None, :], mask=there[:, None], other=0.0)
        else:
            q = tl.load(Q + at[:, None] + c[None, :], mask=there[:, None] & inside[None, :], other=0.0)
        z = tl.sum(q * p[None, :], axis=1)
        b = tl.load(targets + e, mask=there, other=0.0)
        w = b
        if WEIGHTED:
            w = tl.load(weights + e, mask=there, other=0.0)
        value, slope = _slope(z, b, w, delta, LOSS, WEIGHTED)
        slope = tl.where(there, slope, 0.0)
        if VALUE:
            total += tl.where(there, value, 0.0)
            match += slope * z
        acc += tl.sum(q * slope[:, None], axis=0)
    if VALUE:
        tl.store(values + i, tl.sum(total.to(tl.float64), axis=0))
        tl.store(pairs + i, tl.sum(match.to(tl.float64), axis=0))
    base = out + row * width
    if slot >= 0:
        base = part + slot.to(tl.int64) * width
    if EVEN:
        tl.store(base + c, acc)
    else:
        tl.store(base + c, acc, mask=inside)


@triton.jit
def multiply(
    seg_row,
    seg_low,
    seg_high,
    seg_slot,
    indices,
    data,
    Q,
    out,
    part,
    width,
    TILE: tl.constexpr,
    K: tl.constexpr,
    WIDE: tl.constexpr,
):  # type: ignore[no-untyped-def]
    """One segment: Σ data·q, K columns of a block; sums in double where the block is."""
    i, column = tl.program_id(0), tl.program_id(1)
    row = tl.load(seg_row + i).to(tl.int64)
    low, high, slot = tl.load(seg_low + i), tl.load(seg_high + i), tl.load(seg_slot + i)
    c = column * K + tl.arange(0, K)
    inside = c < width
    acc = tl.zeros((K,), tl.float64 if WIDE else tl.float32)
    for first in range(low, high, TILE):
        e = first + tl.arange(0, TILE)
        there = e < high
        at = tl.load(indices + e, mask=there, other=0).to(tl.int64) * width
        y = tl.load(data + e, mask=there, other=0.0)
        q = tl.load(Q + at[:, None] + c[None, :], mask=there[:, None] & inside[None, :], other=0.0)
        acc += tl.sum(q * y.to(q.dtype)[:, None], axis=0)
    base = out + row * width
    if slot >= 0:
        base = part + slot.to(tl.int64) * width
    tl.store(base + c, acc, mask=inside)


@triton.jit
def narrow(
    seg_row, seg_low, seg_high, seg_slot, indices, data, Q, out, part, width, count, ROWS: tl.constexpr,
    WIDE: tl.constexpr,
):  # fmt: skip
    """Many short segments, one lane each: Σ data·q of one column."""
    i, c = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.program_id(1)
    used = i < count
    row = tl.load(seg_row + i, mask=used, other=0).to(tl.int64)
    low, high = tl.load(seg_low + i, mask=used, other=0), tl.load(seg_high + i, mask=used, other=0)
    slot = tl.load(seg_slot + i, mask=used, other=-1).to(tl.int64)
    acc = tl.zeros((ROWS,), tl.float64 if WIDE else tl.float32)
    for k in range(0, tl.max(high - low, axis=0)):
        e = low + k
        there = e < high
        at = tl.load(indices + e, mask=there, other=0).to(tl.int64) * width + c
        q = tl.load(Q + at, mask=there, other=0.0)
        acc += q * tl.load(data + e, mask=there, other=0.0).to(q.dtype)
    tl.store(out + row * width + c, acc, mask=used & (slot < 0))
    tl.store(part + slot * width + c, acc, mask=used & (slot >= 0))


@triton.jit
def fold(long_row, long_first, long_last, part, out, width, K: tl.constexpr):  # type: ignore[no-untyped-def]
    """The segments of one long row, added up in their order."""
    i, column = tl.program_id(0), tl.program_id(1)
    row = tl.load(long_row + i).to(tl.int64)
    first, last = tl.load(long_first + i), tl.load(long_last + i)
    c = column * K + tl.arange(0, K)
    inside = c < width
    acc = tl.zeros((K,), tl.float64)
    at = part + first.to(tl.int64) * width + c
    for _ in range(first, last):
        acc += tl.load(at, mask=inside, other=0.0).to(tl.float64)
        at += width
    tl.store(out + row * width + c, acc, mask=inside)


@triton.jit
def sample(
    seg_row,
    seg_low,
    seg_high,
    indices,
    P,
    Q,
    s,
    out,
    width,
    TILE: tl.constexpr,
    K: tl.constexpr,
):  # type: ignore[no-untyped-def]
    """One segment: z = Σ_k p_k s_k q_k, K columns at a time, summed in double."""
    i = tl.program_id(0)
    row = tl.load(seg_row + i).to(tl.int64)
    low, high = tl.load(seg_low + i), tl.load(seg_high + i)
    for first in range(low, high, TILE):
        e = first + tl.arange(0, TILE)
        there = e < high
        at = tl.load(indices + e, mask=there, other=0).to(tl.int64) * width
        z = tl.zeros((TILE,), tl.float64)
        for column in range(0, width, K):
            c = column + tl.arange(0, K)
            inside = c < width
            p = tl.load(P + row * width + c, mask=inside, other=0.0).to(tl.float64)
            p = p * tl.load(s + c, mask=inside, other=0.0)
            q = tl.load(Q + at[:, None] + c[None, :], mask=there[:, None] & inside[None, :], other=0.0)
            z += tl.sum(q.to(tl.float64) * p[None, :], axis=1)
        tl.store(out + e, z, mask=there)
