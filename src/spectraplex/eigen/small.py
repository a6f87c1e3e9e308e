"""Leading eigenvectors of a small matrix that is at hand, by LAPACK: quicker there than any search from Python.

A whole decomposition is counted as forming the matrix is: d products, or the shorter side where there are two. That is
about its work (4/3·d³ operations of LAPACK beside 2d² for a product), and what a proven bound is counted as.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..matrices.lifted import Lifted, Shifted
from ..places.numpy import EPS, Array, dagger, orthonormal, random_unit, size_one

LIMIT = 200  # up to this dimension a decomposition takes less time than the products and the Python of a search
_FEW = 5  # above a fifth of all eigenvectors divide and conquer is quicker than one after the other
_HALF = 0.5**0.5

#: Eigenvalues, largest first, eigenvectors, and a bound on what rounding does to the eigenvalues.
Decomposed = tuple[Array, Array, float]


def at_hand(operator: Any) -> bool:
    """Whether the operator is small, and says itself what its matrix is."""
    if operator.shape[0] > LIMIT:
        return False
    while isinstance(operator, Shifted):
        operator = operator.inside
    return hasattr(operator, "dense")


def decomposed(operator: Any, count: int, rng: np.random.Generator) -> Decomposed | None:
    """The ``count`` largest eigenvalues and their eigenvectors; None where the matrix is not finite."""
    count = min(count, operator.shape[0])
    two = isinstance(operator, Lifted) and operator.bipartite and count <= min(operator.inside.shape)
    matrix = operator.block() if two else operator.dense()
    scale = float(np.abs(matrix).max(initial=0.0))
    if not scale < np.inf:
        return None
    unit = size_one(scale) if scale > 0.0 else 1.0  # LAPACK does not converge far from size one
    blur = 16 * operator.shape[0] * EPS * unit * scale
    values, vectors = (_two_sided if two else _one_sided)(unit * matrix, count, blur)
    if values.size > count and values[count - 1] - values[count] <= blur:
        vectors = _untied(values, vectors, count, blur, rng)
    return values[:count] / unit, vectors[:, :count], blur / unit


def _one_sided(A: Array, count: int, blur: float) -> tuple[Array, Array]:
    """At least ``count`` eigenpairs of a Hermitian A, one more if there is one, and all of them if that one is tied."""
    d, more = A.shape[0], count + 1
    if _FEW * more <= d:
        from scipy.linalg import lapack

        few = lapack.zheevr if A.dtype.kind == "c" else lapack.dsyevr
        values, vectors, found, _, info = few(A, range="I", il=d - count, iu=d)
        if info == 0 and found == more and values[1] - values[0] > blur:
            return values[count::-1], vectors[:, ::-1]
    values, vectors = np.linalg.eigh(A)
    return values[::-1], vectors[:, ::-1]


def _two_sided(R: Array, count: int, blur: float) -> tuple[Array, Array]:
    """Of [[0, R], [Rᴴ, 0]]: the singular values of R, and its singular vectors one above the other."""
    U, values, Vh = np.linalg.svd(R, full_matrices=False)
    return values, _HALF * np.concatenate([U, dagger(Vh)])


def _untied(values: Array, vectors: Array, count: int, blur: float, rng: np.random.Generator) -> Array:
    """The first ``count`` vectors; those tied with the next one are drawn from all that are tied with it.

    Which basis of a tied space LAPACK returns hangs on the last bits, and what is drawn with a seed does not.
    """
    tied = np.abs(values - values[count]) <= blur
    first, space = int(np.argmax(tied)), vectors[:, tied]
    drawn = [random_unit(space.shape[0], space.dtype.name, rng) for _ in range(count - first)]
    chosen = orthonormal(space @ (dagger(space) @ np.stack(drawn, axis=1)))
    return cast(Array, np.concatenate([vectors[:, :first], chosen], axis=1))
