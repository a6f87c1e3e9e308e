"""Marks (marks.py) of tensors, worked out where they are: the same 128 bits as those of the same numbers here.

Torch has signed words only: sums, products and exclusive-ors of 64 bits are the same bits, and a shift to the right is
made one of unsigned words by a mask.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .marks import FIRST, SECOND, SEEDS, STEP
from .numpy import Array

_PIECE = 1 << 22


def _signed(word: Any) -> int:
    """A word as the signed number with the same bits."""
    value = int(word)
    return value - (1 << 64) if value >= 1 << 63 else value


def _shifted(state: torch.Tensor, by: Any) -> torch.Tensor:
    """To the right, zeros coming in."""
    many = int(by)
    return (state >> many) & ((1 << (64 - many)) - 1)


def _words(numbers: torch.Tensor) -> torch.Tensor:
    """The bits of numbers as words of 64 bits, one row a row."""
    numbers = numbers.resolve_conj().contiguous()
    if numbers.is_complex():
        numbers = torch.view_as_real(numbers).reshape(numbers.shape[0], -1)
    numbers = numbers.reshape(numbers.shape[0], -1)
    if numbers.dtype == torch.float64:
        return numbers.view(torch.int64)
    if numbers.dtype == torch.float32:
        return numbers.view(torch.int32).to(torch.int64) & 0xFFFFFFFF
    return numbers.to(torch.int64)


def _summed(words: list[torch.Tensor]) -> Array:
    total = np.zeros(2, np.uint64)
    for lane, (seed, (a, b, c, d, e)) in enumerate(zip(SEEDS, (FIRST, SECOND), strict=True)):
        state = torch.full_like(words[0], _signed(seed))
        for word in words:
            state = (state ^ word) + _signed(STEP)
            state = (state ^ _shifted(state, a)) * _signed(b)
            state = (state ^ _shifted(state, c)) * _signed(d)
            state = state ^ _shifted(state, e)
        total[lane] = np.int64(state.sum().item()).astype(np.uint64)
    return total


def rows_mark(block: torch.Tensor, first_row: int = 0) -> Array:
    """As ``marks.rows_mark``."""
    total = np.zeros(2, np.uint64)
    if block.numel() == 0:
        return total
    kernel = _kernel(block)
    if kernel is not None:
        return kernel(block, first_row)
    width = int(np.prod(block.shape[1:])) if block.ndim > 1 else 1
    many = max(1, _PIECE // max(1, width))
    for low in range(0, block.shape[0], many):
        words = _words(block[low : low + many])
        m, k = words.shape
        rows = torch.arange(first_row + low, first_row + low + m, device=block.device)[:, None].expand(m, k)
        cols = torch.arange(k, device=block.device)[None, :].expand(m, k)
        total = total + _summed([rows.contiguous(), cols.contiguous(), words.contiguous()])
    return total


def entries_mark(rows: torch.Tensor, cols: torch.Tensor, values: torch.Tensor, weights: torch.Tensor | None) -> Array:
    """As ``marks.entries_mark``."""
    total = np.zeros(2, np.uint64)
    for low in range(0, rows.numel(), _PIECE):
        part = slice(low, low + _PIECE)
        given = [rows[part].long(), cols[part].long(), *_words(values[part]).unbind(1)]
        given += [] if weights is None else list(_words(weights[part]).unbind(1))
        total = total + _summed([each.contiguous() for each in given])
    return total


def _kernel(block: torch.Tensor) -> Any:
    """One pass of a compiled kernel, for numbers of 64 or 32 bits on a GPU; None elsewhere."""
    if block.device.type != "cuda" or block.dtype not in (torch.float64, torch.float32):
        return None
    try:
        from .triton_marks import marked
    except ImportError:  # Triton is not installed
        return None
    return marked
