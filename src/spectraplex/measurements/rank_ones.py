"""RankOnes: the real numbers Re aᵢᴴXbᵢ, with bᵢ = aᵢ for phase retrieval and covariance sketching."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..checks import device_of, numbers
from ..matrices.operators import LowRank, Operator
from ..places.numpy import Array, adjoint_times

_LARGE = 1_000_000  # numbers from which single precision pays


class RankOnes:
    """⟨aᵢaᵢᴴ, X⟩ = aᵢᴴXaᵢ, or ⟨aᵢbᵢᴴ, X⟩ = Re aᵢᴴXbᵢ with two arguments.

    Parameters
    ----------
    vectors : an array of shape (N, m) with the aᵢ as rows.
    others : an array of shape (N, n) with the bᵢ as rows; by default the aᵢ.

    Examples
    --------
    >>> import numpy as np, spectraplex as sx
    >>> sx.RankOnes(np.ones((4, 3)))
    4 rank-one measurements of a 3×3 matrix
    """

    label = "rank-one"
    real = True

    def __init__(self, vectors: Any, others: Any = None, *, owner: str = "RankOnes") -> None:
        self.device = device_of(vectors, others)
        vectors = numbers(owner, "vectors", vectors, ndim=2)
        if vectors.size == 0:
            raise ValueError(f"{owner}: there are no measurements.")
        self.size, self._owner = vectors.shape[0], owner
        self._left = np.array(vectors.T, order="C")  # our own copy: what the user does with theirs is no matter
        self._right, self.vectors, self.others = self._left, self._left.T, None
        if others is not None:
            others = numbers(owner, "others", others, ndim=2)
            if others.shape[0] != self.size or others.size == 0:
                raise ValueError(f"{owner}: {self.size} vectors but {others.shape[0]} others; give one each.")
            self._right = np.array(others.T, order="C")
            self.others = self._right.T
        self.positive = others is None  # aaᴴ ⪰ 0
        self.shape = (self._left.shape[0], self._right.shape[0])
        self.dtype = np.result_type(self._left, self._right).name
        self.summed = max(self.shape)
        self.held = self._left.size + (0 if others is None else self._right.size)
        sizes = np.abs(self._left)
        ordinary = 1e-9 < float(sizes.max()) < 1e9
        # large blocks of factors may be multiplied in single precision, where a rough answer will do
        self.single = others is None and self._left.size >= _LARGE and ordinary
        self._light: Array | None = None

    def require_hermitian(self) -> None:
        """aaᴴ always is."""
        if self.others is not None:
            raise ValueError(
                f"{self._owner}: aᵢbᵢᴴ is not Hermitian; this domain needs aᵢaᵢᴴ (one argument), or Matrices of "
                "(aᵢbᵢᴴ + bᵢaᵢᴴ)/2."
            )

    def _lighter(self) -> Array:
        """The vectors in single precision, made when they are first asked for."""
        if self._light is None:
            self._light = self._left.astype({"f": np.float32, "c": np.complex64}[self._left.dtype.kind])
        return self._light

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        rough = self.single and V is U and U.dtype.itemsize < self._left.dtype.itemsize
        left = adjoint_times(self._lighter() if rough else self._left, U)
        if V is U and self.others is None:
            return cast(Array, (np.abs(left) ** 2).astype(np.float64, copy=False) @ s)
        right = adjoint_times(self._right, V)
        image: Array = np.einsum("ik,ik->i", left * s, right.conj()).real
        return image

    def of_operator(self, G: Operator) -> Array:
        right = self.vectors if self.others is None else self.others
        image: Array = np.einsum("ik,ik->i", self.vectors.conj() @ G.dense(), right).real
        return image

    def adjoint(self, y: Array) -> LowRank:
        return LowRank(self._left, y, self._right, self.others is None, self._light if self.single else None)

    def gram(self) -> Array:
        inside = self.vectors.conj() @ self.vectors.T
        if self.others is None:
            squares: Array = np.abs(inside) ** 2
            return squares
        pairs: Array = inside * (self.others.conj() @ self.others.T).conj()
        return pairs.real

    def parts(self) -> tuple[Array, ...]:
        return (self.vectors,) if self.others is None else (self.vectors, self.others)

    def coverage(self, weights: Array | None) -> tuple[Array, Array]:
        """The diagonal of 𝒜*diag(w)𝒜, summed over every row, and over every column."""
        left = np.abs(self.vectors) ** 2
        right = left if self.others is None else np.abs(self.others) ** 2
        one, two = right.sum(axis=1), left.sum(axis=1)
        if weights is not None:
            one, two = weights * one, weights * two
        rows = one @ left
        return rows, rows if self.others is None else two @ right

    def __repr__(self) -> str:
        return f"{self.size} {self.label} measurements of a {self.shape[0]}×{self.shape[1]} matrix"
