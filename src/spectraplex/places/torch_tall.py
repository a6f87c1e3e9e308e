"""Tensors in the state of a run and in evidence: they stay on their device until somebody reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .numpy import Array
from .tall import Tall
from .torch_array import TorchArray
from .torch_marks import rows_mark


class TorchTall(Tall):
    """A tensor as a tall array (tall.py); ``held`` is the ``TorchArray`` itself."""

    def __init__(self, array: TorchArray) -> None:
        self.held = array  # type: ignore[assignment]
        self.shape, self.dtype = array.shape, array.dtype

    def rows(self, low: int, high: int) -> Array:
        return np.asarray(self.held[low:high].here())  # type: ignore[index]

    def mark(self) -> Array:
        return rows_mark(self.held.t)  # type: ignore[attr-defined]

    def finite(self) -> bool:
        return bool(torch.isfinite(self.held.t).all().item())  # type: ignore[attr-defined]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        whole: Array = self.held.here()  # type: ignore[attr-defined]
        return whole if dtype is None else whole.astype(dtype)

    def __reduce__(self) -> Any:
        return _whole, (np.asarray(self),)


def _whole(array: Array) -> Array:
    """Pickled elsewhere, it is an ordinary array there."""
    return array
