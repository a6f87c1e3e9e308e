"""What certificates and saved runs do with images and slopes, whatever these are made of.

Methods only combine, pair and evaluate them, which is the objective's business. A dual point is also compared with
another one, averaged and kept; that needs the verbs below. Most images are NumPy arrays (``ARRAYS``); factored ones are
not numbers in a row, and ``plain`` says so.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..fingerprint import array_fingerprint
from ..places.numpy import Array
from ..rounding import norm


class Images(Protocol):
    """Verbs on images and slopes."""

    def plain(self, z: Any) -> bool:
        """Whether it is numbers in a row: then averages are images, too, and all of the following works."""
        ...

    def blend(self, a: float, z: Any, b: float, w: Any) -> Any:
        """a·z + b·w."""

    def norm(self, z: Any) -> float: ...
    def count(self, z: Any) -> int:
        """How many numbers; one where it is not plain."""
        ...

    def mark(self, z: Any) -> str:
        """A fingerprint."""
        ...

    def pack(self, z: Any) -> Any:
        """As an array of this machine, or, where that would be too tall, as a ``Tall`` (places/tall.py)."""
        ...

    def unpack(self, array: Any) -> Any: ...


class Arrays:
    """NumPy arrays."""

    def plain(self, z: Any) -> bool:
        return isinstance(z, np.ndarray)

    def blend(self, a: float, z: Array, b: float, w: Array) -> Array:
        return a * z + b * w

    def norm(self, z: Array) -> float:
        return norm(z)

    def count(self, z: Any) -> int:
        return z.size if isinstance(z, np.ndarray) else 1

    def mark(self, z: Array) -> str:
        return array_fingerprint(z)

    def pack(self, z: Array) -> Array:
        return z

    def unpack(self, array: Any) -> Array:
        return np.asarray(array)  # perhaps a Tall


ARRAYS: Images = Arrays()
