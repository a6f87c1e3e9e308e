"""Differences: squared distances of pairs of points under a metric X, and how much one exceeds another (triplets)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from ..checks import as_array, device_of, indices
from ..matrices.operators import Operator, Sparse, column_scores
from ..places.numpy import EPS, Array, contiguous
from .features import checked, sparse_parts

_DENSE = 1000  # metrics up to this size have their gradient formed; larger ones multiply factor by factor


class Differences:
    """Of triplets (a, p, n): how much farther n is from a than p is; of pairs (a, b): their squared distance.

    With x the rows of ``data`` it measures ⟨(xₐ−xₙ)(xₐ−xₙ)ᵀ − (xₐ−xₚ)(xₐ−xₚ)ᵀ, X⟩ and ⟨(xₐ−x_b)(xₐ−x_b)ᵀ, X⟩. Points
    are embedded once, so a triplet costs as much as X has columns, whatever the number of features is.

    Parameters
    ----------
    data : points × features, real, dense or scipy-sparse.
    tuples : whole numbers of shape (N, 3) for triplets or (N, 2) for pairs, rows of ``data`` counted from zero.

    Examples
    --------
    >>> import numpy as np, spectraplex as sx
    >>> sx.Differences(np.eye(4), [[0, 1, 2], [0, 1, 3]])
    Differences(2 triplets of 4 points with 4 features)
    """

    dtype = "float64"
    real = True

    def __init__(self, data: Any, tuples: Any) -> None:
        self.device = device_of(data, tuples)
        self.data = checked("Differences", data)
        if self.data.dtype.kind == "c":
            raise TypeError("Differences: data must be real; put real and imaginary parts side by side.")
        tuples = as_array("Differences", "tuples", tuples)
        if tuples.ndim != 2 or tuples.shape[1] not in (2, 3) or tuples.shape[0] == 0:
            raise ValueError(f"Differences: tuples have shape {tuples.shape}; give triplets (N, 3) or pairs (N, 2).")
        points, features = self.data.shape
        self.tuples = np.stack(
            [indices("Differences", f"tuples[:, {k}]", tuples[:, k], points) for k in range(tuples.shape[1])], axis=1
        ).astype(np.int64)
        self.shape, self.size, self.summed = (features, features), tuples.shape[0], features
        self.dense = features <= _DENSE
        self.held = 0 if hasattr(self.data, "indptr") else self.data.size
        # every pair of points once: distances of pairs are what triplets compare
        a, last = self.tuples[:, 0], self.tuples[:, -1]
        ends = last if tuples.shape[1] == 2 else np.concatenate([last, self.tuples[:, 1]])
        begins = a if tuples.shape[1] == 2 else np.concatenate([a, a])
        low, high = np.minimum(begins, ends), np.maximum(begins, ends)
        keys, place = np.unique(low * points + high, return_inverse=True)
        self._first, self._second = keys // points, keys % points
        place = place.reshape(-1)
        self._far, self._near = place[: self.size], place[self.size :]
        self._joined = self._place()
        self.positive = not self._near.size  # a squared distance is never negative, a difference of two may be

    def require_hermitian(self) -> None:
        """Differences always are."""

    # ----------------------------------------------------------------------------------------- through the pairs

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        left = self.data @ U
        if V is U:
            return self._compare(self._squares(left, s))
        right = self.data @ V
        inside = self._between(left) * self._between(right).conj()
        return self._compare((inside @ s).real)

    def _between(self, points: Array) -> Array:
        if isinstance(points, np.ndarray):  # one pass of sums takes a third of the time of two gathers
            return cast(Array, self._ends @ points)
        return cast(Array, points[self._first] - points[self._second])

    @cached_property
    def _ends(self) -> Any:
        """One row a pair of points: one at the first, minus one at the second."""
        from scipy.sparse import csr_matrix

        pairs = self._first.size
        ends = np.stack([self._first, self._second], axis=1).reshape(-1)
        signs = np.tile([1.0, -1.0], pairs)
        return csr_matrix((signs, ends, np.arange(0, 2 * pairs + 1, 2)), shape=(pairs, self.data.shape[0]))

    def _squares(self, points: Array, s: Array) -> Array:
        apart = self._between(points)
        if apart.dtype.kind != "f":
            squares: Array = np.abs(apart) ** 2
        else:
            squares = np.square(apart, out=apart) if isinstance(apart, np.ndarray) else apart**2
        return squares @ s

    def _compare(self, pairs: Array) -> Array:
        return pairs[self._far] - pairs[self._near] if self._near.size else pairs[self._far]

    def of_operator(self, G: Operator) -> Array:
        turned = np.asarray(self.data @ G.dense())
        own = self.data.toarray() if hasattr(self.data, "toarray") else self.data
        return self._compare(np.einsum("ik,ik->i", self._between(turned), self._between(own)))

    def adjoint(self, slope: Array) -> Operator:
        shares = np.bincount(self._far, slope, self._first.size)
        if self._near.size:
            shares -= np.bincount(self._near, slope, self._first.size)
        inside = Weighing(self.data, self._laplacian(shares), self._noise(slope))
        return Formed(inside) if self.dense else inside

    def _noise(self, slope: Array) -> float:
        """Rounding of 𝒜*(slope): sums over the triplets of a pair, the pairs of a point, the points."""
        many = self._often + 8
        return 4 * EPS * many * float(np.abs(slope) @ self._sizes)

    @cached_property
    def _often(self) -> int:
        degrees = np.bincount(np.concatenate([self._first, self._second]))
        return int(np.bincount(self._far).max() + degrees.max() + self.data.shape[0])

    @cached_property
    def _sizes(self) -> Array:
        """At least ‖xₐ‖² + ‖xₙ‖² and so on: what is added up for each measurement."""
        squares = abs(self.data).power(2) if hasattr(self.data, "indptr") else self.data**2
        norms = contiguous(squares.sum(axis=1)).reshape(-1)
        return cast(Array, 2.0 * norms[self.tuples].sum(axis=1) + 2.0 * norms[self.tuples[:, 0]])

    def _place(self) -> Any:
        """Where the pairs stand in the Laplacian: a sparse matrix whose entries are their numbers, from one."""
        from scipy.sparse import csr_matrix

        n, pairs = self.data.shape[0], np.nonzero(self._first != self._second)[0]  # no point is apart from itself
        one, two = self._first[pairs], self._second[pairs]
        place = (np.concatenate([one, two]), np.concatenate([two, one]))
        table = csr_matrix((np.concatenate([pairs, pairs]) + 1, place), shape=(n, n))
        table.sort_indices()
        return table

    def _laplacian(self, shares: Array) -> tuple[Any, Array]:
        """Σ share (e_a − e_b)(e_a − e_b)ᵀ = D − W: the matrix W of shares, and the diagonal D."""
        n, table = self.data.shape[0], self._joined
        shares = np.where(self._first == self._second, 0.0, shares)
        weights, W = shares[table.data - 1], None
        if isinstance(shares, np.ndarray):
            from scipy.sparse import csr_matrix

            W = csr_matrix((weights, table.indices, table.indptr), shape=(n, n))
        else:  # on a device
            W = Sparse(table.pattern, weights)
        return W, np.bincount(self._first, shares, n) + np.bincount(self._second, shares, n)

    # -------------------------------------------------------------------------------------------------- facts

    @cached_property
    def _lengths(self) -> Array:
        """‖Aᵢ‖² at most: the fourth powers of the distances, without what they share."""
        fourth = self._plain**2
        return fourth[self._far] + (fourth[self._near] if self._near.size else 0.0)

    @cached_property
    def _plain(self) -> Array:
        """Squared distances of the pairs as the data has them, by blocks."""
        out = np.empty(self._first.size)
        for low in range(0, out.size, 4096):
            part = slice(low, low + 4096)
            apart = self.data[self._first[part]] - self.data[self._second[part]]
            squares = apart.power(2) if hasattr(apart, "power") else apart**2
            out[part] = np.asarray(squares.sum(axis=1)).reshape(-1)
        return out

    @cached_property
    def reach(self) -> float:
        """√Σ‖Aᵢ‖²: an upper bound on ‖𝒜‖."""
        return (1 + 1e-9) * float(np.sqrt(self._lengths.sum()))

    def coverage(self, weights: Array | None) -> tuple[Array, Array]:
        """The diagonal of 𝒜*diag(w)𝒜, summed over every row, as if a difference had no favourite feature."""
        whole = float(self._lengths.sum() if weights is None else weights @ self._lengths)
        squares = abs(self.data).power(2) if hasattr(self.data, "indptr") else self.data**2
        spread = np.asarray(squares.mean(axis=0)).reshape(-1) - np.asarray(self.data.mean(axis=0)).reshape(-1) ** 2
        spread = np.maximum(spread, 1e-3 * spread.mean() + 1e-300)
        total = whole * spread / spread.sum()
        return total, total

    def parts(self) -> tuple[Any, ...]:
        return (*sparse_parts(self.data), self.tuples)

    def __repr__(self) -> str:
        kind = "triplets" if self._near.size else "pairs"
        points, features = self.data.shape
        return f"Differences({self.size} {kind} of {points} points with {features} features)"


@dataclass(frozen=True, eq=False)
class Weighing:
    """dataᵀ L data with a sparse signed Laplacian L = D − W."""

    data: Any
    laplacian: tuple[Any, Array]
    blur: float
    hermitian: bool = True

    @property
    def shape(self) -> tuple[int, int]:
        return (self.data.shape[1],) * 2

    @property
    def dtype(self) -> str:
        return "float64"

    def noise(self) -> float:
        return self.blur

    def matmat(self, V: Array) -> Array:
        points, (W, D) = self.data @ V, self.laplacian
        near = W.matmat(points) if isinstance(W, Sparse) else W @ points
        return cast(Array, self.data.T @ (D[:, None] * points - near))

    def rmatmat(self, U: Array) -> Array:
        return self.matmat(U)

    def scores(self, P: Array, Q: Array, count: int) -> Array:
        return column_scores(self, P, Q, count)

    def dense(self) -> Array:
        W, D = self.laplacian
        if isinstance(W, Sparse):
            points = self.data.toarray() if hasattr(self.data, "toarray") else self.data
            return cast(Array, self.data.T @ (D[:, None] * points - W.matmat(points)))
        if hasattr(self.data, "indptr"):
            from scipy.sparse import diags

            return np.asarray((self.data.T @ ((diags(D) - W) @ self.data)).toarray())
        return np.asarray(self.data.T @ (D[:, None] * self.data - W @ self.data))


class Formed:
    """A weighing that becomes a matrix when it is used again: a descent multiplies one thin block by each gradient."""

    hermitian = True
    dtype = "float64"

    def __init__(self, inside: Weighing) -> None:
        self.inside, self.shape = inside, inside.shape
        self._used = False

    @cached_property
    def _matrix(self) -> Array:
        G = self.inside.dense()
        return cast(Array, 0.5 * (G + G.T))

    def noise(self) -> float:
        return self.inside.noise()

    def matmat(self, V: Array) -> Array:
        first, self._used = not self._used, True
        if first and 2 * V.shape[1] <= self.shape[0]:  # through the points and back is cheaper than d columns of them
            return self.inside.matmat(V)
        return self._matrix @ V

    def rmatmat(self, U: Array) -> Array:
        return self.matmat(U)

    def scores(self, P: Array, Q: Array, count: int) -> Array:
        return column_scores(self, P, Q, count)

    def dense(self) -> Array:
        self._used = True
        return self._matrix
