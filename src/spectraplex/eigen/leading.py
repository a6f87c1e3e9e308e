"""Leading eigenvectors to an asked accuracy: block Lanczos with warm starts, for any Hermitian operator.

Written by hand because ARPACK and LOBPCG give a *relative residual* where the theory asks for an *additive* error ξ
in the Rayleigh quotient (EV_ξ of the paper), take no low-rank shift for free, do not see that a nuclear-norm
gradient has two sides (half a product each), count no products, and know no array library but NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..matrices.lifted import Shifted
from ..places.numpy import EPS, Array
from .bounds import Accuracy, Bound, upper_bound
from .krylov import Space

__all__ = ["Accuracy", "Bound", "Ritz", "leading", "upper_bound"]

_CHAIN = 4  # least number of operator applications between two Rayleigh-Ritz extractions
_SMALL = 200  # up to this dimension the basis may become the whole space, which ends any doubt


@dataclass(frozen=True)
class Ritz:
    """Approximate leading eigenpairs, best first. ``errors`` estimates λ_i − value_i (it steers, it proves nothing)."""

    values: Array
    vectors: Array
    errors: Array
    products: float
    converged: bool
    exact: bool  # the basis was the whole space (or an invariant one holding it): nothing was left to find

    @property
    def value(self) -> float:
        return float(self.values[0])

    @property
    def vector(self) -> Array:
        return self.vectors[:, 0]


def leading(
    operator: Any,
    count: int = 1,
    *,
    accuracy: Accuracy = 0.0,
    start: Array | None = None,
    rng: np.random.Generator | None = None,
    max_products: float = 1000.0,
    basis_size: int | None = None,
    careful: bool = False,
    also: int = 0,
    each: Callable[[Array], Array] | None = None,
) -> Ritz:
    """Unit vectors v with vᴴAv ≥ λ_max(A) − ξ (and likewise for the next ``count`` − 1 eigenvalues).

    Parameters
    ----------
    operator : Hermitian operator with ``shape``, ``dtype`` and ``matmat``; ``Shifted`` and ``Lifted`` are known.
    count : how many eigenpairs; blocks larger than a tie of leading eigenvalues do not stall on it.
    accuracy : ξ, additive; or a function of the current leading Ritz value giving ξ. Zero asks for rounding level.
    start : warm start, one vector or a block; a little fresh randomness is always mixed in.
    max_products : give back the best found after this many products (``converged`` is then False).
    basis_size : most basis vectors (per side) before a restart; by default enough for ``count``.
    careful : leave nothing to the start. Up to dimension 200 the basis then becomes the whole space; beyond, it looks
        twice more from fresh random directions, so that the leading eigenvector has to be missed three times.
    also : that many further Ritz pairs as they happen to be, from a basis half as large again.
    each : a function of all ``count`` Ritz values giving an accuracy for each; takes the place of ``accuracy``.
    """
    rng = np.random.default_rng() if rng is None else rng
    inside, shifts = operator, []
    while isinstance(inside, Shifted):
        shifts.append(inside)
        inside = inside.inside
    shift = None
    if shifts:
        X = np.concatenate([each.X for each in shifts], axis=1)
        shift = (X, np.concatenate([each.strength for each in shifts]))
    space = Space(inside, np.dtype(operator.dtype), shift)
    width = max(basis_size or 0, 4 * count + 40, 2 * (count + also)) * len(space.sides)
    if space.dimension <= _SMALL:
        width = space.dimension + count * space.dimension  # never restart: the whole space ends any doubt
    space.seed(start, count, rng)
    before = np.full(count, -np.inf)
    looks = 2 if careful else 0
    least = min(int(1.5 * (count + also)) if also else 0, min(space.lengths)) * len(space.sides)
    while True:
        found = space.extract(count)
        values = found.values
        if each is not None:
            asked = each(values)
        else:
            asked = np.full(values.size, accuracy(float(values[0])) if callable(accuracy) else accuracy)
        wanted = np.maximum(asked, 4 * EPS * space.norm * np.sqrt(space.dimension))
        # A small residual alone may belong to a lower eigenvalue: the last extension must have found nothing more,
        # and where doubt is due the next Ritz value, with all its residual added, must not reach above.
        complete = values.size == min(count, space.dimension) and space.size >= least
        done = complete and bool(np.all(found.errors <= wanted) and np.all(values - before[: values.size] <= wanted))
        if done and (careful or found.quiet):
            done = found.next_value + found.next_norm <= values[-1] + wanted[-1]
            done = done and not (careful and space.dimension <= _SMALL)
        if not (done or space.full or space.products >= max_products):
            loose, length = count, max(_CHAIN, space.size // 6)
            if each is not None:  # wide blocks go deep soon enough; only what is not settled yet is extended
                loose = max(1, int(np.count_nonzero(found.errors > wanted)))
                length = max(2, space.size // (6 * loose))
            if space.size + length * loose > width:
                space.restart(max(count + 4, width // 3))
                found = space.extract(count)
            before[: values.size] = found.values
            if space.chain(found, found.errors <= wanted, length, rng):
                continue
        elif done and looks and not space.full:
            looks, before[: values.size] = looks - 1, values
            if space.look(2 * _CHAIN, rng):
                continue
        if also:
            found = space.extract(count + also)
        vectors = space.assemble(found.parts)
        return Ritz(found.values, vectors, found.errors, space.products, done or space.full, space.full)
