"""Marks of tall blocks on a GPU in one pass; what they are is in marks.py."""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl

from .numpy import Array

_BLOCK, _STEPS = 1024, 16


@triton.jit
def _first(state, word):
    state = (state ^ word) + 0x9E3779B97F4A7C15
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB
    return state ^ (state >> 31)


@triton.jit
def _second(state, word):
    state = (state ^ word) + 0x9E3779B97F4A7C15
    state = (state ^ (state >> 33)) * 0xFF51AFD7ED558CCD
    state = (state ^ (state >> 33)) * 0xC4CEB9FE1A85EC53
    return state ^ (state >> 33)


@triton.jit
def _numbers(words, first_row, width, size, out, BLOCK: tl.constexpr, STEPS: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    one = tl.zeros((BLOCK,), tl.uint64)
    two = tl.zeros((BLOCK,), tl.uint64)
    for step in range(STEPS):
        e = (i * STEPS + step) * BLOCK + tl.arange(0, BLOCK)
        there = e < size
        word = tl.load(words + e, mask=there, other=0)
        if word.dtype == tl.int32:
            word = word.to(tl.uint32, bitcast=True)
        row, column, word = (e // width + first_row).to(tl.uint64), (e % width).to(tl.uint64), word.to(tl.uint64)
        a = tl.full((BLOCK,), 0x243F6A8885A308D3, tl.uint64)
        b = tl.full((BLOCK,), 0x13198A2E03707344, tl.uint64)
        a = _first(_first(_first(a, row), column), word)
        b = _second(_second(_second(b, row), column), word)
        one += tl.where(there, a, 0)
        two += tl.where(there, b, 0)
    tl.store(out + 2 * i, tl.sum(one, axis=0))
    tl.store(out + 2 * i + 1, tl.sum(two, axis=0))


def marked(block: torch.Tensor, first_row: int) -> Array:
    """As ``marks.rows_mark``."""
    block = block.contiguous()
    words = block.reshape(-1).view(torch.int64 if block.dtype == torch.float64 else torch.int32)
    grid = -(-words.numel() // (_BLOCK * _STEPS))
    out = torch.zeros((grid, 2), dtype=torch.int64, device=block.device)
    width = max(1, words.numel() // block.shape[0])
    _numbers[(grid,)](words, first_row, width, words.numel(), out, _BLOCK, _STEPS)
    return np.asarray(out.sum(0).cpu().numpy().astype(np.uint64))
