"""The three passes of a quasi-Newton step on a GPU, each one kernel; what they do is in torch_deck.py and passes.py.

Every program takes one piece and writes its sums in double; those are added up in a fixed order. Up to eight pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

from .numpy import Array

_BLOCK, _STEPS, _LANES = 512, 16, 8


@triton.jit
def _back(g, T, asked, scaling, out, dots, size, row, COUNT: tl.constexpr, BLOCK: tl.constexpr, STEPS: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, 8)
    used = lane < COUNT
    at = tl.load(asked + 2 + lane, mask=used, other=0.0).to(tl.int64) * row
    weight = tl.load(asked + 10 + lane, mask=used, other=0.0).to(tl.float32)
    total = tl.zeros((8,), tl.float64)
    for step in range(STEPS):
        e = (i * STEPS + step) * BLOCK + tl.arange(0, BLOCK)
        there = e < size
        both = used[:, None] & there[None, :]
        t = tl.load(T + at[:, None] + e[None, :], mask=both, other=0.0).to(tl.float32)
        held = tl.load(g + e, mask=there, other=0.0).to(tl.float32) - tl.sum(weight[:, None] * t, axis=0)
        held = held * tl.load(scaling + e, mask=there, other=0.0).to(tl.float32)
        tl.store(out + e, held, mask=there)
        total += tl.sum((t * held[None, :]).to(tl.float64), axis=1)
    tl.store(dots + i * COUNT + lane, total, mask=used)


@triton.jit
def _forth(
    r, S, asked, g, Y, d, ahead, sums, size, row, COUNT: tl.constexpr, BLOCK: tl.constexpr, STEPS: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, 8)
    used = lane < COUNT
    at = tl.load(asked + 2 + lane, mask=used, other=0.0).to(tl.int64) * row
    weight = tl.load(asked + 10 + lane, mask=used, other=0.0).to(tl.float32)
    by = tl.load(asked).to(tl.float32)
    fall = tl.zeros((BLOCK,), tl.float64)
    length = tl.zeros((BLOCK,), tl.float64)
    norm = tl.zeros((BLOCK,), tl.float64)
    for step in range(STEPS):
        e = (i * STEPS + step) * BLOCK + tl.arange(0, BLOCK)
        there = e < size
        both = used[:, None] & there[None, :]
        s = tl.load(S + at[:, None] + e[None, :], mask=both, other=0.0).to(tl.float32)
        held = -by * tl.load(r + e, mask=there, other=0.0) - tl.sum(weight[:, None] * s, axis=0)
        kept = held.to(d.dtype.element_ty)
        tl.store(d + e, kept, mask=there)
        held = kept.to(tl.float32)  # the step is the pair that is kept, to the last bit
        beyond = tl.load(Y + e, mask=there, other=0.0) + held
        tl.store(ahead + e, beyond, mask=there)
        wide, far = held.to(tl.float64), beyond.to(tl.float64)
        fall += wide * tl.load(g + e, mask=there, other=0.0).to(tl.float64)
        length += wide * wide
        norm += far * far
    tl.store(sums + i * 3, tl.sum(fall, axis=0))
    tl.store(sums + i * 3 + 1, tl.sum(length, axis=0))
    tl.store(sums + i * 3 + 2, tl.sum(norm, axis=0))


@triton.jit
def _turn(
    product, ahead, asked, g, S, d, scaling, t, dots, size, row, COUNT: tl.constexpr, BLOCK: tl.constexpr,
    STEPS: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, 8)
    used = lane < COUNT
    at = tl.load(asked + 2 + lane, mask=used, other=0.0).to(tl.int64) * row
    total = tl.zeros((8,), tl.float64)
    along = tl.zeros((BLOCK,), tl.float64)
    bend = tl.zeros((BLOCK,), tl.float64)
    scaled = tl.zeros((BLOCK,), tl.float64)
    norm = tl.zeros((BLOCK,), tl.float64)
    f, less = tl.load(asked), tl.load(asked + 1)
    for step in range(STEPS):
        e = (i * STEPS + step) * BLOCK + tl.arange(0, BLOCK)
        there = e < size
        both = used[:, None] & there[None, :]
        p = tl.load(product + e, mask=there, other=0.0).to(tl.float64)
        new = f * (p - less * tl.load(ahead + e, mask=there, other=0.0).to(tl.float64))
        old = tl.load(g + e, mask=there, other=0.0)
        kept = new.to(old.dtype)
        change = (kept.to(tl.float64) - old.to(tl.float64)).to(t.dtype.element_ty)
        tl.store(t + e, change, mask=there)
        tl.store(g + e, kept, mask=there)
        turned, moved = change.to(tl.float64), tl.load(d + e, mask=there, other=0.0).to(tl.float64)
        along += moved * kept.to(tl.float64)
        bend += moved * turned
        scaled += turned * turned * tl.load(scaling + e, mask=there, other=0.0).to(tl.float64)
        norm += turned * turned
        s = tl.load(S + at[:, None] + e[None, :], mask=both, other=0.0).to(tl.float32)
        total += tl.sum((s * kept.to(tl.float32)[None, :]).to(tl.float64), axis=1)
    out = dots + i * (COUNT + 4)
    tl.store(out + lane, total, mask=used)
    out += COUNT
    tl.store(out, tl.sum(along, axis=0))
    tl.store(out + 1, tl.sum(bend, axis=0))
    tl.store(out + 2, tl.sum(scaled, axis=0))
    tl.store(out + 3, tl.sum(norm, axis=0))


class Passes:
    """See ``TorchDeck``. What a pass is told travels as one tensor: two factors, eight slots, their numbers."""

    def back(self, g: Any, T: Any, slots: list[int], a: Array, scaling: Any, out: Any) -> Array:
        asked, grid, sums = self._asked(g, slots, len(slots), a)
        _back[(grid,)](g, T, asked, scaling, out, sums, g.numel(), T.stride(0), len(slots), _BLOCK, _STEPS)
        return np.asarray(sums.sum(0).cpu().numpy())

    def forth(
        self, r: Any, factor: float, S: Any, slots: list[int], c: Array, g: Any, Y: Any, free: int, ahead: Any
    ) -> Array:
        asked, grid, sums = self._asked(g, slots, 3, c, factor)
        _forth[(grid,)](r, S, asked, g, Y, S[free], ahead, sums, g.numel(), S.stride(0), len(slots), _BLOCK, _STEPS)
        return np.asarray(sums.sum(0).cpu().numpy())

    def turn(
        self, product: Any, ahead: Any, lean: float, factor: float, g: Any, S: Any, slots: list[int], free: int,
        scaling: Any, t: Any,
    ) -> Array:  # fmt: skip
        asked, grid, sums = self._asked(g, slots, len(slots) + 4, factor=factor, lean=lean)
        _turn[(grid,)](
            product, ahead, asked, g, S, S[free], scaling, t, sums, g.numel(), S.stride(0), len(slots), _BLOCK, _STEPS
        )
        return np.asarray(sums.sum(0).cpu().numpy())

    def _asked(
        self, g: torch.Tensor, slots: list[int], width: int, numbers: Any = (), factor: float = 0.0, lean: float = 0.0
    ) -> tuple[torch.Tensor, int, torch.Tensor]:
        """What the passes are told, how many programs there are, and where their sums go."""
        told = np.zeros(2 + 2 * _LANES)
        told[:2] = factor, lean
        told[2 : 2 + len(slots)] = slots
        told[2 + _LANES : 2 + _LANES + len(numbers)] = numbers
        grid = -(-g.numel() // (_BLOCK * _STEPS))
        sums = torch.empty((grid, width), dtype=torch.float64, device=g.device)
        return torch.as_tensor(told, device=g.device), grid, sums
