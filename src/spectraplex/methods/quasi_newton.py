"""Limited-memory BFGS on a deck: small inner products here, tall pairs where the place keeps them.

The recursion runs on inner products kept from earlier passes (Chen, Wang & Zhou, "Large-scale L-BFGS using MapReduce",
2014), with a diagonal initial inverse Hessian: a step takes three passes over the pairs, and each pass is one verb of
the deck (places/protocol.py). Written by hand because no library has it in that form.
"""

from __future__ import annotations

import numpy as np

from ..places.numpy import Array
from ..places.protocol import Block, Deck


class LimitedMemory:
    """The last pairs (s, t) of steps and gradient changes, and directions from them.

    Parameters
    ----------
    deck : holds the point, the gradient, the pairs and the diagonal of the initial inverse Hessian, up to a factor that
        the last pair decides.
    history : pairs kept.
    """

    def __init__(self, deck: Deck, history: int) -> None:
        self.deck, self.history, self.factor = deck, history, 1.0
        self.slots: list[int] = []  # oldest first
        self.ST: Array = np.zeros((deck.slots, deck.slots))  # ⟨Sᵢ, Tⱼ⟩ for j not older than i
        self.SG: Array = np.zeros(deck.slots)  # ⟨Sᵢ, g⟩

    def forget(self) -> None:
        self.slots, self.factor = [], 1.0

    def direction(self) -> tuple[float, float, float]:
        """d ≈ −H⁻¹g, and Y + d ahead; returns ⟨d, g⟩, ‖d‖² and ‖Y + d‖²."""
        slots, ST = self.slots, self.ST
        count = len(slots)
        a, c = np.zeros(count), np.zeros(count)
        for i in reversed(range(count)):
            known = sum(a[j] * ST[slots[i], slots[j]] for j in range(i + 1, count))
            a[i] = (self.SG[slots[i]] - known) / ST[slots[i], slots[i]]
        dots = self.factor * self.deck.back(slots, a)
        for i in range(count):
            known = sum(c[j] * ST[slots[j], slots[i]] for j in range(i))
            c[i] = a[i] - (dots[i] + known) / ST[slots[i], slots[i]]
        return self.deck.forth(slots, c, self.factor, self._free)

    def shorten(self, share: float) -> float:
        """The direction becomes a share of itself; returns ‖Y + d‖²."""
        return self.deck.shorten(self._free, share)

    def turn(self, product: Block, lean: float, factor: float, length: float) -> None:
        """The step d (of ``length``) was taken: g becomes factor·(product − lean·(Y + d)), and the pair is kept.

        A pair without positive curvature is left out.
        """
        slot = self._free
        self.slots = [each for each in self.slots if each != slot]
        at = np.array(self.slots, dtype=np.int64)
        dots = self.deck.turn(self.slots, slot, product, lean, factor)
        along, bend, scaled, norm = dots[at.size :]
        change = dots[: at.size] - self.SG[at]
        self.SG[at] = dots[: at.size]
        if not bend > 1e-10 * length * np.sqrt(norm):
            return
        self.ST[at, slot] = change
        self.ST[slot, slot], self.SG[slot], self.factor = bend, along, bend / scaled
        self.slots = [*self.slots, slot][-self.history :]

    @property
    def _free(self) -> int:
        """Where the direction under trial lies: an empty slot, or else that of the oldest pair, which goes next."""
        empty = [slot for slot in range(self.deck.slots) if slot not in self.slots]
        return empty[0] if empty else self.slots[0]
