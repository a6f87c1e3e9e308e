"""The pairs of a quasi-Newton method on a cluster: a step is one round, that of the evaluation.

Every direction is a combination of the pairs S, of D·T, of D·g (D is the scaling), so its inner products with anything
follow from those of these few blocks; ``back``, ``forth`` and ``shorten`` ask nothing. The next gradient is
factor·(product − lean·ahead), and both numbers are sums over all shards that the round of the evaluation brings. So
that round asks for inner products of what is there, with lean and factor of the step before as a guess, and ``turn``
works out those of the gradient as it is. Only the first step of a descent, and one after the scaling has changed, ask
in a round of their own.
"""

from __future__ import annotations

from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from .numpy import Array
from .rounds import JUST_PRODUCTS, Left, Pair, Rides
from .shard_deck import products_of, raw_products, turned

if TYPE_CHECKING:
    from .dask import ClusterPlace

Known = tuple[list[int], Array, Array]  # slots, and the inner products of their pairs


class ClusterDeck:
    """See ``Deck``. Blocks are ``Pair``: the left side on the shards, the right side here."""

    def __init__(self, place: ClusterPlace, Y: Any, gradient: Any, scaling: Any, history: int) -> None:
        self.place, self.here, self.g = place, Y, gradient
        self.ahead: Any = None
        self.slots = history + 1  # one more: all pairs are asked about while the next direction is there
        self.S: list[Any] = [None] * self.slots
        self.T: list[Any] = [None] * self.slots
        self._guess: tuple[float, float] | None = None  # lean and factor of the last step
        self.rescale(scaling)

    def rescale(self, scaling: Any) -> None:
        self.scaling = self.place.cast(scaling, np.float32)
        self._known: Known | None = None

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
        self.S[free] = self.T[free] = None  # of a pair that is forgotten
        self.S[free] = place.verb("mixed", self.g, self.scaling, mix, h, *blocks)
        self._go(slots, free)
        return fall, self._length, self._beyond()

    def shorten(self, free: int, share: float) -> float:
        self.S[free] = self.place.verb("scale", self.S[free], np.float32(share))
        self._go(self._slots, free)
        self._along, self._length = share * self._along, share * share * self._length
        return self._beyond()

    def _go(self, slots: list[int], free: int) -> None:
        """Y + d; whoever evaluates there brings the inner products along."""
        self._slots, self.ahead = slots, self.place.verb("added", self.here, self.S[free])
        if self._guess is not None:
            self.ahead.left.extra["rides"] = Rides("raw", partial(self._question, self._raw_arguments(slots, free)))
        else:
            self.ahead.left.extra["rides"] = JUST_PRODUCTS

    def _raw_arguments(self, slots: list[int], free: int) -> list[Any]:
        """What ``raw_products`` is about, but for the product."""
        pairs = (*(self.S[i] for i in slots), self.S[free], *(self.T[i] for i in slots))
        return [*(self._guess or ()), self.g, self.scaling, self.ahead, *pairs]

    @staticmethod
    def _question(arguments: list[Any], product: Left) -> tuple[Any, ...]:
        return ("raw_products", product, *(each.left if isinstance(each, Pair) else each for each in arguments))

    def _beyond(self) -> float:
        """‖Y + d‖²."""
        return self._square + 2.0 * self._along + self._length

    def turn(self, slots: list[int], free: int, product: Any, lean: float, factor: float) -> Array:
        place, h = self.place, len(slots) + 1
        told = product.left.extra.get("raw")
        moved = None if told is None else self._moved(slots, free, product, reduce(add, told), lean, factor)
        both = place.make("turned", product.left, self.ahead.left, lean, factor, self.g.left)
        width, kind, pair = place.width(self.g), self.g.right.dtype, self.S[free].right.dtype
        new, change = turned(None, product.right, self.ahead.right, lean, factor, self.g.right)
        self.g = Pair(place.left("first_of", both, width=width, dtype=kind), new)
        self.T[free] = Pair(place.left("second_of", both, width=width, dtype=pair), change)
        self.here, self._guess, self._known = self.ahead, (lean, factor), moved
        _, outer = self._products([*slots, free])
        gained, bend, weighed = outer[:h, 0], outer[h - 1, h], outer[2 * h - 1, h]
        return np.concatenate([gained[:-1], [gained[-1], bend, weighed, self._change]])

    # ------------------------------------------------------------------------------------------------ inner products

    def _products(self, slots: list[int]) -> tuple[Array, Array]:
        """Inner products of S, D·T, D·g and Y with each other, and with g and T: asked for once, then picked out."""
        if self._known is None or any(slot not in self._known[0] for slot in slots):
            self._known = self._asked(slots)
        held, inner, outer = self._known
        at = [held.index(slot) for slot in slots]
        rows = [*at, *(len(held) + i for i in at), 2 * len(held), 2 * len(held) + 1]
        return inner[np.ix_(rows, rows)], outer[np.ix_(rows, [0, *(1 + i for i in at)])]

    def _asked(self, slots: list[int]) -> Known:
        blocks = [self.g, self.scaling, self.here, *(self.S[i] for i in slots), *(self.T[i] for i in slots)]
        answers = self.place.ask(("products_of", len(slots), *(block.left for block in blocks)))[0]
        whole = reduce(add, [*answers, products_of(None, len(slots), *(block.right for block in blocks))])
        count = 2 * len(slots) + 2
        self._change = float(whole[-1, 0])  # ‖t‖² of the newest pair
        return list(slots), whole[:count, :count], whole[:count, count:]

    def _moved(self, slots: list[int], free: int, product: Pair, told: Array, lean: float, factor: float) -> Known:
        """All of them after a step, from those before and ``raw_products``.

        The new gradient is αN − β·ahead with α near one and β small, its change t is that less g.
        """
        inner, outer = self._products(slots)
        here = (each.right if isinstance(each, Pair) else each for each in self._raw_arguments(slots, free))
        raw = told + raw_products(None, product.right, *here)
        assert self._guess is not None
        way = np.array([factor / self._guess[1], -factor * (lean - self._guess[0])])
        p, h = len(slots), len(slots) + 1
        S, T, g, ahead = slice(0, h), slice(h, h + p), raw[h + p], raw[h + p + 2]
        # with the new gradient, by the power of D between them: of S and d, of T, of itself, of g, of ahead
        of_S, of_T = ([raw[rows, k : k + 2] @ way for k in (0, 2, 4)] for rows in (S, T))
        of_new, of_g, of_Y = ([float(row[k : k + 2] @ way) for k in (0, 2, 4)] for row in (way @ raw[-2:], g, ahead))
        of_t = [new - old for new, old in zip(of_new, of_g, strict=True)]
        change = [new - 2.0 * both + old for new, both, old in zip(of_new, of_g, g[8:], strict=True)]  # t with itself
        t_S = [of_S[0] - np.append(outer[:p, 0], g[6]), of_S[1] - np.append(inner[:p, 2 * p], g[7])]
        t_T = [None, of_T[1] - outer[p : 2 * p, 0], of_T[2] - inner[p : 2 * p, 2 * p]]
        new, cross = np.zeros((2 * h + 2, 2 * h + 2)), np.zeros((2 * h + 2, 1 + h))
        before, t = [*range(p), *range(h, h + p)], h + p
        new[np.ix_(before, before)] = inner[: 2 * p, : 2 * p]  # S, D·T, D·g, Y with each other
        new[S, p], new[p, h:t] = raw[S, 6], raw[T, 7]
        new[S, t], new[h:t, t], new[t, t] = t_S[1], t_T[2], change[2]
        new[S, -2], new[h:t, -2], new[t, -2], new[-2, -2] = of_S[1], of_T[2], of_t[2], of_new[2]
        new[S, -1], new[h:t, -1], new[t, -1] = raw[S, 1], raw[T, 3], of_Y[1] - g[3]
        new[-2, -1], new[-1, -1] = of_Y[1], ahead[1]
        new = np.triu(new) + np.triu(new, 1).T
        cross[np.ix_(before, range(1, h))] = outer[: 2 * p, 1:]  # with g, T
        cross[p, 1:h], cross[t, 1:h], cross[-2, 1:h], cross[-1, 1:h] = raw[T, 6], t_T[1], of_T[1], raw[T, 1]
        cross[S, 0], cross[h:t, 0], cross[t, 0], cross[-2, 0], cross[-1, 0] = (
            *(of_S[0], of_T[1], of_t[1], of_new[1], of_Y[0]),
        )
        cross[S, h], cross[h:t, h], cross[t, h], cross[-2, h], cross[-1, h] = (
            *(t_S[0], t_T[1], change[1], of_t[1], of_Y[0] - g[1]),
        )
        self._change = change[0]
        return [*slots, free], new, cross
