"""U diag(s) Vᴴ as an operator, and as a matrix where it is formed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from ..places.here import HERE
from ..places.numpy import EPS, Array, adjoint_times, dagger
from ..places.protocol import Block, Place
from .protocol import column_scores

_NARROW = 3  # columns of a block up to which a product waits for memory, not for arithmetic
_FEW = 8  # products on a device after which a matrix with many terms is formed
_CACHED, _BLOCK = 256, 2048  # terms at a time: of a narrow product, of a matrix that is formed
_MANY = 1_000_000  # numbers in a factor from which it is worth while to save


@dataclass(frozen=True, eq=False)
class LowRank:
    """U diag(s) Vᴴ with real s; ``light`` is U in single precision, for blocks that come in it (V being U).

    A Hermitian one with many terms is formed once it was asked for many narrow products: those wait for memory, and
    forming it costs a quarter of its size in products.
    """

    U: Block
    s: Array
    V: Block
    hermitian: bool = False
    light: Array | None = None
    place: Place = HERE
    _held: list[Any] = field(default_factory=lambda: [0], repr=False)  # narrow products so far, then the matrix

    @property
    def shape(self) -> tuple[int, int]:
        return (self.place.length(self.U), self.place.length(self.V))

    @property
    def dtype(self) -> str:
        return np.result_type(self.place.kind(self.U), self.place.kind(self.V)).name

    def noise(self) -> float:
        sizes = np.abs(self.s) * self.place.norms(self.U) * self.place.norms(self.V)
        return 4 * EPS * self.s.size * float(sizes.sum())

    def matmat(self, V: Block) -> Block:
        if self.place is not HERE:
            return self.place.times(self.U, self.s[:, None] * self.place.gram(self.V, V))
        if not isinstance(self.U, np.ndarray):
            return self._elsewhere(V)
        if self.light is not None and V.dtype == self.light.dtype:
            weighed = self.s.astype(V.real.dtype)[:, None] * adjoint_times(self.light, V)
            return (self.light @ weighed).astype(self.dtype)
        if self._formed(V.shape[1]):
            return cast(Array, self._held[1] @ V)
        if self.V is self.U and V.shape[1] <= _NARROW and self.U.size >= _MANY:
            return self._narrow(V)
        return cast(Array, self.U @ (self.s[:, None] * adjoint_times(self.V, V)))

    def _elsewhere(self, V: Any) -> Any:
        """On a device: the matrix is formed after fewer products, which it takes a hundredth of the time to read."""
        if self.light is not None and V.dtype == self.light.dtype:
            return self.light @ (self.s[:, None] * adjoint_times(self.light, V)).astype(V.dtype)
        d, terms = self.U.shape
        if len(self._held) == 1 and self.hermitian and terms > d:
            self._held[0] += 1
            if self._held[0] > _FEW:
                self._held.append((self.U * self.s) @ dagger(self.U))
        return self._held[1] @ V if len(self._held) > 1 else self.U @ (self.s[:, None] * adjoint_times(self.V, V))

    def _narrow(self, V: Array) -> Array:
        """By blocks of terms, which are still in the cache when they are multiplied the other way."""
        out = np.zeros(V.shape, np.result_type(self.U, V))
        for low in range(0, self.s.size, _CACHED):
            block, s = self.U[:, low : low + _CACHED], self.s[low : low + _CACHED]
            for k in range(V.shape[1]):
                out[:, k] += block @ (s * (V[:, k].conj() @ block).conj())
        return out

    def _formed(self, width: int) -> bool:
        """Whether the matrix is at hand, or is worth forming by now."""
        if len(self._held) > 1 or width > _NARROW or not self.hermitian or self.U.size < _MANY:
            return len(self._held) > 1
        self._held[0] += 1
        d, terms = self.U.shape
        if terms <= 2 * d or self._held[0] <= d // 32:
            return False
        self._held.append(hermitian_sum(self.U, self.s))
        return True

    def rmatmat(self, U: Block) -> Block:
        if self.place is not HERE:
            return self.place.times(self.V, self.s[:, None] * self.place.gram(self.U, U))
        return cast(Array, self.V @ (self.s[:, None] * adjoint_times(self.U, U)))

    def scores(self, P: Block, Q: Block, count: int) -> Array:
        return column_scores(self, P, Q, count, self.place)

    def dense(self) -> Array:
        if not isinstance(self.U, np.ndarray) and self.place is HERE:
            whole: Array = (self.U * self.s) @ dagger(self.V)
            return whole
        U, V = self.place.to_host(self.U), self.place.to_host(self.V)
        if self.hermitian and V is U and U.size >= _MANY:
            return hermitian_sum(U, self.s)
        return (U * self.s) @ dagger(V)


def hermitian_sum(U: Array, s: Array) -> Array:
    """U diag(s) Uᴴ by half of the work: terms of one sign at a time, in blocks, one triangle only."""
    from scipy.linalg.blas import dsyrk, zherk

    update = zherk if U.dtype.kind == "c" else dsyrk
    total = np.zeros((U.shape[0], U.shape[0]), U.dtype, order="F")
    for sign in (1.0, -1.0):
        which = np.nonzero(sign * s > 0.0)[0]
        for low in range(0, which.size, _BLOCK):
            part = which[low : low + _BLOCK]
            block = np.asfortranarray(U[:, part] * np.sqrt(np.abs(s[part])))
            total = update(sign, block, beta=1.0, c=total, overwrite_c=1)
    upper = np.triu(total)
    return np.ascontiguousarray(upper + dagger(np.triu(total, 1)))
