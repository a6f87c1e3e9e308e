"""Fits of a table on a GPU: value, slope and both products of a descent in two passes, with nothing in between stored.

A descent measures X = c·U·Vᵀ, evaluates, and multiplies the gradient with the same U and V. Here an image in single
precision is only a promise (``Sampled``): ``evaluate`` makes value, ⟨slope, z⟩ and G·V in one pass by rows, and Gᵀ·U
takes one by columns, which works the image out again instead of permuting it. Whoever asks for the numbers of such an
image or slope gets them, in double.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ..losses import Huber, Logistic, Squared
from ..measurements.entries import Entries
from ..places.torch_array import TorchArray
from ..places.triton_device import LARGEST, Fused
from .fit import Fit

_KINDS = {Squared: 0, Huber: 1, Logistic: 2}


class Sampled(TorchArray):
    """The image of scale·U·Vᵀ: made when somebody looks at it. U and V must not change before that."""

    __slots__ = ("U", "V", "_made", "_pattern", "scale")

    def __init__(self, pattern: Any, U: TorchArray, scale: float, V: TorchArray) -> None:
        self._pattern, self.U, self.scale, self.V, self._made = pattern, U, scale, V, None

    @property
    def t(self) -> torch.Tensor:  # type: ignore[override]
        if self._made is None:
            self._made = self._pattern.sample(self.U, self.V, np.full(self.U.shape[1], self.scale)).t
        return self._made

    @property
    def made(self) -> bool:
        return self._made is not None

    @property
    def shape(self) -> tuple[int, ...]:
        return (self._pattern.size,)


class Sloped(TorchArray):
    """The slope at a sampled image, with ⟨slope, z⟩ and G·V; its numbers are made when somebody looks at them."""

    __slots__ = ("_made", "fit", "image", "match", "room")

    def __init__(self, fit: Any, image: Sampled, match: float, room: torch.Tensor) -> None:
        self.fit, self.image, self.match, self.room, self._made = fit, image, match, room, None

    @property
    def product(self) -> torch.Tensor:
        """G·V: the upper part of a block that has room for Gᵀ·U below."""
        return self.room[: self.image.U.shape[0]]

    @property
    def t(self) -> torch.Tensor:  # type: ignore[override]
        if self._made is None:
            self._made = self.fit.evaluate(self.image)[1].t
        return self._made

    @property
    def shape(self) -> tuple[int, ...]:
        return self.image.shape


class FusedTable:
    """A ``Fit`` of a table's entries on a GPU, by fused passes where factors come in single precision."""

    def __init__(self, fit: Fit) -> None:
        entries: Any = fit.measurements
        self.fit, self.pattern = fit, entries.pattern
        targets: Any = fit.targets
        weights: Any = fit.weights
        kind, delta = _KINDS[type(fit.loss)], float(fit.loss.delta) if isinstance(fit.loss, Huber) else 0.0
        turned, _ = self.pattern.transposed
        self.rows = Fused(kind, delta, targets.t.float(), None if weights is None else weights.t.float())
        flipped = [None if each is None else self.pattern.flip(each)[1].t.float() for each in (targets, weights)]
        self.cols = Fused(kind, delta, flipped[0], flipped[1])  # type: ignore[arg-type]
        self.turned = turned

    def fits(self, U: TorchArray, s: Any, V: TorchArray) -> bool:
        """Whether this is c·U·Vᵀ in single precision, of a width that a pass can hold."""
        single = U.t.dtype == V.t.dtype == torch.float32
        return single and 0 < U.shape[1] <= LARGEST and bool(np.all(s == s[0]))

    def measure(self, U: TorchArray, s: Any, V: TorchArray) -> Sampled:
        return Sampled(self.pattern, U, float(s[0]), V)

    def evaluate(self, z: Sampled) -> tuple[float, Sloped]:
        more = self.pattern.shape[1]
        room, value, match = self.pattern.kernels.fused(z.U.t, z.V.t, z.scale, self.rows, value=True, more=more)
        return value, Sloped(self.fit, z, match, room)

    def back(self, z: Sampled, into: torch.Tensor | None = None) -> torch.Tensor:
        """Gᵀ·U."""
        found: torch.Tensor = self.turned.kernels.fused(z.V.t, z.U.t, z.scale, self.cols, value=False, into=into)
        return found


class FusedGradient:
    """𝒜*(slope) of a fused evaluation: its products with the very factors it was made from are at hand."""

    hermitian = False

    def __init__(self, table: FusedTable, slope: Sloped) -> None:
        self.table, self.slope = table, slope
        self.shape, self.dtype = table.pattern.shape, "float64"

    def _plain(self) -> Any:
        fit: Any = self.table.fit
        return fit.gradient(TorchArray(self.slope.t))

    def noise(self) -> float:
        return float(self._plain().noise())

    def matmat(self, V: TorchArray) -> Any:
        return TorchArray(self.slope.product) if _same(V, self.slope.image.V) else self._plain().matmat(V)

    def rmatmat(self, U: TorchArray) -> Any:
        return (
            TorchArray(self.table.back(self.slope.image)) if _same(U, self.slope.image.U) else self._plain().rmatmat(U)
        )

    def stacked(self, U: TorchArray, V: TorchArray) -> Any:
        """G·V above Gᵀ·U for the very factors, in the block where G·V lies: a copy would be as tall as a factor."""
        slope = self.slope
        if not (_same(U, slope.image.U) and _same(V, slope.image.V) and slope.room.is_contiguous()):
            return None
        self.table.back(slope.image, slope.room[self.shape[0] :])
        return TorchArray(slope.room)

    def dense(self) -> Any:
        return self._plain().dense()


def _same(A: TorchArray, B: TorchArray) -> bool:
    """Whether two blocks are views of the same numbers."""
    one, two = A.t, B.t
    same = one.data_ptr() == two.data_ptr() and one.dtype == two.dtype
    return same and one.shape == two.shape and one.stride() == two.stride()


def fused_table(fit: Any) -> FusedTable | None:
    """For a fit that was moved to a GPU; None where the fused passes do not know the loss, or there are none."""
    known = isinstance(fit, Fit) and isinstance(fit.measurements, Entries) and type(fit.loss) in _KINDS
    if not known or fit.dtype != "float64" or fit.measurements.pattern.kernels is None:  # type: ignore[attr-defined]
        return None
    return FusedTable(fit)
