"""Leading eigenvectors of a small matrix that is at hand, by LAPACK: quicker there than any search from Python.

A whole decomposition is counted as forming the matrix is: d products, or the shorter side where there are two. That is
about its work (4/3·d³ operations of LAPACK beside 2d² for a product), and what a proven bound is counted as.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..matrices.lifted import Hermitian, Lifted
from ..places.numpy import EPS, Array, dagger, orthonormal, random_unit, size_one

LIMIT = 200  # up to this dimension a decomposition takes less time than the products and the Python of a search:
COMPLEX_LIMIT = 150  # a step of cg took 1.5 ms with it and 2.6 ms without at d = 200, 2.2 and 4.1 at a complex d = 150
_FEW = 5  # above a fifth of all eigenvectors divide and conquer is quicker than one after the other
_HALF = 0.5**0.5

#: Eigenvalues, largest first, eigenvectors, and a bound on what rounding does to the eigenvalues.
Decomposed = tuple[Array, Array, float]


def at_hand(operator: Hermitian, careful: bool = False) -> bool:
    """Whether the operator is small, and says itself what its matrix is; a careful search is long, so never shorter."""
    d = operator.shape[0]
    if d > LIMIT or (d > COMPLEX_LIMIT and not careful and np.dtype(operator.dtype).kind == "c"):
        return False
    return operator.at_hand


def decomposed(operator: Hermitian, count: int, rng: np.random.Generator) -> Decomposed | None:
    """The ``count`` largest eigenvalues and their eigenvectors; None where the matrix is not finite."""
    count = min(count, operator.shape[0])
    if isinstance(operator, Lifted) and operator.bipartite and count <= min(operator.inside.shape):
        two, matrix = True, operator.block()
    else:
        two, matrix = False, operator.dense()
    scale = float(np.abs(matrix).max())
    if not scale < np.inf:
        return None
    unit = size_one(scale) if scale > 0.0 else 1.0  # LAPACK does not converge far from size one
    blur = 16 * operator.shape[0] * EPS * unit * scale
    values, vectors = (_two_sided if two else _one_sided)(unit * matrix, count, blur)
    if values.size > count and values[count - 1] - values[count] <= blur:
        vectors = _untied(values, vectors, count, blur, rng)
    return values[:count] / unit, np.ascontiguousarray(vectors[:, :count]), blur / unit


def _one_sided(A: Array, count: int, blur: float) -> tuple[Array, Array]:
    """At least ``count`` eigenpairs of a Hermitian A, one more if there is one, and all of them if that one is tied."""
    d, more = A.shape[0], count + 1
    if _FEW * more <= d:
        values, vectors, found, _, info = _lapack(A.dtype.kind)(A, range="I", il=d - count, iu=d)
        if info == 0 and found == more and values[1] - values[0] > blur:
            return values[count::-1], vectors[:, ::-1]
    values, vectors = np.linalg.eigh(A)
    return values[::-1], vectors[:, ::-1]


@cache
def _lapack(kind: str) -> Any:
    """LAPACK's driver for some eigenvectors of a Hermitian matrix; imported when a first one is asked for."""
    from scipy.linalg import lapack

    return lapack.zheevr if kind == "c" else lapack.dsyevr


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
    return np.concatenate([vectors[:, :first], chosen], axis=1)
