"""The pairs of a quasi-Newton method on a cluster: one round a step, on inner products.

Every direction is a combination of the pairs S, of D·T, of D·g (D is the scaling), so its inner products with anything
follow from those of these few blocks. ``turn`` asks for all of them at once; ``back``, ``forth`` and ``shorten`` ask
nothing. Pairs are kept in single precision, every sum is in double.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from .numpy import Array
from .shards import products_of

if TYPE_CHECKING:
    from .dask import ClusterPlace


class ClusterDeck:
    """See ``Deck``."""

    def __init__(self, place: ClusterPlace, Y: Any, gradient: Any, scaling: Any, history: int) -> None:
        self.place, self.here, self.g = place, Y, gradient
        self.ahead: Any = None
        self.S: list[Any] = [None] * (history + 1)
        self.T: list[Any] = [None] * (history + 1)
        self.rescale(scaling)

    def rescale(self, scaling: Any) -> None:
        self.scaling = self.place.cast(scaling, np.float32)
        self._known: tuple[list[int], Array, Array] | None = None  # for which slots, and the inner products

    def back(self, slots: list[int], a: Array) -> Array:
        """r = D(g − Σ aᵢTᵢ) as coefficients; ⟨Tᵢ, r⟩."""
        self._a = np.asarray(a, dtype=float)
        _, outer = self._products(slots)
        h = len(slots)
        # rows are S, D·T, D·g, Y; columns are g, T: ⟨Tᵢ, D·g⟩ and ⟨Tᵢ, D·Tⱼ⟩
        return np.asarray(outer[2 * h, 1:] - outer[h : 2 * h, 1:].T @ self._a)

    def forth(self, slots: list[int], c: Array, factor: float, free: int) -> tuple[float, float, float]:
        place, h = self.place, len(slots)
        inner, outer = self._products(slots)
        mix = np.concatenate([-np.asarray(c, dtype=float), factor * self._a, [-factor]])
        fall = float(mix @ outer[: 2 * h + 1, 0])
        self._along, self._length = float(mix @ inner[: 2 * h + 1, -1]), float(mix @ inner[:-1, :-1] @ mix)
        self._square = float(inner[-1, -1])
        blocks = (*(self.S[slot] for slot in slots), *(self.T[slot] for slot in slots))
        self.S[free] = place.verb("mixed", self.g, self.scaling, mix, h, *blocks)
        self.ahead = place.verb("added", self.here, self.S[free])
        return fall, self._length, self._beyond()

    def shorten(self, free: int, share: float) -> float:
        self.S[free] = self.place.verb("scale", self.S[free], np.float32(share))
        self.ahead = self.place.verb("added", self.here, self.S[free])
        self._along, self._length = share * self._along, share * share * self._length
        return self._beyond()

    def _beyond(self) -> float:
        """‖Y + d‖²."""
        return self._square + 2.0 * self._along + self._length

    def turn(self, slots: list[int], free: int, product: Any, lean: float, factor: float) -> Array:
        place, h = self.place, len(slots) + 1
        new = place.verb("turned", product, self.ahead, lean, factor)
        self.T[free] = place.verb("change", new, self.g)
        self.g, self.here = place.cast(new, place.kind(self.here)), self.ahead
        self._known = None
        _, outer = self._products([*slots, free])
        gained, bend, weighed = outer[:h, 0], outer[h - 1, h], outer[2 * h - 1, h]
        return np.concatenate([gained[:-1], [gained[-1], bend, weighed, self._change]])

    def _products(self, slots: list[int]) -> tuple[Array, Array]:
        """Inner products of S, D·T, D·g and Y with each other, and with g and T: asked for once, then picked out."""
        if self._known is None or any(slot not in self._known[0] for slot in slots):
            self._known = self._asked(slots)
        held, inner, outer = self._known
        at = [held.index(slot) for slot in slots]
        rows = [*at, *(len(held) + i for i in at), 2 * len(held), 2 * len(held) + 1]
        return inner[np.ix_(rows, rows)], outer[np.ix_(rows, [0, *(1 + i for i in at)])]

    def _asked(self, slots: list[int]) -> tuple[list[int], Array, Array]:
        blocks = [self.g, self.scaling, self.here, *(self.S[i] for i in slots), *(self.T[i] for i in slots)]
        answers = self.place.ask(("products_of", len(slots), *(block.left for block in blocks)))[0]
        whole = reduce(add, [*answers, products_of(None, len(slots), *(block.right for block in blocks))])
        count = 2 * len(slots) + 2
        self._change = float(whole[-1, 0])  # ‖t‖² of the newest pair
        return list(slots), whole[:count, :count], whole[:count, count:]
