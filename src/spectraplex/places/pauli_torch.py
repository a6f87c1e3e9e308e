"""Pauli measurements on a device: rows of a block are rotated there, settings with the same first letters together.

The same sums as pauli_rotations.py, written as a walk down the tree of settings: a node's block is rotated for each
letter that goes on from it. Blocks stay in the precision they come in, chances are summed in double.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from .torch_array import TorchArray


def chances(digits: Any, scale: Any, U: TorchArray, s: Any) -> TorchArray:
    """One row a setting: scale·Σ_k s[k]·|(R U)[o, k]|²."""
    rows, weights = U.t.shape[0], torch.as_tensor(np.asarray(s, dtype=np.float64), device=U.t.device)
    out = torch.empty((digits.shape[0], rows), dtype=torch.float64, device=U.t.device)

    def walk(block: torch.Tensor, level: int, low: int, high: int) -> None:
        if level == digits.shape[1]:
            squares = block.real.double() ** 2 + (block.imag.double() ** 2 if block.is_complex() else 0.0)
            out[low] = float(scale[low]) * (squares @ weights)
            return
        for digit, first, last in _branches(digits[:, level], low, high):
            walk(_rotated(block, digit, level), level + 1, first, last)

    walk(U.t, 0, 0, digits.shape[0])
    return TorchArray(out)


def products(digits: Any, scale: Any, slope: TorchArray, V: TorchArray) -> TorchArray:
    """Σ_s scale·Rᴴ diag(slope) R V."""

    def walk(block: torch.Tensor, level: int, low: int, high: int) -> torch.Tensor:
        if level == digits.shape[1]:
            return block * (float(scale[low]) * slope.t[low]).to(block.real.dtype)[:, None]
        total: torch.Tensor | None = None
        for digit, first, last in _branches(digits[:, level], low, high):
            part = _rotated(walk(_rotated(block, digit, level), level + 1, first, last), digit, level, back=True)
            total = part if total is None else total.add_(part)
        assert total is not None
        return total

    return TorchArray(_double(walk(V.t, 0, 0, digits.shape[0])))


def _branches(letters: Any, low: int, high: int) -> Iterator[tuple[int, int, int]]:
    """Runs of the same letter among the settings low … high − 1, which are sorted."""
    first = low
    for k in range(low + 1, high + 1):
        if k == high or letters[k] != letters[first]:
            yield int(letters[first]), first, k
            first = k


def _rotated(block: torch.Tensor, digit: int, level: int, back: bool = False) -> torch.Tensor:
    """Rows of one qubit become those of + and − of a letter, times √2 unless it is Z; or the adjoint of that."""
    if digit == 1:
        return block.clone() if back else block
    parts = block.reshape(1 << level, 2, -1)
    a, b = parts[:, 0], parts[:, 1]
    if digit == 3 and not back:
        b = -1j * b
    out = torch.empty_like(parts)
    torch.add(a, b, out=out[:, 0])
    torch.sub(a, b, out=out[:, 1])
    if digit == 3 and back:
        out[:, 1] *= 1j
    return out.reshape(block.shape)


def string_values(masks: tuple[Any, Any, Any], U: TorchArray, s: Any) -> TorchArray:
    """Σ_k s[k] uₖᴴ P uₖ for every string, one number a row."""
    weights, found = np.asarray(s, dtype=np.float64), []
    for image in _strings(masks, U.t):
        found.append(float(((U.t.conj() * image).real.double().sum(dim=0).cpu().numpy() * weights).sum()))
    return TorchArray(torch.as_tensor(np.array(found)[:, None], device=U.t.device))


def string_products(masks: tuple[Any, Any, Any], slope: TorchArray, V: TorchArray) -> TorchArray:
    """Σ slope·P·V."""
    total, weights = torch.zeros_like(_double(V.t)), slope.t[:, 0].cpu().numpy()
    for weight, image in zip(weights, _strings(masks, V.t), strict=True):
        total += float(weight) * image
    return TorchArray(total)


def _strings(masks: tuple[Any, Any, Any], V: torch.Tensor) -> Iterator[torch.Tensor]:
    """P·V with P|j⟩ = i^turns (−1)^{phases·j} |j^flips⟩."""
    rows = np.arange(V.shape[0])
    for flip, phase, turn in zip(*masks, strict=True):
        odd = (
            np.array([bin(j & int(phase)).count("1") & 1 for j in range(V.shape[0])]) if phase else np.zeros(rows.size)
        )
        signs = torch.as_tensor(1.0 - 2.0 * odd[rows ^ int(flip)], device=V.device)[:, None].to(V.real.dtype)
        moved = V[torch.as_tensor(rows ^ int(flip), device=V.device)] * signs
        yield moved * (1j ** int(turn)) if turn % 2 else moved * float((1j ** int(turn)).real)


def _double(t: torch.Tensor) -> torch.Tensor:
    return t.to(torch.complex128 if t.is_complex() else torch.float64)


def spread(slope: TorchArray, where: Any, outcomes: Any, shape: tuple[int, int]) -> TorchArray:
    """The slope of every outcome of the distinct settings; those of settings that were named twice add up."""
    out = torch.zeros(shape, dtype=torch.float64, device=slope.t.device)
    rows = torch.as_tensor(where, device=slope.t.device)
    if outcomes is not None:
        out.index_put_((rows, torch.as_tensor(outcomes, device=slope.t.device)), slope.t.double(), accumulate=True)
    else:
        out.index_add_(0, rows, slope.t.double().reshape(len(where), -1))
    return TorchArray(out)


def from_here(array: Any, like: TorchArray) -> TorchArray:
    """A small array, on the device of another."""
    return TorchArray(torch.as_tensor(array, device=like.t.device))
