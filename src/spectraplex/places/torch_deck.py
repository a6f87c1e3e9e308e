"""The pairs of a limited-memory quasi-Newton method on a device: three passes a step, as in deck.py.

Pairs and the scaling are in single precision (long ones on a GPU with three digits, half of the memory), sums in
double. On a GPU every pass is one kernel (triton_passes.py); elsewhere it is done by Torch, a piece at a time, so that
nothing as tall as the pairs is made double at once.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import torch

from .numpy import Array
from .torch_array import TorchArray

_PIECE = 1 << 24
_SHORT = 1 << 23  # numbers from which pairs are kept with three digits, where there are compiled passes
_LARGEST = 3e38  # of single precision


class TorchDeck:
    """See ``Deck``."""

    def __init__(self, Y: TorchArray, gradient: TorchArray, scaling: TorchArray, history: int) -> None:
        self._Y = Y.t.contiguous()
        self._ahead = torch.empty_like(self._Y)
        self.g = _flat(gradient.t.contiguous())
        size, device = self.g.numel(), self._Y.device
        self._kernels = _kernels(self._Y)
        short = self._kernels is not None and size > _SHORT  # seven digits are not needed to choose a direction
        self._kind = torch.bfloat16 if short else torch.float32
        self.scaling = self._spread(scaling.t)
        self.slots, self._shape = history, (history, size)
        # with kernels, what back() makes lies where the next point will be: forth() reads every number before it writes
        self._own_work = None if self._shared else torch.empty(size, dtype=torch.float32, device=device)

    @cached_property
    def S(self) -> torch.Tensor:
        """Made when they are first used: whoever makes a deck holds a gradient and a scaling until it is there."""
        return torch.empty(self._shape, dtype=self._kind, device=self._Y.device)

    @cached_property
    def T(self) -> torch.Tensor:
        return torch.empty(self._shape, dtype=self._kind, device=self._Y.device)

    @property
    def _shared(self) -> bool:
        return self._kernels is not None and self._Y.dtype in (torch.float32, torch.complex64)

    @property
    def _work(self) -> torch.Tensor:
        return _flat(self._ahead) if self._own_work is None else self._own_work

    @property
    def here(self) -> TorchArray:
        return TorchArray(self._Y)

    @property
    def ahead(self) -> TorchArray:
        return TorchArray(self._ahead)

    def rescale(self, scaling: TorchArray) -> None:
        del self.scaling  # before its successor is made
        self.scaling = self._spread(scaling.t)

    def back(self, slots: list[int], a: Array) -> Array:
        if self._kernels is not None:
            found: Array = self._kernels.back(self.g, self.T, slots, a, self.scaling, self._work)
            return found
        dots = torch.zeros(len(slots), dtype=torch.float64, device=self.g.device)
        weights = torch.as_tensor(np.asarray(a, dtype=np.float64), device=self.g.device)
        for part in _pieces(self.g):
            T = self.T[slots, part].double()
            r = self.scaling[part] * (self.g[part].double() - weights @ T)
            self._work[part] = r
            dots += T @ self._work[part].double()
        return dots.cpu().numpy()

    def forth(self, slots: list[int], c: Array, factor: float, free: int) -> tuple[float, float, float]:
        Y, ahead, d = _flat(self._Y), _flat(self._ahead), self.S[free]
        if self._kernels is not None:
            sums: Array = self._kernels.forth(self._work, factor, self.S, slots, c, self.g, Y, free, ahead)
        else:
            totals = torch.zeros(3, dtype=torch.float64, device=d.device)
            weights = torch.as_tensor(np.asarray(c, dtype=np.float64), device=d.device)
            for part in _pieces(d):
                step = -(factor * self._work[part].double() + weights @ self.S[slots, part].double())
                d[part] = step.clamp(-_LARGEST, _LARGEST)
                ahead[part] = Y[part] + d[part]
                step, there = d[part].double(), ahead[part].double()
                totals += torch.stack([step @ self.g[part].double(), step @ step, there @ there])
            sums = totals.cpu().numpy()
        return float(sums[0]), float(sums[1]), float(sums[2])

    def shorten(self, free: int, share: float) -> float:
        d, ahead, Y = self.S[free], _flat(self._ahead), _flat(self._Y)
        d *= share
        total = 0.0
        for part in _pieces(d):
            ahead[part] = Y[part] + d[part]
            there = ahead[part].double()
            total += float((there @ there).item())
        return total

    def turn(self, slots: list[int], free: int, product: TorchArray, lean: float, factor: float) -> Array:
        given, ahead, d, t = _flat(product.t.contiguous()), _flat(self._ahead), self.S[free], self.T[free]
        if self._kernels is not None:
            dots: Array = self._kernels.turn(given, ahead, lean, factor, self.g, self.S, slots, free, self.scaling, t)
        else:
            totals = torch.zeros(len(slots) + 4, dtype=torch.float64, device=d.device)
            for part in _pieces(d):
                new = factor * (given[part].double() - lean * ahead[part].double())
                t[part] = (new - self.g[part].double()).clamp(-_LARGEST, _LARGEST)
                self.g[part] = new.clamp(-_LARGEST, _LARGEST)
                g, step, change = self.g[part].double(), d[part].double(), t[part].double()
                own = [step @ g, step @ change, change @ (self.scaling[part] * change), change @ change]
                totals += torch.cat([self.S[slots, part].double() @ g, torch.stack(own)])
            dots = totals.cpu().numpy()
        self._Y, self._ahead = self._ahead, self._Y
        return dots

    def _spread(self, scaling: torch.Tensor) -> torch.Tensor:
        """One number for the real and the imaginary part."""
        wide = scaling.repeat_interleave(2, dim=1) if self._Y.is_complex() else scaling
        return wide.to(self._kind).reshape(-1)


def _flat(Y: torch.Tensor) -> torch.Tensor:
    """All real numbers of Y, as one vector that shares its memory."""
    return torch.view_as_real(Y).reshape(-1) if Y.is_complex() else Y.reshape(-1)


def _pieces(vector: torch.Tensor) -> list[slice]:
    return [slice(low, low + _PIECE) for low in range(0, vector.numel(), _PIECE)]


def _kernels(Y: torch.Tensor) -> Any:
    """The compiled passes, where there are any."""
    if Y.device.type != "cuda":
        return None
    try:
        from .triton_passes import Passes
    except ImportError:  # Triton is not installed
        return None
    return Passes()
