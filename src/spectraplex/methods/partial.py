"""Euclidean projections from a few leading eigenvectors, and the test that makes them exact.

The projection shrinks eigenvalues by a common threshold and cuts them off at zero. If it cuts off the smallest of the
k leading ones, it cuts off all that were not computed as well: the projection from k pairs is then the true one. If
not, more pairs are needed.
"""

from __future__ import annotations

import numpy as np

from ..domains.protocol import Domain, Projecting
from ..eigen.leading import leading
from ..matrices.factors import Factors, Rectangular, Symmetric
from ..matrices.lifted import Lifted
from ..matrices.operators import Operator
from ..places.here import HERE
from ..places.numpy import Array
from ..places.protocol import Block, Place, on_device

_FIRST = 12  # pairs that are looked at first
_WIDE = 32  # the same at a place where as many products cost little more than one: no rough look before them


def project_leading(
    domain: Projecting,
    operator: Operator,
    start: Block,
    step: float,
    most: int,
    accuracy: float,
    rng: np.random.Generator,
    place: Place = HERE,
) -> tuple[Factors | None, float]:
    """The projection of an operator in the user's space and the products it took; None if it has rank above ``most``.

    ``step`` is the length of the gradient step it belongs to, which a penalty charges for.

    ``start`` holds vectors upstairs (of length d, or m + n) to begin with; ``accuracy`` is that of the eigenvalues,
    relative to the largest.
    """
    m, n = operator.shape
    if domain.hermitian:
        lifted = Lifted(operator, slice(0, m), slice(0, m), m, 1.0, place)
    else:  # [[0, A], [Aᴴ, 0]], whose eigenvalues are the singular values
        lifted = Lifted(operator, slice(0, m), slice(m, m + n), m + n, 2.0, place)

    def wanted(values: Array) -> Array:
        """Pairs with weight to full accuracy; of the others it is enough to know that they stay below the threshold."""
        weights = domain.shrink(values, step)
        weighty = weights > 0
        full = accuracy * np.abs(values).max()
        threshold = float(values[weighty][-1] - weights[weighty][-1]) if weighty.any() else domain.lam * step
        each: Array = np.where(weighty, full, np.maximum(full, 0.5 * (threshold - values)))
        return each

    wide = on_device(place)
    count = max(min(_WIDE, most) if wide else _FIRST, place.width(start) + 3)
    if count <= most and not wide:  # a rough look first: does it pay at all?
        rough = leading(
            lifted, count, accuracy=lambda top: 0.03 * abs(top), start=start, rng=rng, max_products=4.0 * count
        )
        start = rough.vectors
        if _rank_ahead(rough.values, domain.shrink(rough.values, step)) > most:
            return None, lifted.products
    while count <= most:
        found = leading(lifted, count, start=start, rng=rng, max_products=20.0 * count + 200.0, each=wanted)
        if found.values.size < count or not found.converged:
            break
        weights = domain.shrink(found.values, step)
        if weights[-1] == 0.0:
            kept = weights > 0
            return _factors(place, domain, place.columns(found.vectors, kept), weights[kept]), lifted.products
        ahead = _rank_ahead(found.values, weights)
        if wide and ahead > most:
            break
        start, count = found.vectors, max(2 * count, min(int(1.2 * ahead), most))
    return None, lifted.products


def _rank_ahead(values: Array, weights: Array) -> float:
    """How many eigenvalues will have weight if they go on falling as they do: a guess, from those at hand."""
    if weights[-1] == 0.0:
        return float(np.count_nonzero(weights))
    total, threshold = float(weights.sum()), float(values[-1] - weights[-1])
    fall = max(float(values[0] - values[-1]) / max(values.size - 1, 1), np.finfo(float).tiny)
    # n values falling by ``fall`` each lie n(n − 1)/2·fall above the last of them in all; that is what can be given out
    most = values.size + (values[-1] - threshold) / fall * values.size
    return float(max(values.size, min(np.sqrt(2 * total / fall), most)))


def _factors(place: Place, domain: Domain, vectors: Block, weights: Array) -> Factors:
    if domain.hermitian:
        return Symmetric(vectors, weights, place)
    m, n = domain.shape
    U, V = place.rows(vectors, slice(0, m)), place.rows(vectors, slice(m, m + n))
    return Rectangular(place.unit(U), weights, place.unit(V), place)
